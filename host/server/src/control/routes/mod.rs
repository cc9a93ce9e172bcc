//! The room's routes.

mod agent;
mod command;
mod logs;
mod power;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    agent::router().merge(command::router()).merge(logs::router()).merge(power::router())
}
