//! `/api/plugin/permissions`.

mod effective;
mod groups;
mod players;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    groups::router().merge(players::router()).merge(effective::router())
}
