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

use crate::component::column::{any_text, json, read, text};
use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;
use crate::values::Identifier;
use crate::worlds::model::{LeaseState, Persistence, Seed, WorldName};

pub use upkeep::maintain_leases;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "worlds that are opened for an owner on a node, held by a lease",
    tags: &[Tag("Worlds", "Worlds opened on demand, and the nodes that run them.")],
    routes: || routes::router().merge(routes::public_router()),
    events: || {
        vec![
            EventSchema::of::<service::WorldOpen<'static>>(EventKind::WorldOpen),
            EventSchema::of::<service::WorldReady>(EventKind::WorldReady),
            EventSchema::of::<service::WorldOrder<'static>>(EventKind::WorldSnapshot),
            EventSchema::of::<service::WorldOrder<'static>>(EventKind::WorldUnload),
            EventSchema::of::<service::WorldStateChange>(EventKind::WorldState),
        ]
    },
    tables: &[
        TableRule::moved("worlds").columns(&[
            read::<Identifier>("game_id"),
            read::<WorldName>("owner_scope"),
            read::<WorldName>("owner_id"),
            read::<WorldName>("world_key"),
            text::<1_024>("blob_key"),
            read::<Identifier>("blob_node"),
        ]),
        TableRule::moved("world_counters").without_players("a number"),
        TableRule::moved("world_leases").columns(&[
            read::<LeaseState>("state"),
            read::<Identifier>("node_server_id"),
            read::<Identifier>("prefer_node"),
            read::<Persistence>("persistence"),
            any_text("world_gen"),
            json::<Seed>("seed"),
            text::<2_048>("hub_url"),
            text::<1_024>("blob_key"),
        ]),
        TableRule::moved("world_blobs").columns(&[text::<1_024>("blob_key"), text::<1_024>("file")]),
    ],
    errors: &[
        ErrorCode::new("unknown_world", &[404], "No such world lease in the network."),
        ErrorCode::new("lease_ended", &[400], "The lease has ended; another node may have the world."),
        ErrorCode::new("stale_fence", &[400], "The lease has another fence."),
        ErrorCode::new("wrong_node", &[400], "The lease belongs to another node."),
        ErrorCode::new("world_not_ready", &[400], "The world is not up yet."),
        ErrorCode::new("not_persistent", &[400], "The world is EPHEMERAL and has no snapshots."),
        ErrorCode::new("unknown_snapshot", &[400, 404], "No such snapshot, or it belongs to another lease."),
        ErrorCode::new("snapshot_missing", &[400], "The snapshot was not uploaded yet."),
        ErrorCode::new("link_expired", &[410], "The link has expired."),
    ],
    register: |states, _| {
        states.insert(upkeep::Upkeep::default());
        Ok(())
    },
    background: upkeep::start,
    terms: store::sweep::TERMS,
    ..Component::new(module_path!())
};
