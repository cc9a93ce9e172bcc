//! All routes of provisioning but the agent's.

mod auth_code;
mod bundles;
mod servers;

use crate::endpoints::Endpoints;

/// Those of bundles, of device codes and of servers that are being made.
pub(super) fn router() -> Endpoints {
    auth_code::router().merge(bundles::router()).merge(servers::router())
}
