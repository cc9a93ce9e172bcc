//! The room's routes.

mod auth_code;
mod bundles;
mod servers;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;

/// The room's routes.
pub(super) fn router() -> OpenApiRouter<App> {
    auth_code::router().merge(bundles::router()).merge(servers::router())
}
