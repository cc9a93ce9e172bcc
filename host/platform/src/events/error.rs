//! Reasons for not publishing an event.

use axum::http::StatusCode;
use thiserror::Error;

use crate::http::error::ApiError;

/// Reason for not publishing an event.
#[derive(Debug, Error)]
pub enum PublishError {
    /// The caller is in a transaction that may still be rolled back.
    #[error("the event of a change must be published in the change's transaction")]
    Uncommitted,
    /// It has subscribers, and the database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
    /// The payload has no JSON form.
    #[error("the event has no JSON form: {0}")]
    Payload(#[from] serde_json::Error),
    /// The bus refused it.
    #[error(transparent)]
    Bus(#[from] hub_bus::PublishError),
}

impl From<PublishError> for ApiError {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Bus(hub_bus::PublishError::Closed) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "stopping", "The hub is stopping; try again in a moment.")
                    .retry_after(1)
            }
            // NATS may have it and deliver it after recovering.
            PublishError::Bus(hub_bus::PublishError::Unreachable) => bus_error(
                "no answer in time",
                "Events are currently unavailable; this one may still be delivered, so a retry may duplicate it.",
            ),
            PublishError::Database(error) => error.into(),
            other => Self::internal(other),
        }
    }
}

/// Temporary: the bus recovers, or another node reaches it.
pub(super) fn bus_unreachable(why: impl std::fmt::Display) -> ApiError {
    bus_error(why, "Events are currently unavailable; try again in a moment.")
}

fn bus_error(why: impl std::fmt::Display, message: &'static str) -> ApiError {
    tracing::warn!(%why, "the bus between nodes is unreachable");
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "bus_unreachable", message).retry_after(1)
}
