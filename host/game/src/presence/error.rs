//! Errors of look-ups.

use thiserror::Error;

use crate::http::error::ApiError;
use crate::limits::QuotaExceeded;
use crate::values::Identifier;

/// Reason for the failure of a look-up of a server.
#[derive(Debug, Error)]
pub enum ServersError {
    /// The registry has no such server.
    #[error("This network has no server `{0}`.")]
    Unknown(Identifier),
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ServersError> for ApiError {
    fn from(error: ServersError) -> Self {
        let message = error.to_string();
        match error {
            ServersError::Unknown(_) => Self::not_found("unknown_server", message),
            ServersError::Quota(exceeded) => exceeded.into(),
            ServersError::Database(error) => error.into(),
        }
    }
}
