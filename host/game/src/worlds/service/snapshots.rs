//! Snapshots: their storage, their validity and their retention.

use std::slice;
use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use hub_db::Tx;

use super::callbacks::SavedSnapshot;
use crate::app::App;
use crate::auth::Caller;
use crate::blobs::{self, Blob, BlobKey, Blobs, ReceivedBlob, TemporaryBlob};
use crate::clock::{Millis, millis};
use crate::limits::{self, Limit, Usage};
use crate::networks;
use crate::secrets::{SigningKey, signing_key};
use crate::values::{Identifier, NetworkId};
use crate::worlds::link::{self, Access, SnapshotLink};
use crate::worlds::model::{Lease, WorldSnapshot};
use crate::worlds::service::error::WorldsError;
use crate::worlds::store;

/// Validity of a link.
const LINK_TTL: Duration = Duration::from_mins(15);
/// Number of snapshots kept per world: a node may still be reading the previous one.
const KEPT_PER_WORLD: i64 = 2;
const SUFFIX_LENGTH: usize = 12;

/// Destination of a snapshot.
#[derive(Debug)]
pub(in crate::worlds) struct Upload {
    pub(in crate::worlds) url: String,
    pub(in crate::worlds) blob_key: String,
    pub(in crate::worlds) expires_at: Millis,
}

/// Begins an upload for a lease. A key bound to servers gets none for another node's, which it could overwrite.
pub(in crate::worlds) async fn mint(app: &App, caller: &Caller, id: i64, hub_url: &str) -> Result<Upload, WorldsError> {
    let (network, now) = (caller.network, app.clock.now());
    // Its size is not known yet.
    blobs::check_bytes(app, network, 1).await?;
    let minted = app
        .db
        .transaction(async |mut tx| {
            let Some(lease) = store::leases::count_upload(&mut tx, network, id, now).await? else { return Ok(None) };
            let speaks_for = |node: &Identifier| caller.bindings.allow_server(node.as_str());
            if caller.bindings.servers.is_some() && !lease.node_server_id.as_ref().is_some_and(speaks_for) {
                return Err(WorldsError::ForbiddenNode(id));
            }
            if !lease.is_persistent() {
                return Err(WorldsError::NotPersistent(id));
            }
            let minted_after = now.saturating_sub(millis(LINK_TTL));
            let open = store::snapshots::count_open(&mut tx, network, &lease, minted_after).await?;
            limits::check(app, Limit::SnapshotUploads, open, 1)?;
            let prefix = key_prefix(network);
            let blob_key = format!("{prefix}{}/{}-{}", lease.world_no, lease.fence, lease.uploads);
            store::snapshots::insert(&mut tx, network, &lease, &blob_key, now).await?;
            Ok(Some(blob_key))
        })
        .await?;
    let Some(blob_key) = minted else {
        let known = store::leases::get(&app.db, network, id).await?;
        return Err(known.map_or(WorldsError::Unknown(id), |_| WorldsError::Ended(id)));
    };
    // A link ends with the key that made it.
    let left = caller.expires_at.map(|end| Duration::from_millis(end.saturating_sub(now).max(0).unsigned_abs()));
    let ttl = left.map_or(LINK_TTL, |left| left.min(LINK_TTL));
    let expires_at = now.saturating_add(millis(ttl));
    let presigned = app.state::<Blobs>().presign(Method::PUT, &BlobKey::snapshot(network, &blob_key), ttl).await?;
    let url = if let Some(url) = presigned {
        url
    } else {
        let key = signing_key(app, link::PURPOSE).await?;
        own_url((network, Access::Put, &blob_key), hub_url, &key, expires_at)
    };
    Ok(Upload { url, blob_key, expires_at })
}

/// Prefix of the keys that the hub creates.
fn key_prefix(network: NetworkId) -> String {
    format!("{network}/")
}

/// Download URL of a snapshot; `key` signs it if the hub itself stores it.
pub(super) async fn get_url(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    blob_key: &str,
    hub_url: &str,
    key: &SigningKey,
) -> Result<Option<String>, WorldsError> {
    let Some(snapshot) = store::snapshots::get(tx, network, blob_key).await? else { return Ok(None) };
    if snapshot.file.is_some() {
        let expires_at = app.clock.now().saturating_add(millis(LINK_TTL));
        return Ok(Some(own_url((network, Access::Get, blob_key), hub_url, key, expires_at)));
    }
    Ok(app.state::<Blobs>().presign(Method::GET, &BlobKey::snapshot(network, blob_key), LINK_TTL).await?)
}

