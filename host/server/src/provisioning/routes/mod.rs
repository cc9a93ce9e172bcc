//! The room's routes.

mod auth_code;
mod bundles;
mod servers;

use crate::endpoints::Endpoints;

/// The room's routes.
pub(super) fn router() -> Endpoints {
    auth_code::router().merge(bundles::router()).merge(servers::router())
}
