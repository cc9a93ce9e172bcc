//! Large files on disk: received and sent in pieces, never whole in memory.
//!
//! What arrives is written under `files/incoming` in the data folder. It then moves to its place at once, when all of it
//! is on the disk, or disappears: when the caller hangs up, sends too much or nothing more. What a killed run leaves
//! there is removed at the next start. Several nodes of one hub need one shared `files` folder.

mod receive;
mod send;

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use thiserror::Error;
use utoipa::ToSchema;

use crate::http::error::ApiError;
use crate::values::NetworkId;

pub use receive::{Received, Upload};
pub use send::{Validator, send};

/// The largest artifact, bundle or snapshot, in bytes.
pub const FILE_LIMIT: u64 = 512 * 1024 * 1024;

/// Raw bytes.
#[derive(ToSchema)]
#[schema(value_type = String, format = Binary)]
#[allow(dead_code, reason = "it is only there for the document")]
pub struct Bytes(Vec<u8>);

/// What can go wrong with a file.
#[derive(Debug, Error)]
pub enum FileError {
    /// It is larger than this.
    #[error("more than {0} bytes")]
    TooLarge(u64),
    /// Nothing was sent.
    #[error("The file's bytes are needed in the body, and none were sent.")]
    Empty,
    /// The rest of it did not come.
    #[error("The body could not be read to its end: {0}.")]
    Broken(String),
    /// The disk.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

impl From<FileError> for ApiError {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        match error {
            FileError::TooLarge(limit) => Self::too_large(usize::try_from(limit).unwrap_or(usize::MAX)),
            FileError::Empty => Self::bad_request("empty_body", message),
            FileError::Broken(_) => Self::invalid(message),
            FileError::Disk(error) if error.kind() == io::ErrorKind::StorageFull => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "storage_full",
                "The hub has no room left for this file; its operator must make some.",
            ),
            FileError::Disk(error) => Self::internal(error),
        }
    }
}

/// The folder of large files.
#[derive(Debug)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// Makes the folder where it is missing and removes what earlier runs left half-received.
    pub fn open(data: &Path) -> io::Result<Self> {
        let files = Self { root: data.join("files") };
        std::fs::create_dir_all(files.incoming())?;
        for entry in std::fs::read_dir(files.incoming())? {
            remove_abandoned(&entry?.path());
        }
        Ok(files)
    }

    /// Where a room keeps one of a network's files. Neither part comes from a request.
    pub fn place(&self, room: &str, network: NetworkId, id: &str) -> PathBuf {
        self.root.join(room).join(network.to_string()).join(id)
    }

    /// Removes a file; that it is gone already is no error. One who is reading it reads on.
    pub async fn remove(&self, place: &Path) {
        match tokio::fs::remove_file(place).await {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => tracing::warn!(%error, place = %place.display(), "a file could not be removed"),
        }
    }

    /// The folder of them all.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where a file is while it is not whole.
    pub(crate) fn incoming(&self) -> PathBuf {
        self.root.join("incoming")
    }
}

/// Whoever receives a file holds its lock, so that another process on the same folder leaves it alone.
fn remove_abandoned(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    match file.try_lock() {
        Ok(()) => {
            if let Err(error) = std::fs::remove_file(path) {
                tracing::warn!(%error, path = %path.display(), "a half-received file could not be removed");
            }
        }
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => tracing::warn!(%error, path = %path.display(), "a file cannot be locked"),
    }
}
