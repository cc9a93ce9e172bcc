//! Provisioning: software for machines that run game servers, and device codes for their sign-in.
//!
//! Invariants: the served agent script is the one with the served hash; a bundle is replaced as a whole, and downloads
//! of the previous one complete; a sign-in request of a machine has no effect once its server has registered.
//! Tables: `provisioning_bundles`; the bytes are in `crate::blobs`. Servers that are being provisioned belong to the
//! registry, the component `presence`.

mod agent;
mod bundles;
mod routes;
mod store;

pub use agent::{SignedAgent, signed_agent};

use crate::endpoints::Endpoints;

/// All routes of this component.
pub fn router() -> Endpoints {
    agent::router().merge(routes::router())
}
