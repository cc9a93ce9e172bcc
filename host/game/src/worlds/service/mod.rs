//! Rules of worlds on demand.

mod boot;
mod callbacks;
mod drain;
mod error;
mod forget;
mod location;
mod open;
mod snapshots;

use hub_db::Tx;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::events::{self, EventKind};
use crate::values::{Identifier, NetworkId};
use crate::worlds::model::LeaseState;
use crate::worlds::store;

pub(super) use boot::{WorldOpen, boot_waiting};
pub(super) use callbacks::{SavedSnapshot, WorldReady, heartbeat, ready, release_all, unloaded};
pub(super) use drain::{WorldOrder, ask_snapshot, drain_idle, release};
pub(super) use error::WorldsError;
pub use forget::forget_world;
pub(crate) use location::{find_live, is_live_on};
pub(super) use open::{Opened, open};
pub(super) use snapshots::{mint, read, receive};

/// Expiry of a lease that is renewed now.
fn expiry(app: &App, now: Millis) -> Millis {
    now.saturating_add(millis(app.settings.lease()))
}

/// New state of a world's lease.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WorldStateChange {
    /// Number of the lease, as text.
    #[schema(example = "17")]
    world_instance_id: String,
    state: LeaseState,
}

/// Publishes a lease's new state to streams.
async fn publish_state(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    id: i64,
    state: LeaseState,
) -> Result<(), hub_db::Error> {
    let change = WorldStateChange { world_instance_id: id.to_string(), state };
    publish(app, tx, network, EventKind::WorldState, None, change).await
}

/// Marks at most `limit` expired leases of a network as lost. Returns their number.
pub(super) async fn mark_lost(app: &App, network: NetworkId, now: Millis, limit: i64) -> Result<usize, hub_db::Error> {
    app.db
        .transaction(async |mut tx| {
            let lost = store::sweep::mark_lost(&mut tx, network, now, limit).await?;
            for id in &lost {
                publish_state(app, &mut tx, network, *id, LeaseState::Lost).await?;
            }
            Ok(lost.len())
        })
        .await
}

/// Publishes an event for a node, or for the whole network, with its change.
async fn publish(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    kind: EventKind,
    node: Option<&Identifier>,
    payload: impl Serialize,
) -> Result<(), hub_db::Error> {
    events::publish_in(app, tx, network, kind, node.map(Identifier::as_str), payload).await
}
