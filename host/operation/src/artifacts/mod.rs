//! Artifacts: plugin archives stored by a network's owner and installed on servers.
//!
//! Invariants: the bytes of a name and version never change; a link names one artifact of one network, is signed with
//! a secret that never leaves the hub, and expires. Anyone who has the link can download that artifact and nothing
//! else.
//! Table: `artifacts`; the bytes are in `crate::blobs`.

mod link;
mod model;
mod routes;
mod service;
mod store;

pub use routes::{public, router};
