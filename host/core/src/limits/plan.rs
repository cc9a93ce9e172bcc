//! Contents of a plan: rates, quotas, and limits of module calls.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use hub_sandbox::contract::Point;
use hub_sandbox::{Limits, MAX_CHAIN_CALLS};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::ToSchema;

use crate::limits::Limit;
use crate::limits::token_bucket::Rate;

/// Maximum rate in a plan, in requests or events per second.
const FASTEST: i64 = 1_000_000;
/// Maximum computing time of a module call in a plan.
const MAX_COMPUTE_MILLIS: i64 = 1_000;
/// Maximum memory of any module call.
const MAX_MEMORY_BYTES: i64 = 64 << 20;
/// Maximum retention of audit log entries in a plan, and the default.
const MAX_AUDIT_DAYS: i64 = 3_650;
const AUDIT_DAYS: i64 = 365;
/// Maximum retention of hourly usage in a plan, and the default: a year and a month.
const MAX_USAGE_DAYS: i64 = 3_650;
const USAGE_DAYS: i64 = 400;
const MAX_RETENTION_DAYS: i64 = 36_500;
/// Maximum retention of chat lines.
const MAX_CHAT_HISTORY_DAYS: i64 = 30;
const MAX_FUEL: i64 = 1_000_000_000_000;
const MAX_HOST_CALLS: i64 = 64;
const MAX_LOG_LINES: i64 = 256;
/// Half of the calls that the hub runs concurrently, so that the other half remains for others.
const MAX_CONCURRENCY: i64 = 32;

