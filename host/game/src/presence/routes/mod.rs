//! Routes of sessions.

mod heartbeat;
mod list;
mod listed;
mod players;
mod record;
mod register;

use crate::endpoints::Endpoints;

/// Routes of sessions.
pub(super) fn router() -> Endpoints {
    register::router().merge(heartbeat::router()).merge(players::router()).merge(list::router())
}
