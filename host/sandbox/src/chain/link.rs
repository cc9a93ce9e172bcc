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

/// What a failed call of a module means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum OnFailure {
    /// The chain goes on without the module.
    #[default]
    Skip,
    /// The chain refuses.
    Refuse,
}

/// When a module of a chain runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// For every call.
    #[default]
    Active,
    /// For this share of the players, always the same ones, and for them in the place of the active links of the same
    /// name.
    Canary {
        /// 1 to 100.
        percent: u8,
    },
    /// Beside the others and without effect, to be compared with them.
    Shadow,
}

/// Whether what a module keeps in its memory outlives a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instances {
    /// Each call has an instance of its own.
    #[default]
    Fresh,
    /// Calls of this link share instances, which may be thrown away at any time.
    Reused,
}

/// A module's place in a chain.
pub struct LinkConfig {
    /// The module.
    pub module: ModuleHandle,
    /// Its name in the network.
    pub name: String,
    /// Its version under that name.
    pub version: u64,
    /// Its configuration: the text of one JSON object.
    pub config: String,
    /// When it runs.
    pub mode: Mode,
    /// Whether its calls share instances.
    pub instances: Instances,
    /// What a failed call of it means.
    pub on_failure: OnFailure,
    /// What a call of it may cost at first; see [`Limits::of`] and [`Link::set_limits`].
    pub limits: Limits,
    /// Answers its data calls, bound to this network and module. That of a shadow must keep writes to itself.
    pub host: Arc<dyn Host>,
}

impl LinkConfig {
    /// Whether the module serves a point.
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

    /// How it was set up.
    pub fn config(&self) -> &Arc<LinkConfig> {
        &self.config
    }

    /// What a call of it may cost.
    pub fn limits(&self) -> Limits {
        *self.limits.lock()
    }

    /// Changes what a call of it may cost, from the next one on.
    pub fn set_limits(&self, limits: Limits) {
        *self.limits.lock() = limits;
    }

    /// How its answers compare, where it is a shadow.
    pub fn shadow(&self) -> Option<ShadowStats> {
        (self.config.mode == Mode::Shadow).then(|| self.shadow.read())
    }

    /// What it has cost lately.
    pub fn stats(&self) -> LinkStats {
        self.stats.read()
    }

    /// Whether its module is called, at a time in milliseconds since the Unix epoch.
    pub fn breaker(&self, now_ms: u64) -> BreakerState {
        self.breaker.state(now_ms)
    }

    /// Closes its breaker, whatever failed before.
    pub fn close_breaker(&self) {
        self.breaker.close();
    }

    /// The key of the instances its calls share; none where they share none.
    pub(super) fn pool_key(&self) -> Option<PoolKey> {
        (self.config.instances == Instances::Reused).then_some(self.pool_key)
    }

    /// Whether a call may go ahead, or its breaker stops it.
    pub(super) fn admit(&self, now_ms: u64) -> Option<Admission<'_>> {
        self.breaker.admit(now_ms)
    }

    /// Counts a call; the opening where its breaker has opened by it.
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
