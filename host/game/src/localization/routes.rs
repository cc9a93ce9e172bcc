//! `/api/plugin/localization` and `/api/manage/localization`.

mod catalog;
mod manage;

use crate::endpoints::Endpoints;

/// Routes of localization.
pub(super) fn router() -> Endpoints {
    catalog::router().merge(manage::router())
}
