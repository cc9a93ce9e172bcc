//! `/api/manage/modules` and `/api/manage/extension-points`.

mod activation;
mod calls;
mod dead_letters;
mod dry_run;
mod logs;
mod points;
mod replay;
mod report;
mod revisions;
mod schedules;
mod timers;
mod versions;

use crate::endpoints::{Endpoints, endpoints};
use crate::modules::endpoints as of_networks;

/// Routes of this component.
pub(super) fn router() -> Endpoints {
    endpoints![
        versions::upload: any_node,
        versions::list,
        versions::list_versions,
        versions::find,
        versions::download,
        versions::delete,
        activation::get,
        activation::put: retry_on_owner,
        activation::delete: retry_on_owner,
        activation::roll_back: retry_on_owner,
        points::get,
        points::put: retry_on_owner,
        points::roll_back: retry_on_owner,
        points::end_kept,
        revisions::list,
        revisions::find,
        revisions::restore: retry_on_owner,
        dead_letters::list,
        dead_letters::retry: repeatable,
        dead_letters::retry_all: repeatable,
        dead_letters::delete,
        schedules::list,
        schedules::run: repeatable,
        timers::list,
        timers::delete,
        logs::logs,
        dry_run::dry_run: read_only ends_with_caller long,
        replay::replay: read_only ends_with_caller long,
        calls::list,
        calls::find,
    ]
    .merge(of_networks::secrets::routes::router())
    .merge(of_networks::routes::router())
}
