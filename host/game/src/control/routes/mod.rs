//! Routes of control.

mod agent;
mod command;
mod logs;
mod power;

use crate::endpoints::Endpoints;

/// The routes of control.
pub(super) fn router() -> Endpoints {
    agent::router().merge(command::router()).merge(logs::router()).merge(power::router())
}