/// Limits of networks on a plan. Null or absent: only the general limits apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PlanLimits {
    /// Requests per second of all keys together.
    #[serde(deserialize_with = "within::<_, 1, FASTEST>")]
    #[schema(minimum = 1, maximum = 1_000_000, example = 200)]
    pub(crate) requests_per_second: Option<i64>,
    /// Maximum burst of requests; by default the number per second.
    #[serde(deserialize_with = "within::<_, 1, FASTEST>")]
    #[schema(minimum = 1, maximum = 1_000_000, example = 400)]
    pub(crate) request_burst: Option<i64>,
    /// Requests per second of each key.
    #[serde(deserialize_with = "within::<_, 1, FASTEST>")]
    #[schema(minimum = 1, maximum = 1_000_000, example = 100)]
    pub(crate) key_requests_per_second: Option<i64>,
    /// Event publishing requests per second.
    #[serde(deserialize_with = "within::<_, 1, FASTEST>")]
    #[schema(minimum = 1, maximum = 1_000_000, example = 50)]
    pub(crate) events_per_second: Option<i64>,
    /// Registered servers.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 100)]
    pub servers: Option<i64>,
    /// Open event streams.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 200)]
    pub streams: Option<i64>,
    /// Keys that are neither revoked nor expired.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 50)]
    pub keys: Option<i64>,
    /// Online players.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 2_000)]
    pub players: Option<i64>,
    /// Documents of all collections.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 100_000)]
    pub documents: Option<i64>,
    /// Bytes of players' data, documents, config documents, the catalog and modules' stores.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 1_073_741_824_i64)]
    pub storage_bytes: Option<i64>,
    /// Bytes of artifacts, bundles, snapshots and modules.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 10_737_418_240_i64)]
    pub file_bytes: Option<i64>,
    /// Versions of modules.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 20)]
    pub modules: Option<i64>,
    /// Webhooks.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 5)]
    pub webhooks: Option<i64>,
    /// Players who wait in lines.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 5_000)]
    pub waiting: Option<i64>,
    /// Open deliveries: pending, claimed or held ones.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 10_000)]
    pub deliveries: Option<i64>,
    /// Reports that are not closed.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 1_000)]
    pub reports: Option<i64>,
    /// Computing time of all modules together, in milliseconds per second; once it is used up, the built-in behaviour
    /// applies.
    #[serde(deserialize_with = "quota")]
    #[schema(minimum = 0, example = 250)]
    pub(crate) module_millis_per_second: Option<i64>,
    /// Retention of audit log entries in days (default 365).
    #[serde(deserialize_with = "within::<_, 1, MAX_AUDIT_DAYS>")]
    #[schema(minimum = 1, maximum = 3_650, example = 365)]
    pub audit_days: Option<i64>,
    /// Retention of hourly usage in days (default 400).
    #[serde(deserialize_with = "within::<_, 1, MAX_USAGE_DAYS>")]
    #[schema(minimum = 1, maximum = 3_650, example = 400)]
    pub usage_days: Option<i64>,
    /// Days after which players' addresses not seen again are deleted.
    #[serde(deserialize_with = "within::<_, 1, MAX_RETENTION_DAYS>")]
    #[schema(minimum = 1, maximum = 36_500, example = 90)]
    pub(crate) address_days: Option<i64>,
    /// Days after which server console lines are deleted.
    #[serde(deserialize_with = "within::<_, 1, MAX_RETENTION_DAYS>")]
    #[schema(minimum = 1, maximum = 36_500, example = 14)]
    pub(crate) log_days: Option<i64>,
    /// Days after which ledger entries are deleted.
    #[serde(deserialize_with = "within::<_, 1, MAX_RETENTION_DAYS>")]
    #[schema(minimum = 1, maximum = 36_500, example = 3_650)]
    pub(crate) ledger_days: Option<i64>,
    /// Days after which statistics of days, weeks and months are deleted, from their last change; lifetime statistics
    /// stay.
    #[serde(deserialize_with = "within::<_, 1, MAX_RETENTION_DAYS>")]
    #[schema(minimum = 1, maximum = 36_500, example = 730)]
    pub(crate) statistics_days: Option<i64>,
    /// Maximum number of days that a network may keep chat lines (default 30); 0: none are kept.
    #[serde(deserialize_with = "within::<_, 0, MAX_CHAT_HISTORY_DAYS>")]
    #[schema(minimum = 0, maximum = 30, example = 7)]
    pub(crate) chat_history_days: Option<i64>,
    /// 1: these networks are among the up to 50 shown individually in the operator's metrics.
    #[serde(deserialize_with = "within::<_, 0, 1>")]
    #[schema(minimum = 0, maximum = 1, example = 1)]
    pub(crate) network_metrics: Option<i64>,
}

/// Retention of a plan's expiring data in days; none: forever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetentionDays {
    pub addresses: Option<i64>,
    pub logs: Option<i64>,
    pub ledger: Option<i64>,
    pub statistics: Option<i64>,
}

/// Limits of one module call at an extension point, and of concurrent calls. Null or absent: the point's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PointLimits {
    /// Computing time of the module, in milliseconds.
    #[serde(deserialize_with = "within::<_, 1, MAX_COMPUTE_MILLIS>")]
    #[schema(minimum = 1, maximum = 1_000, example = 25)]
    pub compute_millis: Option<i64>,
    /// Approximate number of WebAssembly instructions.
    #[serde(deserialize_with = "within::<_, 1, MAX_FUEL>")]
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64, example = 100_000_000)]
    pub fuel: Option<i64>,
    /// Memory in bytes.
    #[serde(deserialize_with = "within::<_, 65_536, MAX_MEMORY_BYTES>")]
    #[schema(minimum = 65_536, maximum = 67_108_864, example = 67_108_864)]
    pub memory_bytes: Option<i64>,
    /// Host calls that access data.
    #[serde(deserialize_with = "within::<_, 0, MAX_HOST_CALLS>")]
    #[schema(minimum = 0, maximum = 64, example = 8)]
    pub host_calls: Option<i64>,
    /// Stored log lines.
    #[serde(deserialize_with = "within::<_, 0, MAX_LOG_LINES>")]
    #[schema(minimum = 0, maximum = 256, example = 64)]
    pub log_lines: Option<i64>,
    /// Concurrent calls; others wait.
    #[serde(deserialize_with = "within::<_, 1, MAX_CONCURRENCY>")]
    #[schema(minimum = 1, maximum = 32, example = 8)]
    pub concurrency: Option<i64>,
}

