//! Errors of player sessions.

use axum::http::StatusCode;
use thiserror::Error;

use crate::http::error::ApiError;
use crate::values::{Identifier, PlayerId};

/// Reason for the failure of a request about sessions.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The server that asks is not online.
    #[error("The server `{0}` is not online; register it first.")]
    NotOnline(Identifier),
    /// The player never had a session.
    #[error("The player {0} never had a session.")]
    Unknown(PlayerId),
    /// The fence is not that of the open session.
    #[error("The fence {0} is not that of the player's open session: open one, and apply nothing of the old one.")]
    Stale(i64),
    /// A write without a fence, and the network requires one.
    #[error("The player has an open session, and this network requires its fence for writes of data.")]
    Required,
    /// The player has an open session.
    #[error("The player has an open session on the server `{0}`; `force=true` ends it.")]
    Open(Identifier),
    /// A save that comes after a later one.
    #[error("The number {0} is not above that of the last save.")]
    StaleSave(i64),
    /// The key is bound to other servers.
    #[error("This key is not valid for the server that has the session.")]
    ForeignServer,
    /// A fence for an owner that is no player.
    #[error("{0}")]
    NoPlayer(&'static str),
    /// Too many openers wait.
    #[error("Too many openings of player sessions wait in this network.")]
    TooManyWait,
    /// Nothing was done; the network's next owner serves the request.
    #[error("This network is moving to another node of the hub; try again.")]
    Moving,
    /// The hub is shutting down.
    #[error("The hub is stopping; try again in a moment.")]
    Stopping,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        let unavailable = |code, message| Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message);
        let message = error.to_string();
        match error {
            SessionError::NotOnline(_) => Self::bad_request("unknown_server", message),
            SessionError::Unknown(_) => Self::not_found("unknown_session", message),
            SessionError::Stale(_) => Self::new(StatusCode::CONFLICT, "stale_session", message),
            SessionError::Required => Self::new(StatusCode::CONFLICT, "session_required", message),
            SessionError::Open(_) => Self::new(StatusCode::CONFLICT, "session_open", message),
            SessionError::StaleSave(_) => Self::new(StatusCode::CONFLICT, "stale_save", message),
            SessionError::ForeignServer => Self::new(StatusCode::FORBIDDEN, "forbidden_origin", message),
            SessionError::NoPlayer(_) => Self::invalid(message),
            SessionError::TooManyWait => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", message).retry_after(1)
            }
            SessionError::Moving => unavailable("moved", message).retry_after(1),
            SessionError::Stopping => unavailable("stopping", message).retry_after(1),
            SessionError::Database(error) => error.into(),
        }
    }
}
