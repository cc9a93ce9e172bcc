//! Punishments: bans, mutes, warnings, kicks.

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
}

/// Starts the room's background work.
pub(crate) fn start(_app: &App) {}
