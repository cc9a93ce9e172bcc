//! A file on its way in.

use std::io;
use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_LENGTH;
use http_body_util::BodyExt as _;
use sha2::{Digest as _, Sha256};
use tempfile::TempPath;
use tokio::io::AsyncWriteExt as _;

use crate::files::{FileError, Files};
use crate::http::error::ApiError;
use crate::values::hex;

/// How long a caller may send nothing.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);

/// A request's body of at most `LIMIT` bytes that is still to be read. One that announces more is refused at once.
#[derive(Debug)]
pub struct Upload<const LIMIT: u64>(Body);

impl<const LIMIT: u64, S: Send + Sync> FromRequest<S> for Upload<LIMIT> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > LIMIT) {
            return Err(FileError::TooLarge(LIMIT).into());
        }
        Ok(Self(request.into_body()))
    }
}

/// A file that has arrived and has no place yet. Dropped, it is gone.
#[derive(Debug)]
pub struct Received {
    path: TempPath,
    /// Open for its lock.
    _file: tokio::fs::File,
    /// Of all its bytes, in hex.
    pub sha256: String,
    /// How many bytes those are.
    pub size: u64,
}

impl Files {
    /// Reads a whole body onto the disk.
    pub async fn receive<const LIMIT: u64>(&self, upload: Upload<LIMIT>) -> Result<Received, FileError> {
        let folder = self.incoming();
        let (file, path) = blocking(move || {
            let (file, path) = tempfile::Builder::new().prefix("in-").tempfile_in(folder)?.into_parts();
            file.lock()?;
            Ok((file, path))
        })
        .await?;
        let mut file = tokio::fs::File::from_std(file);
        let mut body = upload.0;
        let mut hash = Sha256::new();
        let mut size = 0;
        loop {
            let next = tokio::time::timeout(LONGEST_PAUSE, body.frame()).await;
            let Some(frame) = next.map_err(|_| FileError::Broken("no more of it came".to_owned()))? else { break };
            let frame = frame.map_err(|error| FileError::Broken(error.to_string()))?;
            let Ok(piece) = frame.into_data() else { continue };
            size += piece.len() as u64;
            if size > LIMIT {
                return Err(FileError::TooLarge(LIMIT));
            }
            hash.update(&piece);
            file.write_all(&piece).await?;
        }
        if size == 0 {
            return Err(FileError::Empty);
        }
        file.flush().await?;
        file.sync_all().await?;
        Ok(Received { path, _file: file, sha256: hex(&hash.finalize()), size })
    }
}

impl Received {
    /// Moves it to its place, for good, over what may be there.
    pub async fn keep(self, place: &Path) -> Result<(), FileError> {
        let place = place.to_owned();
        let path = self.path;
        blocking(move || {
            let folder = place.parent().ok_or_else(|| io::Error::other("a file needs a folder"))?;
            std::fs::create_dir_all(folder)?;
            path.persist(&place).map_err(|error| error.error)?;
            // The name is on the disk when its folder is; a folder that is new has a name, too.
            for folder in folder.ancestors().take(3) {
                std::fs::File::open(folder)?.sync_all()?;
            }
            Ok(())
        })
        .await?;
        Ok(())
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