/// Limits of one module call, by extension point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ModuleLimits {
    #[serde(deserialize_with = "or_default")]
    pub matchmaking: PointLimits,
    #[serde(deserialize_with = "or_default")]
    pub chat: PointLimits,
    #[serde(deserialize_with = "or_default")]
    pub punishment: PointLimits,
    #[serde(deserialize_with = "or_default")]
    pub login: PointLimits,
    #[serde(deserialize_with = "or_default")]
    pub economy: PointLimits,
    #[serde(deserialize_with = "or_default")]
    pub queue: PointLimits,
}

/// Limits of a point that a plan does not change.
static POINT_DEFAULTS: PointLimits = PointLimits {
    compute_millis: None,
    fuel: None,
    memory_bytes: None,
    host_calls: None,
    log_lines: None,
    concurrency: None,
};

impl ModuleLimits {
    /// Limits of one point.
    pub fn of(&self, point: Point) -> &PointLimits {
        match point {
            Point::Matchmaking => &self.matchmaking,
            Point::Chat => &self.chat,
            Point::Punishment => &self.punishment,
            Point::Login => &self.login,
            Point::Economy => &self.economy,
            Point::Queue => &self.queue,
            Point::Events | Point::Endpoints | Point::Schedules => &POINT_DEFAULTS,
        }
    }
}

impl PointLimits {
    /// Maximum number of concurrent calls.
    pub fn max_calls(&self) -> usize {
        self.concurrency.and_then(|calls| usize::try_from(calls).ok()).unwrap_or(MAX_CHAIN_CALLS)
    }

    /// Applies these limits on top of the default ones.
    pub fn apply(&self, usual: Limits) -> Limits {
        let compute = self.compute_millis.map(|millis| Duration::from_millis(millis.unsigned_abs()));
        let usual = compute.map_or(usual, |compute| usual.with_compute(compute));
        let size = |value: Option<i64>| value.and_then(|value| usize::try_from(value).ok());
        Limits {
            fuel: self.fuel.map_or(usual.fuel, i64::unsigned_abs),
            memory_bytes: size(self.memory_bytes).unwrap_or(usual.memory_bytes),
            host_calls: self.host_calls.and_then(|value| u32::try_from(value).ok()).unwrap_or(usual.host_calls),
            log_lines: size(self.log_lines).unwrap_or(usual.log_lines),
            ..usual
        }
    }
}

/// Rates of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rates {
    pub(super) requests: Option<Rate>,
    pub(super) key_requests: Option<Rate>,
    pub(super) events: Option<Rate>,
}

/// Computing time of modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ModuleTime {
    /// None.
    None,
    /// Microseconds per second.
    PerSecond(Rate),
}

impl PlanLimits {
    /// True if responses report rates.
    pub fn has_rates(&self) -> bool {
        self.rates().is_some()
    }

    /// True if a burst is set without its rate.
    pub fn has_lone_burst(&self) -> bool {
        self.request_burst.is_some() && self.requests_per_second.is_none()
    }

    /// Rates of the plan, if any.
    fn rates(&self) -> Option<Rates> {
        let second = |tokens: i64| Rate::per_second(tokens, tokens);
        let rates = Rates {
            requests: self
                .requests_per_second
                .map(|tokens| Rate::per_second(tokens, self.request_burst.unwrap_or(tokens))),
            key_requests: self.key_requests_per_second.map(second),
            events: self.events_per_second.map(second),
        };
        let any = rates.requests.or(rates.key_requests).or(rates.events);
        any.map(|_| rates)
    }

