//! `/api/plugin/collections`.

mod documents;
mod lists;
mod register;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub fn router() -> OpenApiRouter<App> {
    register::router().merge(documents::router()).merge(lists::router())
}
