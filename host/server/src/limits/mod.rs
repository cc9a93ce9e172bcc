//! What one network may store, keep open and have computed.
//!
//! A bound is the same for every network and no plan lifts it: it stops one network from stopping another.

mod limit;

pub use limit::Limit;

use axum::http::StatusCode;

use crate::app::App;
use crate::http::error::{ApiError, ErrorDetails};
use crate::values::NetworkId;

/// The limits of one network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NetworkLimits {}

/// The limits of `network`, which can then be checked inside a transaction.
#[allow(clippy::unused_async, reason = "plans are read from the database")]
pub(crate) async fn of(_app: &App, _network: NetworkId) -> Result<NetworkLimits, hub_db::Error> {
    Ok(NetworkLimits::default())
}

impl NetworkLimits {
    /// The most that `limit` allows.
    pub(crate) fn value(self, limit: Limit) -> i64 {
        limit.bound()
    }

    /// Refuses to add `added` to what is `used` where that is over `limit`.
    pub(crate) fn check(self, limit: Limit, used: i64, added: i64) -> Result<(), QuotaExceeded> {
        let value = self.value(limit);
        if used.saturating_add(added) > value { Err(QuotaExceeded { limit, value, used }) } else { Ok(()) }
    }
}

/// A network has used up a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The limit `{limit}` of this network is {value}, and {used} are used.")]
pub struct QuotaExceeded {
    /// Which limit.
    pub limit: Limit,
    /// The most that it allows.
    pub value: i64,
    /// What is used of it.
    pub used: i64,
}

impl From<QuotaExceeded> for ApiError {
    fn from(exceeded: QuotaExceeded) -> Self {
        let QuotaExceeded { limit, value, used } = exceeded;
        Self::new(StatusCode::FORBIDDEN, "quota_exceeded", exceeded.to_string()).details(ErrorDetails {
            limit: Some(limit.name().into()),
            value: Some(value),
            used: Some(used),
        })
    }
}
