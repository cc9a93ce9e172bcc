//! What one network may store, keep open and have computed.
//!
//! A bound is the same for every network and no plan lifts it: it stops one network from stopping another.
//!
//! `bounds` are those of the table, or lower ones of the operator; `usage` counts in memory what networks use.

mod bounds;
mod document;
mod limit;
mod store;
mod usage;

pub use bounds::Bounds;
pub use document::document;
pub use limit::Limit;
pub(crate) use store::FILE_BYTES;
pub use usage::Usage;
pub(crate) use usage::{OpenGuard, Rows, check_rows, open};

use axum::http::StatusCode;

use crate::app::App;
use crate::http::error::{ApiError, ErrorDetails};
use crate::values::NetworkId;

/// The limits of one network.
#[derive(Clone, Debug, Default)]
pub(crate) struct NetworkLimits {
    bounds: Bounds,
}

/// The limits of `network`, which can then be checked inside a transaction.
#[allow(clippy::unused_async, reason = "plans are read from the database")]
pub(crate) async fn of(app: &App, _network: NetworkId) -> Result<NetworkLimits, hub_db::Error> {
    Ok(NetworkLimits { bounds: app.settings.limits.clone() })
}

/// Refuses to add `added` to what is `used` where that is over a bound that no plan lowers.
pub(crate) fn check(app: &App, limit: Limit, used: i64, added: i64) -> Result<(), QuotaExceeded> {
    QuotaExceeded::check(limit, app.settings.limits.of(limit), used, added)
}

/// A bound that no plan lowers.
pub(crate) fn bound(app: &App, limit: Limit) -> i64 {
    app.settings.limits.of(limit)
}

impl NetworkLimits {
    /// The most that `limit` allows.
    pub(crate) fn value(&self, limit: Limit) -> i64 {
        self.bounds.of(limit)
    }

    /// Refuses to add `added` to what is `used` where that is over `limit`.
    pub(crate) fn check(&self, limit: Limit, used: i64, added: i64) -> Result<(), QuotaExceeded> {
        QuotaExceeded::check(limit, self.value(limit), used, added)
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

impl QuotaExceeded {
    pub(crate) fn check(limit: Limit, value: i64, used: i64, added: i64) -> Result<(), Self> {
        if used.saturating_add(added) > value { Err(Self { limit, value, used }) } else { Ok(()) }
    }
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
