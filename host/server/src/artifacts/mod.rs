//! Artifacts: archives of plugins that a network's owner keeps at the hub and has installed on servers.
//!
//! Invariants: a name and version mean the same bytes for ever; a link names one artifact of one network, is signed with
//! a secret that never leaves the hub, and ends by itself. The link is good for whoever has it, and for nothing else.
//! Table: `artifacts`; the bytes are in `crate::blobs`.

mod link;
mod model;
mod routes;
mod service;
mod store;

pub(crate) use routes::{public, router};
