//! The room's routes.

mod lifecycle;
mod list;
mod listed;
mod players;
mod record;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    lifecycle::router().merge(players::router()).merge(list::router())
}
