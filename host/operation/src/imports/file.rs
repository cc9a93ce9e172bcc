//! Uploaded file, on this node's disk while it is read.

use std::path::PathBuf;

use futures_util::StreamExt as _;
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;

use crate::app::App;
use crate::blobs::{BlobError, BlobKey, Blobs};

/// Folder of files being read.
pub(super) fn folder(app: &App) -> PathBuf {
    app.settings.data.join("imports")
}

/// Copies a file from the blob store; none if it was deleted.
pub(super) async fn fetch(app: &App, key: &BlobKey) -> Result<Option<NamedTempFile>, BlobError> {
    let Some(blob) = app.state::<Blobs>().get(key).await? else { return Ok(None) };
    let folder = folder(app);
    let file = tokio::task::spawn_blocking(move || {
        std::fs::create_dir_all(&folder)?;
        NamedTempFile::new_in(folder)
    });
    let file = file.await??;
    let mut to = tokio::fs::File::from_std(file.reopen()?);
    let mut bytes = blob.stream();
    while let Some(chunk) = bytes.next().await {
        to.write_all(&chunk?).await?;
    }
    to.flush().await?;
    Ok(Some(file))
}
