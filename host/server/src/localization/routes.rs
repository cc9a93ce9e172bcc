//! `/api/plugin/localization` and `/api/manage/localization`.

mod catalog;
mod manage;
mod players;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    catalog::router().merge(players::router()).merge(manage::router())
}
