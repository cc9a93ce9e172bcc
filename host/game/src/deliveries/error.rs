//! Errors of deliveries.

use axum::http::StatusCode;
use thiserror::Error;

use crate::deliveries::model::{NotPossible, StaleClaim};
use crate::http::error::ApiError;
use crate::limits::QuotaExceeded;

/// Reason for the failure of a request about deliveries.
#[derive(Debug, Error)]
pub enum DeliveriesError {
    /// No such delivery in the caller's network.
    #[error("This network has no delivery {0}.")]
    Unknown(i64),
    /// A value is not possible.
    #[error("{0}")]
    Invalid(&'static str),
    /// A server carries it out.
    #[error("The delivery is claimed.")]
    Claimed,
    /// It has ended, or a person has to decide.
    #[error("The delivery has ended, or waits for a person.")]
    Settled,
    /// It cannot happen there now, for this reason.
    #[error("{0}")]
    NotReady(&'static str),
    /// The claim is not good.
    #[error("The claim is wrong, has expired or was settled otherwise.")]
    StaleClaim,
    /// The claim is another server's, to which the caller's key is not bound.
    #[error("This API key is bound to other servers than the one that claimed the delivery.")]
    ForeignServer,
    /// A person cannot do this now.
    #[error("The delivery is {0}, or its time is over: this is not possible.")]
    NotPossible(&'static str),
    /// The reference stands for another delivery.
    #[error("The reference was used for a delivery with other values.")]
    ReferenceUsed,
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<StaleClaim> for DeliveriesError {
    fn from(_: StaleClaim) -> Self {
        Self::StaleClaim
    }
}

impl DeliveriesError {
    /// The error of an action in a state.
    pub(super) fn not_possible(state: &'static str) -> impl Fn(NotPossible) -> Self {
        move |_| Self::NotPossible(state)
    }
}

impl From<DeliveriesError> for ApiError {
    fn from(error: DeliveriesError) -> Self {
        let message = error.to_string();
        let conflict = |code| Self::new(StatusCode::CONFLICT, code, message.clone());
        match error {
            DeliveriesError::Unknown(_) => Self::not_found("unknown_delivery", message),
            DeliveriesError::Invalid(reason) => Self::invalid(reason),
            DeliveriesError::Claimed => conflict("claimed"),
            DeliveriesError::Settled => conflict("settled"),
            DeliveriesError::NotReady(_) => conflict("not_ready"),
            DeliveriesError::StaleClaim => conflict("stale_claim"),
            DeliveriesError::ForeignServer => Self::new(StatusCode::FORBIDDEN, "forbidden_origin", message),
            DeliveriesError::NotPossible(_) => conflict("not_possible"),
            DeliveriesError::ReferenceUsed => conflict("reference_used"),
            DeliveriesError::Quota(exceeded) => exceeded.into(),
            DeliveriesError::Database(error) => error.into(),
        }
    }
}
