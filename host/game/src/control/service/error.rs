//! Errors of control.

use axum::http::StatusCode;
use thiserror::Error;

use crate::events::PublishError;
use crate::http::error::ApiError;
use crate::limits::QuotaExceeded;
use crate::values::Identifier;

/// Errors of requests about control.
#[derive(Debug, Error)]
pub enum ControlError {
    /// Neither the registry nor an agent knows the server.
    #[error("This network has no server `{0}`.")]
    UnknownServer(Identifier),
    /// The server's agent is not connected.
    #[error("No node agent is connected for the server `{0}`.")]
    NoNode(Identifier),
    /// The server sends no heartbeats.
    #[error("The server `{0}` is offline.")]
    Offline(Identifier),
    /// The server has no event stream.
    #[error("The server `{0}` has no open event stream, so its connector cannot be reached.")]
    NotConnected(Identifier),
    /// The agent or connector did not reply in time.
    #[error("The server `{0}` did not answer in time.")]
    NoAnswer(Identifier),
    /// The agent could not deliver the output.
    #[error("The node agent of the server `{0}` could not deliver its output: {1}")]
    NoOutput(Identifier, String),
    /// Nothing was done; the network's next owner serves the request.
    #[error("This network is moving to another node of the hub; try again.")]
    Moving,
    /// The hub is shutting down.
    #[error("The hub is stopping; try again in a moment.")]
    Stopping,
    /// Limit of the network reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The command could not be sent.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ControlError> for ApiError {
    fn from(error: ControlError) -> Self {
        let unavailable = |code, message| Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message);
        let message = error.to_string();
        match error {
            ControlError::UnknownServer(_) => Self::not_found("unknown_server", message),
            ControlError::NoNode(_) => Self::not_found("no_node", message),
            ControlError::Offline(_) => unavailable("server_offline", message),
            ControlError::NotConnected(_) => unavailable("not_connected", message),
            ControlError::NoAnswer(_) => unavailable("no_answer", message),
            ControlError::NoOutput(..) => unavailable("no_output", message),
            ControlError::Moving => unavailable("moved", message).retry_after(1),
            ControlError::Stopping => unavailable("stopping", message).retry_after(1),
            ControlError::Quota(exceeded) => exceeded.into(),
            ControlError::Publish(error) => error.into(),
            ControlError::Database(error) => error.into(),
        }
    }
}
