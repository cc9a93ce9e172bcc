//! The room's routes.

mod agent;
mod command;
mod logs;
mod power;

use crate::endpoints::Endpoints;

/// The room's routes.
pub(crate) fn router() -> Endpoints {
    agent::router().merge(command::router()).merge(logs::router()).merge(power::router())
}
