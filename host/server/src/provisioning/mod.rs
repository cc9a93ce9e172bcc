//! Provisioning: what machines that run game servers fetch to become what they are, and a way to be let in.
//!
//! Invariants: the agent's script that is served is the one whose hash is served; a bundle is replaced as a whole, and
//! whoever is reading the one before reads it to its end; a machine that asks to be let in changes nothing once its
//! server has registered.
//! Tables: `provisioning_bundles`; the bytes are in `crate::blobs`. The servers that are being made belong to the
//! registry, the component `presence`.

mod agent;
mod bundles;
mod routes;
mod store;

pub use agent::{SignedAgent, signed_agent};

use crate::endpoints::Endpoints;

/// All routes.
pub(crate) fn router() -> Endpoints {
    agent::router().merge(routes::router())
}
