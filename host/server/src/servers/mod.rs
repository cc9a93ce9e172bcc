//! Game servers: the registry and who is alive on it.

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
}

/// Who is online, in memory.
#[derive(Debug, Default)]
pub struct Presence {}

/// Brings back the presence that the last run knew and starts the room's background work.
pub(crate) async fn start(_app: &App) -> anyhow::Result<()> {
    Ok(())
}

/// Saves what is only in memory.
pub(crate) async fn stop(_app: &App) {}
