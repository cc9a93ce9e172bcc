//! Several nodes that are one hub.
//!
//! Every network has a home: the node that serves its requests, so that what is in memory (presence, reservations,
//! agents, modules) is in one place and exact. The other nodes pass its requests on to it. Event streams and uploads are
//! served where they come: events reach all nodes over the bus, and an upload needs nothing that is in memory.
//!
//! Networks are spread over [`SHARDS`] shards, and a shard's home is a lease in the database. A node is home for as long
//! as it knows its lease is good, by its own clock from before it asked for it; who takes the shard over waits until the
//! database says the lease has run out. So there is never a moment with two homes, whatever stands still or is cut off.
//!
//! A hub that is alone (no `--bus`) is everybody's home and none of this runs.
//! Tables: `hub_nodes`, `network_homes`.

mod balance;
mod bus_watch;
mod forward;
mod homes;
mod secret;
mod store;
mod table;
mod tie;

use hub_bus::{Bus, BusConfig, Cluster, ClusterConfig};

use crate::config::Settings;
use crate::ids::Ids;

pub(crate) use balance::{hand_over, leave, start};
pub(crate) use forward::layer;
pub use homes::Homes;
pub use tie::Tie;

/// Into how many parts the networks are spread. The same at every node, for ever.
const SHARDS: u16 = 256;

/// The bus, and this node's place among the others where there are any.
pub(crate) async fn open(settings: &Settings, ids: &Ids) -> anyhow::Result<(Bus, Homes)> {
    let config = BusConfig::new(ids.seed());
    let Some(url) = &settings.bus else { return Ok((Bus::new(config), Homes::default())) };
    let cluster = Cluster::connect(ClusterConfig::new(url, &ids.token(10))).await?;
    let bus = Bus::clustered(config, cluster.clone()).await?;
    Ok((bus, Homes::of_node(cluster, &settings.node_url()?)))
}
