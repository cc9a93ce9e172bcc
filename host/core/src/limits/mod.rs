//! Limits of a network's storage, open resources, computing time and request rates.
//!
//! A bound is the same for every network and cannot be raised by a plan: it protects networks from each other. The
//! network's plan sets lower limits; its changes take effect within a second on every node. Requests without a valid
//! key are limited per client address.
//!
//! `bounds` are those of the table, or lower ones of the operator; `usage` counts resources in memory, and the
//! database's triggers count stored data. Tables: `network_usage`, and `plans`, which it reads.

mod addresses;
mod document;
mod modules;
mod plan;
mod plan_store;
mod rates;
mod state;
mod store;
mod stored;
mod token_bucket;
mod usage;

pub use crate::bounds::{Bounds, Limit, LimitRow};
pub use addresses::address_block;
pub use document::{document, to_json};
pub use modules::{charge_module_time, has_module_time};
pub use plan::PointLimits;
pub use plan::{ModuleLimits, PlanLimits, RetentionDays, object};
pub use plan_store::StorageCounts;
pub(crate) use rates::{KnownCaller, PublicRoute, PublishingRoute, count_request};
pub use rates::{count_public_request, layer, page_layer, public_layer, remote_address};
pub use state::Limits;
pub use store::FILE_BYTES;
pub use stored::{check_storage, row_bytes, storage_counts, storage_counts_of};
pub use usage::Usage;
pub use usage::{Adding, OpenGuard, Rows, body_of_open, check_rows, open, open_instead, opened, used};

use std::sync::Arc;

use axum::http::StatusCode;
use hub_sandbox::contract::Point;

use crate::app::App;
use crate::http::error::{ApiError, ErrorDetails};
use crate::limits::plan::Plan;
use crate::values::NetworkId;

/// Limits of one network: its plan's, and the general ones.
#[derive(Clone, Debug)]
pub struct NetworkLimits {
    bounds: Bounds,
    plan: Arc<Plan>,
}

/// Limits of `network`, which can then be checked inside a transaction.
pub async fn of(app: &App, network: NetworkId) -> Result<NetworkLimits, hub_db::Error> {
    Ok(NetworkLimits::new(app, app.state::<Limits>().current(app, network).await?.plan()))
}

/// Refuses to add `added` to `used` if the result exceeds a bound without a plan limit.
pub fn check(app: &App, limit: Limit, used: i64, added: i64) -> Result<(), QuotaExceeded> {
    QuotaExceeded::check(limit, app.settings.limits.of(limit), used, added)
}

/// Bound without a plan limit.
pub fn bound(app: &App, limit: Limit) -> i64 {
    app.settings.limits.of(limit)
}

impl NetworkLimits {
    fn new(app: &App, plan: Arc<Plan>) -> Self {
        Self { bounds: app.settings.limits.clone(), plan }
    }

    /// Value of `limit`: the plan's, but at most the bound.
    pub fn value(&self, limit: Limit) -> i64 {
        let bound = self.bounds.of(limit);
        self.plan.quota(limit).map_or(bound, |quota| quota.min(bound))
    }

    /// Refuses to add `added` to `used` if the result exceeds `limit`.
    pub fn check(&self, limit: Limit, used: i64, added: i64) -> Result<(), QuotaExceeded> {
        QuotaExceeded::check(limit, self.value(limit), used, added)
    }

    /// Retention of audit log entries in days.
    pub fn audit_days(&self) -> i64 {
        self.plan.audit_days()
    }

    /// Retention of hourly usage in days.
    pub fn usage_days(&self) -> i64 {
        self.plan.usage_days()
    }

    /// Maximum number of days that the network may keep chat lines.
    pub fn max_chat_history_days(&self) -> i64 {
        self.plan.max_chat_history_days()
    }

    /// Number of days that the network keeps chat lines; 0: none are kept.
    pub fn chat_history_days(&self) -> i64 {
        self.plan.chat_history_days()
    }

    /// Retention of expiring data.
    pub fn retention_days(&self) -> RetentionDays {
        self.plan.retention_days
    }

    /// The plan's limits of one module call at a point.
    pub fn of_point(&self, point: Point) -> PointLimits {
        *self.plan.module_limits.of(point)
    }
}

/// Error: a network has reached a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The limit `{limit}` of this network is {value}, and {used} are used.")]
pub struct QuotaExceeded {
    /// Reached limit.
    pub limit: Limit,
    /// Value of the limit.
    pub value: i64,
    /// Current usage.
    pub used: i64,
}

impl QuotaExceeded {
    pub fn check(limit: Limit, value: i64, used: i64, added: i64) -> Result<(), Self> {
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
