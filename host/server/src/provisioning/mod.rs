//! Provisioning: what machines that run game servers fetch to become what they are.
//!
//! Invariants: the agent's script that is served is the one whose hash is served.

mod agent;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    agent::router()
}
