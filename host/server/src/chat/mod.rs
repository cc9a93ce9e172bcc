//! Chat: lines relayed to every server, through the network's filter.

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
}
