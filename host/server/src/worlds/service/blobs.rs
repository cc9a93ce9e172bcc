//! Snapshots: where they are put, when they count, and which are kept.

use std::time::Duration;

use axum::body::Body;
use hub_db::Tx;

use super::callbacks::Saved;
use crate::app::App;
use crate::clock::{Millis, millis};
use crate::networks;
use crate::networks::service::NetworksError;
use crate::values::NetworkId;
use crate::worlds::model::{Blob, Lease};
use crate::worlds::service::error::WorldsError;
use crate::worlds::snapshots::ReceiveError;
use crate::worlds::store;
use crate::worlds::token::{Deed, Link, Shown};

/// How long a link is good.
const GOOD_FOR: Duration = Duration::from_mins(15);
/// Snapshots kept of each world: a node may still be reading the one before the newest.
const KEPT: i64 = 2;

/// Where a snapshot is to be put.
#[derive(Debug)]
pub(in crate::worlds) struct Upload {
    pub(in crate::worlds) url: String,
    pub(in crate::worlds) blob_key: String,
    pub(in crate::worlds) expires_at: Millis,
}

/// Begins an upload for a lease.
pub(in crate::worlds) async fn mint(
    app: &App,
    network: NetworkId,
    id: i64,
    hub_url: &str,
) -> Result<Upload, WorldsError> {
    let now = app.clock.now();
    let minted = app
        .db
        .transaction(async |mut tx| {
            let Some(lease) = store::leases::count_upload(&mut tx, network, id, now).await? else { return Ok(None) };
            if !lease.is_persistent() {
                return Err(WorldsError::NotPersistent(id));
            }
            let blob_key = format!("{network}/{}/{}-{}", lease.world_no, lease.fence, lease.uploads);
            store::blobs::mint(&mut tx, network, &lease, &blob_key, now).await?;
            Ok(Some(blob_key))
        })
        .await?;
    let Some(blob_key) = minted else {
        let known = store::leases::get(&app.db, network, id).await?;
        return Err(known.map_or(WorldsError::Unknown(id), |_| WorldsError::Ended(id)));
    };
    let expires_at = now.saturating_add(millis(GOOD_FOR));
    let url = match app.snapshots.put_url(&blob_key, now, GOOD_FOR) {
        Some(url) => url,
        None => own_url(app, network, Deed::Put, &blob_key, hub_url).await?,
    };
    Ok(Upload { url, blob_key, expires_at })
}

/// A URL to get a snapshot with.
pub(super) async fn get_url(
    app: &App,
    network: NetworkId,
    blob_key: &str,
    hub_url: &str,
) -> Result<Option<String>, WorldsError> {
    let Some(blob) = store::blobs::get(&app.db, network, blob_key).await? else { return Ok(None) };
    if blob.file.is_some() {
        return Ok(Some(own_url(app, network, Deed::Get, blob_key, hub_url).await?));
    }
    Ok(app.snapshots.get_url(blob_key, app.clock.now(), GOOD_FOR))
}

async fn own_url(
    app: &App,
    network: NetworkId,
    deed: Deed,
    blob_key: &str,
    hub_url: &str,
) -> Result<String, WorldsError> {
    let secret = networks::service::signing_secret(app, network).await?;
    let expires_at = app.clock.now().saturating_add(millis(GOOD_FOR));
    let link = Link { deed, network, blob_key: blob_key.to_owned(), expires_at };
    Ok(format!("{hub_url}/api/worlds/blobs/{}", link.token(&secret)))
}

/// What a link allows.
async fn follow(app: &App, token: &str, deed: Deed) -> Result<Link, WorldsError> {
    let shown = Shown::read(token).ok_or(WorldsError::InvalidLink)?;
    let secret = match networks::service::signing_secret(app, shown.network()).await {
        Ok(secret) => secret,
        Err(NetworksError::UnknownNetwork(_)) => return Err(WorldsError::InvalidLink),
        Err(error) => return Err(error.into()),
    };
    let link = shown.verify(&secret).filter(|link| link.deed == deed).ok_or(WorldsError::InvalidLink)?;
    if link.expires_at <= app.clock.now() {
        return Err(WorldsError::ExpiredLink);
    }
    Ok(link)
}

