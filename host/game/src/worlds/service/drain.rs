//! Saving and unloading worlds.

use hub_db::Tx;
use serde::Serialize;
use utoipa::ToSchema;

use super::{publish, publish_state};
use crate::app::App;
use crate::auth::Caller;
use crate::clock::Millis;
use crate::events::EventKind;
use crate::values::NetworkId;
use crate::worlds::model::{Lease, LeaseState, SaveReason};
use crate::worlds::service::error::WorldsError;
use crate::worlds::store;

/// Order to a node to save or unload a world.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WorldSaveOrder)]
pub(crate) struct WorldOrder<'a> {
    /// Number of the lease.
    #[schema(example = 17)]
    world_id: i64,
    /// Fence for the callbacks.
    #[schema(example = 3)]
    fence: i64,
    /// `IDLE`, `RELEASED`, or the reason of the caller of `snapshot`.
    #[schema(example = "IDLE")]
    reason: &'a str,
}

/// Notifies the lease's node.
async fn notify_node(
    app: &App,
    tx: &mut Tx,
    lease: &Lease,
    kind: EventKind,
    reason: &str,
) -> Result<(), hub_db::Error> {
    let payload = WorldOrder { world_id: lease.id, fence: lease.fence, reason };
    publish(app, tx, lease.network_id, kind, lease.node_server_id.as_ref(), payload).await
}

/// Drains a lease that is up and, with `idle_since`, had no players since. Its node is notified: first to save the
/// world, if it is persistent, then to unload it.
async fn drain(
    app: &App,
    network: NetworkId,
    id: i64,
    idle_since: Option<Millis>,
    reason: SaveReason,
) -> Result<Option<Lease>, hub_db::Error> {
    let (now, reason) = (app.clock.now(), reason.to_string());
    app.db
        .transaction(async |mut tx| {
            let drained = store::leases::drain(&mut tx, network, id, idle_since, now).await?;
            if let Some(lease) = &drained {
                if lease.is_persistent() {
                    notify_node(app, &mut tx, lease, EventKind::WorldSnapshot, &reason).await?;
                }
                notify_node(app, &mut tx, lease, EventKind::WorldUnload, &reason).await?;
                publish_state(app, &mut tx, network, id, LeaseState::Draining).await?;
            }
            Ok(drained)
        })
        .await
}

/// A lease that the key may act on: a key bound to servers only on theirs.
async fn find(app: &App, caller: &Caller, id: i64) -> Result<Lease, WorldsError> {
    let lease = store::leases::get(&app.db, caller.network, id).await?.ok_or(WorldsError::Unknown(id))?;
    if caller.acts_on(lease.node_server_id.as_ref()) {
        Ok(lease.at(app.clock.now()))
    } else {
        Err(WorldsError::ForbiddenNode(id))
    }
}

/// Releases an unused world. A world that is not up stays unchanged.
pub(in crate::worlds) async fn release(app: &App, caller: &Caller, id: i64) -> Result<Lease, WorldsError> {
    let lease = find(app, caller, id).await?;
    Ok(drain(app, caller.network, id, None, SaveReason::Released).await?.unwrap_or(lease))
}

/// Unloads a world without players since `idle_since`.
pub(in crate::worlds) async fn drain_idle(
    app: &App,
    network: NetworkId,
    id: i64,
    idle_since: Millis,
) -> Result<(), hub_db::Error> {
    drain(app, network, id, Some(idle_since), SaveReason::Idle).await.map(drop)
}

/// Requests a save point from the node of a world that is up.
pub(in crate::worlds) async fn ask_snapshot(
    app: &App,
    caller: &Caller,
    id: i64,
    reason: String,
) -> Result<Lease, WorldsError> {
    let lease = find(app, caller, id).await?;
    if !lease.is_live() {
        return Err(WorldsError::Ended(id));
    }
    if !lease.is_persistent() {
        return Err(WorldsError::NotPersistent(id));
    }
    match lease.state {
        LeaseState::Loading => return Err(WorldsError::NotReady(id)),
        LeaseState::Ready => {
            let reason = SaveReason::Requested(reason).to_string();
            let (lease, reason) = (&lease, &reason);
            let notify = async |mut tx: Tx| notify_node(app, &mut tx, lease, EventKind::WorldSnapshot, reason).await;
            app.db.transaction(notify).await?;
        }
        // It is already being saved.
        _ => {}
    }
    Ok(lease)
}
