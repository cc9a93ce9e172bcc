//! Errors of requests about worlds.

use axum::http::StatusCode;
use thiserror::Error;

use crate::blobs::BlobError;
use crate::http::error::ApiError;
use crate::limits::QuotaExceeded;
use crate::networks::service::NetworksError;

#[derive(Debug, Error)]
pub(in crate::worlds) enum WorldsError {
    #[error("This network has no world {0}.")]
    Unknown(i64),
    #[error("The lease {0} has ended; another node may run the world by now.")]
    Ended(i64),
    #[error("The lease {id} has another fence than {fence}.")]
    StaleFence { id: i64, fence: i64 },
    #[error("The lease {0} belongs to another node.")]
    WrongNode(i64),
    #[error("The lease {0} belongs to a node outside this key's servers.")]
    ForbiddenNode(i64),
    #[error("The world {0} is not up yet.")]
    NotReady(i64),
    #[error("The world {0} is EPHEMERAL and has no snapshots.")]
    NotPersistent(i64),
    #[error("`{0}` is not an upload of this lease; POST to its upload-url for one.")]
    UnknownSnapshot(String),
    #[error("Nothing has been uploaded as `{0}` yet.")]
    SnapshotMissing(String),
    #[error("No such snapshot; the newest two of each world are kept.")]
    Gone,
    #[error("This link is malformed or has an invalid signature.")]
    InvalidLink,
    #[error("This link has expired.")]
    ExpiredLink,
    #[error("The snapshot is larger than the allowed {0} bytes.")]
    TooLarge(u64),
    #[error("The upload was empty or cut off: {0}.")]
    CutOff(String),
    /// No node can boot the world. Never sent to clients.
    #[error("no node can boot it")]
    NoNode,
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    #[error(transparent)]
    Network(#[from] NetworksError),
    #[error(transparent)]
    Database(#[from] hub_db::Error),
    #[error(transparent)]
    Blob(BlobError),
}

impl From<BlobError> for WorldsError {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::TooLarge(limit) => Self::TooLarge(limit),
            BlobError::Empty => Self::CutOff("a snapshot has at least one byte".to_owned()),
            BlobError::Broken(cause) => Self::CutOff(cause),
            BlobError::Database(error) => error.into(),
            BlobError::Quota(exceeded) => exceeded.into(),
            error => Self::Blob(error),
        }
    }
}

impl From<WorldsError> for ApiError {
    fn from(error: WorldsError) -> Self {
        let message = error.to_string();
        match error {
            WorldsError::Unknown(_) => Self::not_found("unknown_world", message),
            WorldsError::Ended(_) => Self::bad_request("lease_ended", message),
            WorldsError::StaleFence { .. } => Self::bad_request("stale_fence", message),
            WorldsError::WrongNode(_) => Self::bad_request("wrong_node", message),
            WorldsError::ForbiddenNode(_) => Self::new(StatusCode::FORBIDDEN, "forbidden_origin", message),
            WorldsError::NotReady(_) => Self::bad_request("world_not_ready", message),
            WorldsError::NotPersistent(_) => Self::bad_request("not_persistent", message),
            WorldsError::UnknownSnapshot(_) => Self::bad_request("unknown_snapshot", message),
            WorldsError::SnapshotMissing(_) => Self::bad_request("snapshot_missing", message),
            WorldsError::Gone => Self::not_found("unknown_snapshot", message),
            WorldsError::InvalidLink => Self::new(StatusCode::FORBIDDEN, "invalid_signature", message),
            WorldsError::ExpiredLink => Self::new(StatusCode::GONE, "link_expired", message),
            WorldsError::TooLarge(_) => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message),
            WorldsError::CutOff(_) => Self::invalid(message),
            WorldsError::Quota(exceeded) => exceeded.into(),
            WorldsError::Network(error) => error.into(),
            WorldsError::Database(error) => error.into(),
            WorldsError::Blob(error) => error.into(),
            WorldsError::NoNode => Self::internal(error),
        }
    }
}
