//! `/api/plugin/deliveries` and `/api/manage/deliveries`.

mod claims;
mod create;
mod manage;

use crate::endpoints::Endpoints;

/// Routes of this component.
pub(super) fn router() -> Endpoints {
    create::router().merge(claims::router()).merge(manage::router())
}
