//! Cluster of several nodes that form one hub.
//!
//! Every network has an owner: the node that serves its requests, so that in-memory state (presence, reservations,
//! agents, modules) is in one place and exact. The other nodes forward its requests to the owner. Event streams and
//! uploads are served at the node of arrival: events reach all nodes over the bus, and an upload needs no memory of
//! the owner.
//!
//! Networks are spread over 256 shards, and owning a shard is a lease in the database. A node owns a shard while it
//! knows that its lease is valid, measured by its machine's uptime from before the request for it; the next owner
//! waits until the lease has expired by the database's clock. So a shard never has two owners, even if nodes are
//! paused, suspended or cut off, provided that both clocks run at the same pace. If one does not (the database's clock
//! is set ahead, a hypervisor silently stops a machine), two nodes may answer from memory for the rest of a lease, but
//! the lease's fence refuses the writes of the first.
//!
//! Nodes call the roll on the bus, so that parts of different hubs are noticed: see [`roll_call`]. They compare their options:
//! see [`shared_options`]. They probe each other, and nodes that are cut off from others own nothing: see [`eligibility`].
//!
//! A shard moves to another node if most of its requests arrive there: see [`arrivals`].
//!
//! When a network moves, its state moves through the database: see [`NetworkState`]. A single node (without `--bus`)
//! owns everything, and none of this runs.
//! Tables: `hub_nodes`, `shard_leases`.

mod arrivals;
mod balance;
mod bus_health;
mod client;
mod database_contact;
mod eligibility;
mod forward;
mod key_handover;
mod lease;
mod locations;
mod named;
mod node_clock;
mod peers;
mod registry;
mod renewal;
mod request_lease;
mod roll_call;
mod secret;
mod shared_options;
mod store;

use hub_bus::{Bus, BusConfig, Cluster, ClusterConfig};
use hub_db::{Backend, Db, Error};

use crate::clock::Millis;
use crate::component::{Component, ErrorCode, TableRule};
use crate::config::Settings;
use crate::identity::Identity;
use crate::ids::Ids;

pub use balance::drain;
pub use forward::layer;
pub use hub_bus::ClusterError;
pub use hub_core::component::NetworkState;
pub use key_handover::hand_out as hand_out_key;
pub(crate) use named::named_network;
pub use node_clock::check_clock;
pub use registry::HeldLease;
pub use registry::ShardRegistry;
pub use request_lease::RequestLease;
pub use store::lock_open;

/// A node that is silent for longer has lost its networks, and drops what it has of them in memory when it goes on.
const LIVE_WITHIN: Millis = 10_000;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "forwards requests to their network's owner ([many nodes](../operate/many-nodes.md))",
    tables: &[
        TableRule::hub("hub_nodes").not_backed_up("nodes register themselves"),
        TableRule::hub("shard_leases").not_backed_up("leases of seconds"),
        TableRule::hub("key_requests").not_backed_up("requests of seconds"),
    ],
    errors: &[
        ErrorCode::new("no_home", &[503], "No node of the hub serves the network yet; try again."),
        ErrorCode::new("moved", &[503], "The network moved to another node of the hub; try again."),
        ErrorCode::new(
            "node_lost",
            &[503],
            "The node that served the request failed; the request may or may not have taken effect.",
        ),
    ],
    start: |app| Box::pin(balance::start(app)),
    stop: |app| Box::pin(balance::leave(app)),
    ..Component::new(module_path!())
};

/// Nodes that sent a heartbeat within a day, each with the milliseconds since; none on SQLite.
pub async fn silent_nodes(db: &Db) -> Result<Vec<(String, Millis)>, Error> {
    const DAY: Millis = 24 * 60 * 60 * 1000;
    if db.backend() == Backend::Sqlite {
        return Ok(vec![]);
    }
    Ok(store::nodes(db, DAY).await?.into_iter().map(|node| (node.url, node.silent)).collect())
}

/// True if no live node of a cluster has players in memory whose erasure began at `at`.
pub async fn have_all_forgotten(db: &Db, at: Millis) -> Result<bool, Error> {
    if db.backend() == Backend::Sqlite {
        return Ok(true);
    }
    Ok(store::count_remembering(db, at, LIVE_WITHIN).await? == 0)
}

/// Prefix of a hub's names on the bus, within `hub.>`, to which users of NATS may be limited.
pub fn prefix(cluster: &str) -> String {
    format!("hub.{cluster}")
}

/// Connects to the bus, and to the cluster if configured.
pub async fn open(settings: &Settings, ids: &Ids, identity: &Identity) -> anyhow::Result<(Bus, ShardRegistry)> {
    let config = BusConfig::new(ids.seed());
    let Some(url) = &settings.bus else { return Ok((Bus::new(config), ShardRegistry::alone(identity.sole.clone()))) };
    anyhow::ensure!(settings.database.is_some(), "a cluster (--bus) needs a shared PostgreSQL (--database)");
    let config_of_bus = ClusterConfig {
        ca: settings.bus_ca.clone(),
        credentials: settings.bus_credentials.clone(),
        prefix: prefix(&identity.cluster),
        ..ClusterConfig::new(url, &ids.token(10))
    };
    let cluster = Cluster::connect(config_of_bus).await?;
    let bus = Bus::clustered(config, cluster.clone()).await?;
    Ok((bus, ShardRegistry::clustered(cluster, &settings.node_url()?)))
}