    /// Computing time of modules per second, in microseconds.
    fn module_time(&self) -> Option<ModuleTime> {
        let millis = self.module_millis_per_second?;
        let micros = millis.saturating_mul(1_000);
        Some(if micros == 0 { ModuleTime::None } else { ModuleTime::PerSecond(Rate::per_second(micros, micros)) })
    }

    /// The plan's values of general limits.
    fn quotas(&self) -> BTreeMap<&'static str, i64> {
        let quotas = [
            ("servers", self.servers),
            ("streams", self.streams),
            ("keys", self.keys),
            ("players", self.players),
            ("documents", self.documents),
            ("storageBytes", self.storage_bytes),
            ("fileBytes", self.file_bytes),
            ("modules", self.modules),
            ("webhooks", self.webhooks),
            ("waiting", self.waiting),
            ("deliveries", self.deliveries),
            ("reports", self.reports),
        ];
        quotas.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// A plan, ready for checks.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    quotas: BTreeMap<&'static str, i64>,
    pub(super) rates: Option<Rates>,
    pub(super) module_time: Option<ModuleTime>,
    pub(super) module_limits: ModuleLimits,
    audit_days: Option<i64>,
    usage_days: Option<i64>,
    max_chat_history_days: i64,
    chat_history_days: i64,
    pub(super) retention_days: RetentionDays,
}

impl Plan {
    /// Retention of audit log entries.
    pub(super) fn audit_days(&self) -> i64 {
        self.audit_days.unwrap_or(AUDIT_DAYS)
    }

    /// Retention of hourly usage.
    pub(super) fn usage_days(&self) -> i64 {
        self.usage_days.unwrap_or(USAGE_DAYS)
    }

    /// Maximum number of days that the network may keep chat lines.
    pub(super) fn max_chat_history_days(&self) -> i64 {
        self.max_chat_history_days
    }

    /// Number of days that the network keeps chat lines.
    pub(super) fn chat_history_days(&self) -> i64 {
        self.chat_history_days.min(self.max_chat_history_days)
    }

    /// `chat_history_days` is the network's own choice.
    pub(super) fn new(limits: &PlanLimits, module_limits: ModuleLimits, chat_history_days: i64) -> Self {
        Self {
            quotas: limits.quotas(),
            rates: limits.rates(),
            module_time: limits.module_time(),
            module_limits,
            audit_days: limits.audit_days,
            usage_days: limits.usage_days,
            max_chat_history_days: limits.chat_history_days.unwrap_or(MAX_CHAT_HISTORY_DAYS),
            chat_history_days,
            retention_days: RetentionDays {
                addresses: limits.address_days,
                logs: limits.log_days,
                ledger: limits.ledger_days,
                statistics: limits.statistics_days,
            },
        }
    }

    /// The plan's value of a limit, if set.
    pub(super) fn quota(&self, limit: Limit) -> Option<i64> {
        if self.quotas.is_empty() { None } else { self.quotas.get(limit.name()).copied() }
    }
}

fn within<'de, D: Deserializer<'de>, const MIN: i64, const MAX: i64>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let value = Option::<i64>::deserialize(deserializer)?;
    if value.is_some_and(|value| !(MIN..=MAX).contains(&value)) {
        return Err(de::Error::custom(format_args!("must be {MIN} to {MAX}, or null")));
    }
    Ok(value)
}

fn quota<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    let value = Option::<i64>::deserialize(deserializer)?;
    if value.is_some_and(i64::is_negative) {
        return Err(de::Error::custom("must be 0 or more, or null"));
    }
    Ok(value)
}

fn or_default<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PointLimits, D::Error> {
    Ok(object(deserializer)?.unwrap_or_default())
}

/// Deserializes a struct from an object or null: serde also accepts an array of its fields.
pub fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    deserializer.deserialize_any(ObjectVisitor(PhantomData))
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }
}
