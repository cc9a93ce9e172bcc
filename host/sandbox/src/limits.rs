//! Limits of a call, and of a compilation.

use crate::contract::Point;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Maximum duration of a module's punishment: ten years, in milliseconds.
pub const MAX_DURATION_MS: u64 = 10 * 365 * 24 * 60 * 60 * 1000;
/// Maximum length of a rewritten chat line, in characters.
pub const MAX_LINE_CHARS: usize = 1024;
/// Maximum length of a reason, in characters.
pub const MAX_REASON_CHARS: usize = 256;
/// Maximum number of follow-ups of one review.
pub const MAX_FOLLOW_UPS: usize = 8;

/// Ratio of the caller's waiting time to the module's computing time.
const WAIT_FACTOR: u32 = 10;
/// Waiting time of endpoints, whose callers wait.
const ENDPOINT_WAIT: Duration = Duration::from_secs(5);
/// Waiting time of handlers, for which no player waits.
const HANDLER_WAIT: Duration = Duration::from_secs(30);
/// Waiting time of schedules and timers.
const SCHEDULE_WAIT: Duration = Duration::from_mins(1);

/// Limits of one call of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// Processor time of the call's thread: computing of the module itself, without waiting.
    pub compute: Duration,
    /// Maximum time that the caller waits for the answer: for permits, for host calls, and while the module computes.
    pub wait: Duration,
    /// WebAssembly instructions, roughly; unlike time, the same in every run.
    pub fuel: u64,
    /// Linear memory, in bytes, at most [`crate::SandboxConfig::max_memory_bytes`].
    pub memory_bytes: usize,
    /// Host calls that touch data.
    pub host_calls: u32,
    /// Maximum number of log lines kept; more are counted and dropped.
    pub log_lines: usize,
    /// Maximum bytes kept of a log line.
    pub log_line_bytes: usize,
}

impl Limits {
    /// The default limits of a point.
    pub const fn of(point: Point) -> Self {
        let (compute_ms, fuel, host_calls) = match point {
            Point::Matchmaking | Point::Login => (25, 100_000_000, 8),
            Point::Chat | Point::Economy | Point::Queue => (10, 50_000_000, 8),
            Point::Punishment => (50, 200_000_000, 8),
            Point::Events => (100, 400_000_000, 32),
            Point::Endpoints => (50, 200_000_000, 16),
            Point::Schedules => (1_000, 4_000_000_000, 128),
        };
        let compute = Duration::from_millis(compute_ms);
        Self {
            compute,
            wait: match point {
                Point::Events => HANDLER_WAIT,
                Point::Endpoints => ENDPOINT_WAIT,
                Point::Schedules => SCHEDULE_WAIT,
                Point::Matchmaking | Point::Chat | Point::Punishment | Point::Login | Point::Economy | Point::Queue => {
                    compute.saturating_mul(WAIT_FACTOR)
                }
            },
            fuel,
            memory_bytes: 64 << 20,
            host_calls,
            log_lines: 64,
            log_line_bytes: 2048,
        }
    }

    /// With another computing time, and ten times that to wait; the longer wait of handlers stays.
    #[must_use]
    pub const fn with_compute(self, compute: Duration) -> Self {
        let wait = compute.saturating_mul(WAIT_FACTOR);
        let is_handler = self.wait.as_nanos() > self.compute.saturating_mul(WAIT_FACTOR).as_nanos();
        let wait = if is_handler && wait.as_nanos() < self.wait.as_nanos() { self.wait } else { wait };
        Self { compute, wait, ..self }
    }
}

/// The default share of one network, which leaves the other half to all others.
pub(crate) fn half_the_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, |cpus| (cpus.get() / 2).max(1))
}

/// Limits of compiling one module, enforced on the child process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompileLimits {
    /// Time from start to result; long, because it runs at background priority.
    pub wall: Duration,
    /// CPU time over all its threads, in seconds.
    pub cpu_seconds: u64,
    /// Address space, in bytes.
    pub memory_bytes: u64,
    /// Maximum size of an upload, in bytes.
    pub module_bytes: usize,
    /// Maximum number of compiling threads.
    pub threads: usize,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self {
            wall: Duration::from_mins(10),
            // Dense code of the largest upload takes some 90 s on a slow core.
            cpu_seconds: 120,
            memory_bytes: 4 << 30,
            module_bytes: 64 << 20,
            threads: half_the_cpus(),
        }
    }
}
