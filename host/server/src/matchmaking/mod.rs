//! Matchmaking: the best server for a player.

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
}
