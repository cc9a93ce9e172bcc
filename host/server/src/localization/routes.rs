//! `/api/plugin/localization` and `/api/manage/localization`.

mod catalog;
mod manage;
mod players;

use crate::endpoints::Endpoints;

/// The room's routes.
pub(crate) fn router() -> Endpoints {
    catalog::router().merge(players::router()).merge(manage::router())
}
