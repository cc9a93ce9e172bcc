//! Worlds on demand: opened for an owner on a node, held by a lease, snapshot and unloaded when unused.
//!
//! `docs/connectors/worlds.md` has the diagram of the states and the duties of a node. A lease is one row; each
//! callback is one conditional statement on it that checks lease, fence, node and expiry, so that a returning node
//! cannot change its successor's data.
//!
//! Invariants: a world has at most one lease that is booting or up, and its node is notified only once no earlier lease
//! is draining; fences rise strictly over all leases of a world; a lease whose time ran out is lost, even if that is
//! not recorded yet; the newest snapshot only ever moves to a later fence or, within a lease, a later upload, and only
//! to one that was created for that lease.
//! Tables: `worlds`, `world_leases`, `world_blobs`, `world_counters`.

mod link;
mod model;
mod routes;
pub mod service;
mod store;
mod upkeep;

use crate::events::{EventKind, EventSchema};

pub use routes::{public_router, router};
pub use upkeep::maintain_leases;
pub use upkeep::start;

/// Events of this component, for the document.
pub fn events() -> Vec<EventSchema> {
    vec![
        EventSchema::of::<service::WorldOpen<'static>>(EventKind::WorldOpen),
        EventSchema::of::<service::WorldReady>(EventKind::WorldReady),
        EventSchema::of::<service::WorldOrder<'static>>(EventKind::WorldSnapshot),
        EventSchema::of::<service::WorldOrder<'static>>(EventKind::WorldUnload),
        EventSchema::of::<service::WorldStateChange>(EventKind::WorldState),
    ]
}
