//! One module in a chain.

use super::breaker::{Admission, Breaker, BreakerOpening, BreakerState, Verdict};
use super::shadow_stats::{ShadowCounter, ShadowStats};
use super::stats::{LinkStats, Stats};
use crate::contract::Point;
use crate::host::Host;
use crate::inline::InlineGate;
use crate::instance_pool::PoolKey;
use crate::limits::Limits;
use crate::module::ModuleHandle;
use crate::report::{CallFailure, CallReport};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Effect of a module's failed call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum OnFailure {
    /// The chain continues without the module.
    #[default]
    Skip,
    /// The chain refuses.
    Refuse,
}

/// Mode of a module in a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// For every call.
    #[default]
    Active,
    /// For this share of the players, always the same ones, and for them instead of the active links of the same name.
    Canary {
        /// 1 to 100.
        percent: u8,
    },
    /// Beside the others and without effect, for comparison.
    Shadow,
}

/// Lifetime of a module's instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instances {
    /// Each call has an instance of its own.
    #[default]
    Fresh,
    /// Calls of this link share instances, which may be dropped at any time.
    Reused,
}

/// Configuration of a module in a chain.
pub struct LinkConfig {
    /// The module.
    pub module: ModuleHandle,
    /// Name of the module in the network.
    pub name: String,
    /// Its version under that name.
    pub version: u64,
    /// Its configuration: the text of one JSON object.
    pub config: String,
    /// Mode in which it runs.
    pub mode: Mode,
    /// Lifetime of its instances.
    pub instances: Instances,
    /// Effect of its failed call.
    pub on_failure: OnFailure,
    /// Initial limits of its calls; see [`Limits::of`] and [`Link::set_limits`].
    pub limits: Limits,
    /// Host of its data calls, bound to this network and module. A shadow's host must isolate its writes.
    pub host: Arc<dyn Host>,
}

impl LinkConfig {
    /// True if the module serves a point.
    pub fn serves(&self, point: Point) -> bool {
        self.module.points().contains(&point)
    }
}

/// A module in a chain, with its breaker and its statistics.
pub struct Link {
    pub(super) config: Arc<LinkConfig>,
    pub(super) shadow: ShadowCounter,
    limits: Mutex<Limits>,
    breaker: Breaker,
    stats: Stats,
    pool_key: PoolKey,
    pub(super) inline: InlineGate,
}

impl Link {
    /// A link whose breaker is closed and whose statistics are empty.
    pub fn new(config: LinkConfig) -> Self {
        Self {
            limits: Mutex::new(config.limits),
            config: Arc::new(config),
            shadow: ShadowCounter::default(),
            breaker: Breaker::default(),
            stats: Stats::default(),
            pool_key: PoolKey::new(),
            inline: InlineGate::default(),
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &Arc<LinkConfig> {
        &self.config
    }

    /// Limits of its calls.
    pub fn limits(&self) -> Limits {
        *self.limits.lock()
    }

    /// Changes the limits of its calls, from the next one on.
    pub fn set_limits(&self, limits: Limits) {
        *self.limits.lock() = limits;
    }

    /// Comparison of its answers, if it is a shadow.
    pub fn shadow(&self) -> Option<ShadowStats> {
        (self.config.mode == Mode::Shadow).then(|| self.shadow.read())
    }

    /// Recent costs of its calls.
    pub fn stats(&self) -> LinkStats {
        self.stats.read()
    }

    /// State of its breaker, at a time in milliseconds since the Unix epoch.
    pub fn breaker(&self, now_ms: u64) -> BreakerState {
        self.breaker.state(now_ms)
    }

    /// Closes its breaker, regardless of earlier failures.
    pub fn close_breaker(&self) {
        self.breaker.close();
    }

    /// Key of the instances that its calls share; `None` for fresh instances.
    pub(super) fn pool_key(&self) -> Option<PoolKey> {
        (self.config.instances == Instances::Reused).then_some(self.pool_key)
    }

    /// Admits a call, unless its breaker is open.
    pub(super) fn admit(&self, now_ms: u64) -> Option<Admission<'_>> {
        self.breaker.admit(now_ms)
    }

    /// Counts a call; returns the opening if its breaker has opened by it.
    pub(super) fn record<T>(
        &self,
        admission: Admission<'_>,
        report: &CallReport<T>,
        now_ms: u64,
    ) -> Option<BreakerOpening> {
        self.stats.record(report);
        self.inline.record(Duration::from_micros(report.compute_micros));
        if let Err(CallFailure::Unavailable { reason }) = &report.result {
            tracing::warn!(module = self.config.name, version = self.config.version, reason, "module call failed");
        }
        let verdict = match &report.result {
            Ok(_) => Verdict::Succeeded,
            Err(failure) if failure.is_modules_fault() => Verdict::Failed,
            Err(_) => Verdict::NotCounted,
        };
        admission.record(verdict, now_ms)
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("name", &self.config.name)
            .field("version", &self.config.version)
            .field("module", &self.config.module)
            .finish_non_exhaustive()
    }
}
