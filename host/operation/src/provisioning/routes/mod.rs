//! All routes of provisioning except the agent's.

mod auth_code;
mod bundles;
mod servers;

use crate::endpoints::Endpoints;

/// Routes of bundles, of device codes and of servers that are being provisioned.
pub(super) fn router() -> Endpoints {
    auth_code::router().merge(bundles::router()).merge(servers::router())
}
