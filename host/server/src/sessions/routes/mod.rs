//! Routes of sessions.

mod lifecycle;
mod list;
mod listed;
mod players;
mod record;

use crate::endpoints::Endpoints;

/// The routes of sessions.
pub(crate) fn router() -> Endpoints {
    lifecycle::router().merge(players::router()).merge(list::router())
}
