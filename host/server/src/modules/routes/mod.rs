//! `/api/manage/modules` and `/api/manage/extension-points`.

mod calls;
mod dry_run;
mod logs;
mod points;
mod replay;
mod report;
mod versions;

use utoipa_axum::router::OpenApiRouter;

use crate::app::App;
use crate::http::endpoints::endpoints;

/// The routes of modules.
pub fn router() -> OpenApiRouter<App> {
    endpoints![
        versions::upload,
        versions::list,
        versions::list_versions,
        versions::find,
        versions::download,
        versions::delete,
        points::get,
        points::put,
        points::roll_back,
        logs::logs,
        dry_run::dry_run,
        replay::replay,
        calls::list,
        calls::find,
    ]
}
