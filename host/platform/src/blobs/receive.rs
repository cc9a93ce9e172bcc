//! Incoming blobs.

use std::future::ready;
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_LENGTH;
use http_body_util::BodyExt as _;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::app::App;
use crate::blobs::{BlobError, BlobKey, Blobs, INCOMING, store};
use crate::clock::{Millis, millis};
use crate::http::error::ApiError;
use crate::ids::Ids;
use crate::limits::{self, FILE_BYTES, Limit, check_rows};
use crate::values::{NetworkId, hex};

/// Time after which an incomplete or unreferenced blob is deleted.
pub(super) const GRACE: Duration = Duration::from_hours(24);
/// Number of bytes written to a folder at once.
const CHUNK: usize = 1024 * 1024;
/// Minimum part size of S3, and the number of bytes sent at once.
const PART: usize = 5 * 1024 * 1024;
const PARTS: usize = 2;
const NAME_LENGTH: usize = 20;

/// Unread request body of at most `LIMIT` bytes. A larger announced size is refused immediately.
#[derive(Debug)]
pub struct Upload<const LIMIT: u64>(pub Body);

impl<const LIMIT: u64, S: Send + Sync> FromRequest<S> for Upload<LIMIT> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > LIMIT) {
            return Err(BlobError::TooLarge(LIMIT).into());
        }
        Ok(Self(request.into_body()))
    }
}

/// A received blob, with the data for its row.
pub struct ReceivedBlob {
    pub blob: TemporaryBlob,
    /// SHA-256 of all bytes, in hex.
    pub sha256: String,
    pub size: u64,
}

/// Reads a whole body into the store. Nothing is left if the client disconnects, sends nothing or sends too much. The
/// bytes count as the network's from the start if the body announces its size.
pub async fn receive(app: &App, network: NetworkId, body: Body, limit: u64) -> Result<ReceivedBlob, BlobError> {
    let _counted = limits::open::<BlobError>(app, network, Limit::Uploads).await?;
    let announced = body.size_hint().lower().max(1);
    check_bytes(app, network, announced).await?;
    let mut writer = app.state::<Blobs>().writer(app.clock.now(), &app.ids);
    let received = match copy(body, &mut writer, limit).await {
        Ok((sha256, size)) => match check_bytes(app, network, size.saturating_sub(announced)).await {
            Ok(()) => Ok((sha256, size)),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    };
    match received {
        Ok((sha256, size)) => Ok(ReceivedBlob { blob: writer.finish().await?, sha256, size }),
        Err(error) => {
            writer.abort().await;
            Err(error)
        }
    }
}

/// Refuses files that exceed the network's storage.
pub async fn check_bytes(app: &App, network: NetworkId, bytes: u64) -> Result<(), BlobError> {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    check_rows(app, network, FILE_BYTES, bytes, ready(Ok(bytes == 0))).await.map(drop)
}

async fn copy(mut body: Body, writer: &mut BlobWriter, limit: u64) -> Result<(String, u64), BlobError> {
    let (mut hash, mut size) = (Sha256::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| BlobError::Broken(error.to_string()))?;
        let Ok(bytes) = frame.into_data() else { continue };
        size += bytes.len() as u64;
        if size > limit {
            return Err(BlobError::TooLarge(limit));
        }
        hash.update(&bytes);
        writer.append(bytes).await?;
    }
    if size == 0 {
        return Err(BlobError::Empty);
    }
    Ok((hex(&hash.finalize()), size))
}

/// Path of a temporary blob; its name contains the time, for the sweep.
fn temporary_path(now: Millis, ids: &Ids) -> Path {
    Path::from_iter([INCOMING, &format!("{now}-{}", ids.token(NAME_LENGTH))])
}

impl Blobs {
    /// Begins a temporary blob.
    pub fn writer(&self, now: Millis, ids: &Ids) -> BlobWriter {
        let path = temporary_path(now, ids);
        let (part, at_once) = if self.is_folder() { (CHUNK, 1) } else { (PART, PARTS) };
        let writer = BufWriter::with_capacity(self.store.clone(), self.path(&path), part);
        let (chunks, appended) = mpsc::channel(1);
        let blob = TemporaryBlob { blobs: self.clone(), path, is_settled: true };
        let writing = tokio::spawn(write(writer.with_max_concurrency(at_once), appended, blob));
        BlobWriter { part, chunks, writing }
    }