/// URL of a snapshot stored by the hub itself.
fn own_url(
    (network, access, blob_key): (NetworkId, Access, &str),
    hub_url: &str,
    key: &SigningKey,
    expires_at: Millis,
) -> String {
    let link = SnapshotLink { access, network, blob_key: blob_key.to_owned(), expires_at };
    format!("{hub_url}/api/worlds/blobs/{}", link::sign(key, &link))
}

/// Claims of a valid link.
async fn verify(app: &App, token: &str, access: Access) -> Result<SnapshotLink, WorldsError> {
    let link = link::read(&signing_key(app, link::PURPOSE).await?, token);
    let link = link.filter(|link| link.access == access).ok_or(WorldsError::InvalidLink)?;
    if link.expires_at <= app.clock.now() {
        return Err(WorldsError::ExpiredLink);
    }
    networks::service::require_active(&app.db, link.network).await?;
    Ok(link)
}

/// Receives an upload at the hub itself. Afterwards it counts: the world boots from it next.
pub(in crate::worlds) async fn receive(
    app: &App,
    token: &str,
    announced: Option<u64>,
    body: Body,
) -> Result<WorldSnapshot, WorldsError> {
    let limit = app.settings.snapshot_settings.limit;
    let link = verify(app, token, Access::Put).await?;
    let network = link.network;
    let snapshot = store::snapshots::get(&app.db, network, &link.blob_key);
    let snapshot = hub_db::with_tenant(network.0, snapshot).await?.ok_or(WorldsError::Gone)?;
    let lease = hub_db::with_tenant(network.0, store::leases::get(&app.db, network, snapshot.lease_id)).await?;
    if !lease.is_some_and(|lease| lease.at(app.clock.now()).is_live()) {
        return Err(WorldsError::Ended(snapshot.lease_id));
    }
    if announced.is_some_and(|length| length > limit) {
        return Err(WorldsError::TooLarge(limit));
    }
    let ReceivedBlob { blob, size, .. } = blobs::receive(app, network, body, limit).await?;
    // A separate task: the upload counts even if the client disconnects from here on.
    let app = app.clone();
    let recording = async move { record(&app, network, &snapshot, blob, size).await };
    tokio::spawn(hub_db::with_tenant(network.0, recording)).await.map_err(blobs::BlobError::from)?
}

/// Stored under a unique name: the same link may be used again while its earlier upload is being read.
async fn record(
    app: &App,
    network: NetworkId,
    snapshot: &WorldSnapshot,
    blob: TemporaryBlob,
    size: u64,
) -> Result<WorldSnapshot, WorldsError> {
    let (lease, blob_key) = (snapshot.lease_id, &snapshot.blob_key);
    let file = format!("{blob_key}-{}", app.ids.token(SUFFIX_LENGTH));
    let key = BlobKey::snapshot(network, &file);
    blob.store(&key, app.clock.now()).await?;
    let recorded = app
        .db
        .transaction(async |mut tx| {
            if !store::leases::lock(&mut tx, network, lease, app.clock.now()).await? {
                return Err(WorldsError::Ended(lease));
            }
            let before =
                store::snapshots::of_lease(&mut tx, network, lease, blob_key).await?.ok_or(WorldsError::Gone)?;
            let size = i64::try_from(size).unwrap_or(i64::MAX);
            let now = store::snapshots::record(&mut tx, network, lease, blob_key, size, Some(&file)).await?;
            let now = now.ok_or(WorldsError::Gone)?;
            store::worlds::point_to(&mut tx, network, &now).await?;
            blobs::mark_referenced(&mut tx, &key).await?;
            let superseded = before.file.map(|file| BlobKey::snapshot(network, &file));
            if let Some(superseded) = &superseded {
                blobs::mark_unreferenced(&mut tx, superseded).await?;
            }
            Ok((superseded, now))
        })
        .await;
    match recorded {
        Ok((superseded, now)) => {
            app.state::<Blobs>().delete_unreferenced(superseded.as_slice()).await;
            delete_superfluous(app, network, now.world_no, now.fence).await;
            Ok(now)
        }
        Err(error) => {
            // After a failure of the database the row may have been written.
            if matches!(error, WorldsError::Ended(_) | WorldsError::Gone) {
                app.state::<Blobs>().delete_unreferenced(slice::from_ref(&key)).await;
            }
            Err(error)
        }
    }
}