/// Takes an upload onto the hub's own disk. When this returns it counts: the world boots from it next.
pub(in crate::worlds) async fn receive(
    app: &App,
    token: &str,
    announced: Option<u64>,
    body: Body,
) -> Result<Blob, WorldsError> {
    let limit = app.snapshots.limit;
    let link = follow(app, token, Deed::Put).await?;
    let network = link.network;
    let blob = store::blobs::get(&app.db, network, &link.blob_key).await?.ok_or(WorldsError::Gone)?;
    let lease = store::leases::get(&app.db, network, blob.lease_id).await?;
    if !lease.is_some_and(|lease| lease.at(app.clock.now()).is_live()) {
        return Err(WorldsError::Ended(blob.lease_id));
    }
    if announced.is_some_and(|length| length > limit) {
        return Err(WorldsError::TooLarge(limit));
    }
    let (file, size) =
        app.snapshots.receive(blob.blob_key.clone(), &app.ids, body).await.map_err(|error| match error {
            ReceiveError::TooLarge => WorldsError::TooLarge(limit),
            other => other.into(),
        })?;
    if size == 0 {
        discard(app, &file).await;
        return Err(WorldsError::CutOff("a snapshot has at least one byte".to_owned()));
    }
    // A caller who hangs up now must not leave a row without its file, or a file without its row.
    let app = app.clone();
    let recording = tokio::spawn(async move { record(&app, network, &blob, file, size).await });
    recording.await.map_err(|error| WorldsError::Disk(std::io::Error::other(error)))?
}

async fn record(app: &App, network: NetworkId, blob: &Blob, file: String, size: u64) -> Result<Blob, WorldsError> {
    let (lease, key) = (blob.lease_id, &blob.blob_key);
    let recorded = app
        .db
        .transaction(async |mut tx| {
            if !store::leases::hold(&mut tx, network, lease, app.clock.now()).await? {
                return Err(WorldsError::Ended(lease));
            }
            let before = store::blobs::of_lease(&mut tx, network, lease, key).await?.ok_or(WorldsError::Gone)?;
            let size = i64::try_from(size).unwrap_or(i64::MAX);
            let now = store::blobs::record(&mut tx, network, lease, key, size, Some(file.clone())).await?;
            let now = now.ok_or(WorldsError::Gone)?;
            store::worlds::point_to(&mut tx, network, &now).await?;
            Ok((before, now))
        })
        .await;
    match recorded {
        Ok((before, now)) => {
            // The same link was used before: nothing points to that file any more.
            if let Some(superseded) = before.file {
                discard(app, &superseded).await;
            }
            tidy(app, network, now.world_no, now.fence).await;
            Ok(now)
        }
        Err(error) => {
            // Where the database failed, the row may be written for all we know.
            if matches!(error, WorldsError::Ended(_) | WorldsError::Gone) {
                discard(app, &file).await;
            }
            Err(error)
        }
    }
}

async fn discard(app: &App, file: &str) {
    if let Err(error) = app.snapshots.delete_file(file).await {
        tracing::warn!(%error, file, "could not delete an upload that nothing needs");
    }
}

/// The snapshot that a link leads to, and its size.
pub(in crate::worlds) async fn read(app: &App, token: &str) -> Result<(tokio::fs::File, u64), WorldsError> {
    let link = follow(app, token, Deed::Get).await?;
    let blob = store::blobs::get(&app.db, link.network, &link.blob_key).await?;
    let file = blob.and_then(|blob| blob.file).ok_or(WorldsError::Gone)?;
    match app.snapshots.read(&file).await {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(WorldsError::Gone),
        read => Ok(read?),
    }
}

/// A node says that it has put a snapshot of its lease where it was told to: from the commit on it counts. What came to
/// the hub's own disk is known already, elsewhere the node's word is taken.
pub(super) async fn accept(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    lease: &Lease,
    saved: &Saved,
) -> Result<(), WorldsError> {
    let key = &saved.blob_key;
    let blob = store::blobs::of_lease(tx, network, lease.id, key).await?;
    let blob = blob.ok_or_else(|| WorldsError::UnknownSnapshot(key.clone()))?;
    if blob.size_bytes.is_some() {
        return Ok(store::worlds::point_to(tx, network, &blob).await?);
    }
    if app.snapshots.is_own_disk() {
        return Err(WorldsError::SnapshotMissing(key.clone()));
    }
    let size = saved.size_bytes.unwrap_or(0);
    if let Some(blob) = store::blobs::record(tx, network, lease.id, key, size, None).await? {
        store::worlds::point_to(tx, network, &blob).await?;
    }
    Ok(())
}

/// Deletes what is no longer needed of a world. What cannot be deleted now stays listed for the next time.
pub(super) async fn tidy(app: &App, network: NetworkId, world_no: i64, fence: i64) {
    let superfluous = match store::blobs::superfluous(&app.db, network, world_no, fence, KEPT).await {
        Ok(blobs) => blobs,
        Err(error) => return tracing::warn!(%error, "could not look for old snapshots"),
    };
    for blob in superfluous {
        if let Err(error) = app.snapshots.delete(&blob, app.clock.now()).await {
            tracing::warn!(%error, blob_key = blob.blob_key, "could not delete an old snapshot");
        } else if let Err(error) = store::blobs::delete(&app.db, network, &blob.blob_key).await {
            tracing::warn!(%error, blob_key = blob.blob_key, "could not forget an old snapshot");
        }
    }
}
