//! What one network may store, keep open and have computed, and how fast it may call.
//!
//! A bound is the same for every network and no plan lifts it: it stops one network from stopping another. A network's
//! plan says the rest; a change of it is in effect within a second, on every node. What needs no valid key is limited per
//! remote address.
//!
//! `bounds` are those of the table, or lower ones of the operator; `usage` counts in memory what networks use, and the
//! database's triggers what they store.
//! Tables: `network_usage`, and `plans`, which it reads.

mod addresses;
mod bounds;
mod document;
mod limit;
mod modules;
mod plan;
mod plan_store;
mod rates;
mod state;
mod store;
mod stored;
mod token_bucket;
mod usage;

pub(crate) use addresses::address_block;
pub use bounds::Bounds;
pub use document::{document, to_json};
pub use limit::Limit;
pub(crate) use modules::{charge_module_time, has_module_time};
pub(crate) use plan::{ModuleLimits, PlanLimits, PointLimits, RetentionDays, object};
pub(crate) use plan_store::StorageCounts;
pub(crate) use rates::{PublicRoute, PublishingRoute, count_request, layer, public_layer, remote_address};
pub use state::Limits;
pub(crate) use store::FILE_BYTES;
pub(crate) use stored::{check_storage, row_bytes, storage_counts, storage_counts_of};
pub use usage::Usage;
pub(crate) use usage::{OpenGuard, Rows, body_of_open, check_rows, open};

use std::sync::Arc;

use axum::http::StatusCode;
use hub_sandbox::contract::Point;

use crate::app::App;
use crate::http::error::{ApiError, ErrorDetails};
use crate::limits::plan::Plan;
use crate::values::NetworkId;

/// The limits of one network: of its plan, and those that everybody has.
#[derive(Clone, Debug)]
pub(crate) struct NetworkLimits {
    bounds: Bounds,
    plan: Arc<Plan>,
}

/// The limits of `network`, which can then be checked inside a transaction.
pub(crate) async fn of(app: &App, network: NetworkId) -> Result<NetworkLimits, hub_db::Error> {
    Ok(NetworkLimits::new(app, app.limits.current(app, network).await?.plan()))
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
    fn new(app: &App, plan: Arc<Plan>) -> Self {
        Self { bounds: app.settings.limits.clone(), plan }
    }

    /// The most that `limit` allows: what the plan says, and never more than the bound.
    pub(crate) fn value(&self, limit: Limit) -> i64 {
        let bound = self.bounds.of(limit);
        self.plan.quota(limit).map_or(bound, |quota| quota.min(bound))
    }

    /// Refuses to add `added` to what is `used` where that is over `limit`.
    pub(crate) fn check(&self, limit: Limit, used: i64, added: i64) -> Result<(), QuotaExceeded> {
        QuotaExceeded::check(limit, self.value(limit), used, added)
    }

    /// How many days entries of the audit log stay.
    pub(crate) fn audit_days(&self) -> i64 {
        self.plan.audit_days()
    }

    /// How many days hours of usage stay.
    pub(crate) fn usage_days(&self) -> i64 {
        self.plan.usage_days()
    }

    /// For how long what grows old is kept.
    pub(crate) fn retention_days(&self) -> RetentionDays {
        self.plan.retention_days
    }

    /// What one call of a module may cost at a point, as far as the plan says.
    pub(crate) fn of_point(&self, point: Point) -> PointLimits {
        *self.plan.module_limits.of(point)
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
            ..ErrorDetails::default()
        })
    }
}