    /// Writes all of these bytes.
    pub async fn write(&self, bytes: &bytes::Bytes, now: Millis, ids: &Ids) -> Result<TemporaryBlob, BlobError> {
        let mut writer = self.writer(now, ids);
        for chunk in bytes.chunks(writer.part) {
            writer.append(bytes.slice_ref(chunk)).await?;
        }
        writer.finish().await
    }
}

/// A blob being written by a task of its own, so that a client that disconnects during a request to the store leaves
/// nothing there. Dropping it discards the blob.
pub struct BlobWriter {
    part: usize,
    /// None marks the end of the blob.
    chunks: mpsc::Sender<Option<bytes::Bytes>>,
    writing: JoinHandle<Result<Option<TemporaryBlob>, BlobError>>,
}

impl BlobWriter {
    pub async fn append(&mut self, bytes: bytes::Bytes) -> Result<(), BlobError> {
        match self.chunks.send(Some(bytes)).await {
            Ok(()) => Ok(()),
            // The task has failed.
            Err(_) => (&mut self.writing).await?.map(drop),
        }
    }

    /// Completes the blob.
    pub async fn finish(self) -> Result<TemporaryBlob, BlobError> {
        // After a failure, the task does not receive this.
        let _ = self.chunks.send(None).await;
        let whole = self.writing.await??;
        whole.ok_or_else(|| BlobError::Broken("it was aborted".to_owned()))
    }

    /// Discards the blob.
    pub async fn abort(self) {
        drop(self.chunks);
        // After a failure, the task has already aborted.
        if !self.writing.is_finished()
            && let Err(error) = self.writing.await
        {
            tracing::warn!(%error, "could not abort an upload");
        }
    }
}

async fn write(
    mut writer: BufWriter,
    mut chunks: mpsc::Receiver<Option<bytes::Bytes>>,
    mut blob: TemporaryBlob,
) -> Result<Option<TemporaryBlob>, BlobError> {
    let failed = loop {
        match chunks.recv().await {
            Some(Some(bytes)) => {
                if let Err(error) = writer.put(bytes).await {
                    break Err(error.into());
                }
            }
            Some(None) => {
                // From here on there may be something to delete.
                blob.is_settled = false;
                writer.shutdown().await?;
                return Ok(Some(blob));
            }
            None => break Ok(None),
        }
    };
    if let Err(error) = writer.abort().await {
        tracing::warn!(%error, "could not abort an upload");
    }
    failed
}

/// A complete blob with a temporary key. Dropping it deletes it.
pub struct TemporaryBlob {
    blobs: Blobs,
    path: Path,
    /// True if there is nothing to delete.
    is_settled: bool,
}

impl TemporaryBlob {
    /// Moves the blob to its key, replacing any existing one. It is deleted again unless the transaction that writes
    /// its row calls [`mark_referenced`](super::mark_referenced).
    pub async fn store(self, key: &BlobKey, now: Millis) -> Result<(), BlobError> {
        store::note(&self.blobs.db, key.network, &key.path, now.saturating_add(millis(GRACE))).await?;
        self.store_for_row(key).await
    }

    /// Moves the blob to its key, replacing any existing one, if the row that references it exists already. It is not
    /// recorded as unreferenced: with several nodes doing this, one node's record might outlast the other's work.
    pub async fn store_for_row(mut self, key: &BlobKey) -> Result<(), BlobError> {
        self.blobs.rename(&self.path, &key.path).await?;
        self.is_settled = true;
        Ok(())
    }

    /// Deletes the blob.
    pub async fn discard(mut self) -> Result<(), BlobError> {
        self.is_settled = true;
        self.blobs.delete_path(&self.path).await
    }
}

impl Drop for TemporaryBlob {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        let Ok(runtime) = Handle::try_current() else { return };
        let (blobs, path) = (self.blobs.clone(), self.path.clone());
        runtime.spawn(async move {
            if let Err(error) = blobs.delete_path(&path).await {
                tracing::warn!(%error, %path, "could not delete a temporary blob");
            }
        });
    }
}
