//! `/api/plugin/economy` and `/api/manage/economy`, but for the statistics.

mod books;
mod owners;

use crate::endpoints::Endpoints;

/// The room's routes.
pub(crate) fn router() -> Endpoints {
    owners::router().merge(books::router())
}