/// Snapshot of a link.
pub(in crate::worlds) async fn read(app: &App, token: &str) -> Result<Blob, WorldsError> {
    let link = verify(app, token, Access::Get).await?;
    let snapshot = store::snapshots::get(&app.db, link.network, &link.blob_key);
    let snapshot = hub_db::with_tenant(link.network.0, snapshot).await?;
    let file = snapshot.and_then(|snapshot| snapshot.file).ok_or(WorldsError::Gone)?;
    app.state::<Blobs>().get(&BlobKey::snapshot(link.network, &file)).await?.ok_or(WorldsError::Gone)
}

/// Records a node's snapshot of its lease: from the commit on it counts. An upload to the hub itself is already known,
/// otherwise the node's report is trusted. A key that the hub did not create belongs to the node's own store.
pub(super) async fn accept(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    lease: &Lease,
    saved: &SavedSnapshot,
) -> Result<(), WorldsError> {
    let key = &saved.blob_key;
    let snapshot = store::snapshots::of_lease(tx, network, lease.id, key).await?;
    let Some(snapshot) = snapshot else {
        if key.starts_with(&key_prefix(network)) {
            return Err(WorldsError::UnknownSnapshot(key.clone()));
        }
        if lease.is_persistent() {
            let seq = store::leases::next_seq(tx, network, lease.id).await?;
            store::worlds::point_to_own(tx, network, lease, key, seq).await?;
        }
        return Ok(());
    };
    if snapshot.size_bytes.is_some() {
        return Ok(store::worlds::point_to(tx, network, &snapshot).await?);
    }
    if app.state::<Blobs>().is_folder() {
        return Err(WorldsError::SnapshotMissing(key.clone()));
    }
    let size = saved.size_bytes.unwrap_or(0);
    app.state::<Usage>().added(network, Limit::FileBytes, size);
    if let Some(snapshot) = store::snapshots::record(tx, network, lease.id, key, size, None).await? {
        store::worlds::point_to(tx, network, &snapshot).await?;
    }
    Ok(())
}

/// Deletes a world's obsolete snapshots. A failed deletion stays listed for the next time.
pub(super) async fn delete_superfluous(app: &App, network: NetworkId, world_no: i64, fence: i64) {
    let superfluous = match store::snapshots::superfluous(&app.db, network, world_no, fence, KEPT_PER_WORLD).await {
        Ok(snapshots) => snapshots,
        Err(error) => return tracing::warn!(%error, "could not read old snapshots"),
    };
    for WorldSnapshot { blob_key, file, size_bytes, .. } in superfluous {
        let key = BlobKey::snapshot(network, file.as_ref().unwrap_or(&blob_key));
        if size_bytes.is_none() {
            // No node reported it. Its link may still be good, and what is uploaded by it would be in no row.
            if let Err(error) = leave_to_sweep(app, network, &blob_key, &key).await {
                tracing::warn!(%error, blob_key, "could not leave an old upload to the sweep");
            }
            continue;
        }
        if let Err(error) = app.state::<Blobs>().delete(&key).await {
            tracing::warn!(%error, blob_key, "could not delete an old snapshot");
        } else if let Err(error) = store::snapshots::delete(&app.db, network, &blob_key).await {
            tracing::warn!(%error, blob_key, "could not delete the row of an old snapshot");
        }
    }
}

/// Deletes an upload's row, and has the sweep delete its file once nobody can upload it any more.
async fn leave_to_sweep(app: &App, network: NetworkId, blob_key: &str, key: &BlobKey) -> Result<(), hub_db::Error> {
    let at = app.clock.now().saturating_add(2 * millis(LINK_TTL));
    app.db
        .transaction(async |mut tx| {
            blobs::delete_later(&mut tx, key, at).await?;
            store::snapshots::delete(&mut tx, network, blob_key).await
        })
        .await
}
