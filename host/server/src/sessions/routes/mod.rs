//! The room's routes.

mod lifecycle;
mod list;
mod listed;
mod players;
mod record;

use crate::endpoints::Endpoints;

/// The room's routes.
pub(crate) fn router() -> Endpoints {
    lifecycle::router().merge(players::router()).merge(list::router())
}
