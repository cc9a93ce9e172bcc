//! Saving and unloading worlds.

use serde::Serialize;

use super::publish;
use crate::app::App;
use crate::clock::Millis;
use crate::events::EventKind;
use crate::values::NetworkId;
use crate::worlds::model::{Lease, LeaseState, SaveReason};
use crate::worlds::service::error::WorldsError;
use crate::worlds::store;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Payload<'a> {
    world_id: i64,
    fence: i64,
    reason: &'a str,
}

/// Notifies the lease's node.
async fn notify_node(app: &App, lease: &Lease, kind: EventKind, reason: &str) {
    let payload = Payload { world_id: lease.id, fence: lease.fence, reason };
    publish(app, lease.network_id, kind, lease.node_server_id.as_ref(), payload).await;
}

/// Notifies the node of a lease that is drained from now on: first to save the world, if it is to be kept, then to unload
/// it.
async fn notify_drained(app: &App, lease: &Lease, reason: &SaveReason) {
    let reason = reason.to_string();
    if lease.is_persistent() {
        notify_node(app, lease, EventKind::WorldSnapshot, &reason).await;
    }
    notify_node(app, lease, EventKind::WorldUnload, &reason).await;
}

async fn find(app: &App, network: NetworkId, id: i64) -> Result<Lease, WorldsError> {
    let lease = store::leases::get(&app.db, network, id).await?.ok_or(WorldsError::Unknown(id))?;
    Ok(lease.at(app.clock.now()))
}

/// Nobody needs the world any more. One that is not up stays as it is.
pub(in crate::worlds) async fn release(app: &App, network: NetworkId, id: i64) -> Result<Lease, WorldsError> {
    match store::leases::drain(&app.db, network, id, None, app.clock.now()).await? {
        Some(lease) => {
            notify_drained(app, &lease, &SaveReason::Released).await;
            Ok(lease)
        }
        None => find(app, network, id).await,
    }
}

/// Unloads a world nobody was in since `idle_since`.
pub(in crate::worlds) async fn drain_idle(
    app: &App,
    network: NetworkId,
    id: i64,
    idle_since: Millis,
) -> Result<(), hub_db::Error> {
    if let Some(lease) = store::leases::drain(&app.db, network, id, Some(idle_since), app.clock.now()).await? {
        notify_drained(app, &lease, &SaveReason::Idle).await;
    }
    Ok(())
}

/// Asks the node of a world that is up to save it.
pub(in crate::worlds) async fn ask_snapshot(
    app: &App,
    network: NetworkId,
    id: i64,
    reason: String,
) -> Result<Lease, WorldsError> {
    let lease = find(app, network, id).await?;
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
            notify_node(app, &lease, EventKind::WorldSnapshot, &reason).await;
        }
        // It is being saved as it is.
        _ => {}
    }
    Ok(lease)
}
