//! `/api/plugin/economy` and `/api/manage/economy`, but for the statistics.

mod books;
mod owners;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    owners::router().merge(books::router())
}
