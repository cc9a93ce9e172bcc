//! Modules: the network's own WebAssembly at the extension points.

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
}

/// The loaded modules and chains.
#[derive(Debug, Default)]
pub struct Modules {}

/// Loads what is active and starts the room's background work.
pub(crate) async fn start(_app: &App) -> anyhow::Result<()> {
    Ok(())
}
