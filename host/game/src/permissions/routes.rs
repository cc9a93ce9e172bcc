//! `/api/plugin/permissions`.

mod effective;
mod groups;
mod players;

use crate::endpoints::Endpoints;

/// Routes of this component.
pub(super) fn router() -> Endpoints {
    groups::router().merge(players::router()).merge(effective::router())
}
