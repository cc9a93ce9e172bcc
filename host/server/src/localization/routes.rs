//! `/api/plugin/localization` and `/api/manage/localization`.

mod catalog;
mod manage;
mod players;

use crate::endpoints::Endpoints;

/// Routes of localization.
pub(crate) fn router() -> Endpoints {
    catalog::router().merge(players::router()).merge(manage::router())
}
