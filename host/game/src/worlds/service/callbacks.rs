//! Callbacks of nodes, about the worlds they hold.

use serde::Serialize;
use utoipa::ToSchema;

use super::boot::boot_waiting;
use super::snapshots::{accept, delete_superfluous};
use super::{expiry, publish, publish_state};
use crate::app::App;
use crate::clock::Millis;
use crate::events::EventKind;
use crate::presence::{self, LiveServer};
use crate::values::{Identifier, NetworkId};
use crate::worlds::model::{Lease, LeaseHolder, LeaseState};
use crate::worlds::service::error::WorldsError;
use crate::worlds::store;

/// A snapshot that a node has uploaded.
#[derive(Clone, Debug)]
pub(in crate::worlds) struct SavedSnapshot {
    pub(in crate::worlds) blob_key: String,
    pub(in crate::worlds) size_bytes: Option<i64>,
}

/// A world that was opened is up.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReadyWorld)]
pub(crate) struct WorldReady {
    /// Number of the lease, as in the answer of `open`.
    #[schema(example = "17")]
    world_instance_id: String,
    /// Its node; null if it went offline meanwhile.
    server: Option<LiveServer>,
}

/// Records that the world is up. A repeated report has no effect.
pub(in crate::worlds) async fn ready(app: &App, network: NetworkId, by: &LeaseHolder) -> Result<Lease, WorldsError> {
    let now = app.clock.now();
    let server = presence::service::snapshot(app, network, &by.node);
    let payload = WorldReady { world_instance_id: by.id.to_string(), server };
    let ready = app
        .db
        .transaction(async |mut tx| {
            let lease = store::leases::ready(&mut tx, network, by, now, expiry(app, now)).await?;
            if lease.is_some() {
                publish(app, &mut tx, network, EventKind::WorldReady, None, &payload).await?;
                publish_state(app, &mut tx, network, by.id, LeaseState::Ready).await?;
            }
            Ok::<_, WorldsError>(lease)
        })
        .await?;
    match ready {
        Some(lease) => Ok(lease),
        None => check_held(app, network, by, now).await,
    }
}

/// Renews the lease, with the number of players and, if given, a new snapshot.
pub(in crate::worlds) async fn heartbeat(
    app: &App,
    network: NetworkId,
    by: &LeaseHolder,
    players: Option<i64>,
    saved: Option<SavedSnapshot>,
) -> Result<Lease, WorldsError> {
    let now = app.clock.now();
    let renewed = app
        .db
        .transaction(async |mut tx| {
            let lease = store::leases::renew(&mut tx, network, by, players, now, expiry(app, now)).await?;
            if let (Some(lease), Some(saved)) = (&lease, &saved) {
                accept(app, &mut tx, network, lease, saved).await?;
            }
            Ok::<_, WorldsError>(lease)
        })
        .await?;
    let Some(lease) = renewed else { return check_held(app, network, by, now).await };
    if saved.is_some() {
        delete_superfluous(app, network, lease.world_no, lease.fence).await;
    }
    Ok(lease)
}

/// Ends the lease of an unloaded world, with its snapshot. A repeated report gets the same answer.
pub(in crate::worlds) async fn unloaded(
    app: &App,
    network: NetworkId,
    by: &LeaseHolder,
    saved: Option<SavedSnapshot>,
) -> Result<Lease, WorldsError> {
    let now = app.clock.now();
    let blob_key = saved.as_ref().map(|saved| saved.blob_key.clone());
    let ended = app
        .db
        .transaction(async |mut tx| {
            let lease = store::leases::unload(&mut tx, network, by, blob_key.as_deref(), now).await?;
            if let (Some(lease), Some(saved)) = (&lease, &saved) {
                accept(app, &mut tx, network, lease, saved).await?;
            }
            if lease.is_some() {
                publish_state(app, &mut tx, network, by.id, LeaseState::Unloaded).await?;
            }
            Ok::<_, WorldsError>(lease)
        })
        .await?;
    let Some(lease) = ended else {
        let before = store::leases::get(&app.db, network, by.id).await?;
        let same = before.filter(|lease| {
            lease.state == LeaseState::Unloaded
                && lease.fence == by.fence
                && lease.node_server_id.as_ref() == Some(&by.node)
                && lease.blob_key == blob_key
        });
        return match same {
            Some(lease) => Ok(lease),
            None => check_held(app, network, by, now).await,
        };
    };
    delete_superfluous(app, network, lease.world_no, lease.fence).await;
    boot_waiting(app, network, lease.world_no).await?;
    Ok(lease)
}

/// Ends all leases of a restarted node. Returns their number.
pub(in crate::worlds) async fn release_all(
    app: &App,
    network: NetworkId,
    node: Identifier,
) -> Result<usize, WorldsError> {
    let lost = app
        .db
        .transaction(async |mut tx| {
            let lost = store::leases::mark_all_lost(&mut tx, network, &node, app.clock.now()).await?;
            for lease in &lost {
                publish_state(app, &mut tx, network, lease.id, LeaseState::Lost).await?;
            }
            Ok::<_, WorldsError>(lost)
        })
        .await?;
    for lease in &lost {
        boot_waiting(app, network, lease.world_no).await?;
    }
    Ok(lost.len())
}

/// The lease, if it matches the node's view; else the reason for refusing the callback.
async fn check_held(app: &App, network: NetworkId, by: &LeaseHolder, now: Millis) -> Result<Lease, WorldsError> {
    let lease = store::leases::get(&app.db, network, by.id).await?.ok_or(WorldsError::Unknown(by.id))?.at(now);
    if !lease.is_live() {
        return Err(WorldsError::Ended(by.id));
    }
    if lease.fence != by.fence {
        return Err(WorldsError::StaleFence { id: by.id, fence: by.fence });
    }
    if lease.node_server_id.as_ref() != Some(&by.node) {
        return Err(WorldsError::WrongNode(by.id));
    }
    Ok(lease)
}
