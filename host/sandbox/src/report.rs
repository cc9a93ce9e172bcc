//! The report of a call once it is over.

use crate::contract::LogLevel;
use crate::host::HostCallRecord;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// One call of one module: its answer or failure, and its cost.
#[derive(Clone, Debug)]
pub struct CallReport<T> {
    /// The module's answer, checked against the bounds of its point.
    pub result: Result<T, CallFailure>,
    /// Microseconds from entering the sandbox to the answer, without waiting for a permit.
    pub micros: u64,
    /// Microseconds of its thread's processor time.
    pub compute_micros: u64,
    /// All other microseconds from the call's arrival to its end: for permits, host calls, and a processor.
    pub waited_micros: u64,
    /// Fuel used.
    pub fuel: u64,
    /// Maximum linear memory, in bytes.
    pub memory_bytes: usize,
    /// Log lines of the module.
    pub logs: Vec<LogLine>,
    /// Log lines dropped over the limit.
    pub logs_dropped: u32,
    /// Data calls of the module, in order.
    pub host_calls: Vec<HostCallRecord>,
}

impl<T> CallReport<T> {
    /// The report with its answer mapped.
    pub fn map<U>(self, map: impl FnOnce(T) -> U) -> CallReport<U> {
        CallReport {
            result: self.result.map(map),
            micros: self.micros,
            compute_micros: self.compute_micros,
            waited_micros: self.waited_micros,
            fuel: self.fuel,
            memory_bytes: self.memory_bytes,
            logs: self.logs,
            logs_dropped: self.logs_dropped,
            host_calls: self.host_calls,
        }
    }

    /// The report of a call that never entered the sandbox.
    pub(crate) fn not_run(failure: CallFailure) -> Self {
        Self {
            result: Err(failure),
            micros: 0,
            compute_micros: 0,
            waited_micros: 0,
            fuel: 0,
            memory_bytes: 0,
            logs: Vec::new(),
            logs_dropped: 0,
            host_calls: Vec::new(),
        }
    }
}

/// A log line of a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogLine {
    /// Severity of the line.
    pub level: LogLevel,
    /// The text, cut at the limit.
    pub message: String,
}

/// Times of a call, with its computing limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallTimes {
    /// Milliseconds of computing allowed.
    pub allowed_ms: u64,
    /// Milliseconds of computing used.
    pub used_ms: u64,
    /// All other milliseconds since it arrived.
    pub waited_ms: u64,
}

impl CallTimes {
    pub(crate) fn new(allowed: Duration, used: Duration, waited: Duration) -> Self {
        let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self { allowed_ms: millis(allowed), used_ms: millis(used), waited_ms: millis(waited) }
    }
}

impl fmt::Display for CallTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allowed_ms, used_ms, waited_ms } = self;
        write!(f, "{allowed_ms} ms of computing allowed, {used_ms} used; waited {waited_ms} ms")
    }
}

/// Reason for a call's missing answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize)]
#[serde(tag = "failure", rename_all = "camelCase")]
pub enum CallFailure {
    /// The module trapped: a panic, a stack overflow, an access out of bounds and the like.
    #[error("the module trapped: {message}")]
    Trap {
        /// Message of the trap.
        message: String,
        /// Backtrace by function names (and files and lines if the module carries them). May be empty.
        backtrace: String,
    },
    /// The module exceeded its computing time.
    #[error("the call computed for longer than its limit: {0}")]
    TimedOut(CallTimes),
    /// The fuel ran out.
    #[error("the call used up its fuel")]
    OutOfFuel,
    /// The module exceeded its memory limit, and gave up.
    #[error("the call needed more memory than its limit")]
    OutOfMemory,
    /// The module exceeded its limit of data calls.
    #[error("the call made more host calls than its limit")]
    HostCallLimit,
    /// The answer, or an argument of a host call, is outside the contract's bounds.
    #[error("the answer is invalid: {reason}")]
    InvalidAnswer {
        /// Description of the invalid part.
        reason: String,
    },
    /// The caller's waiting time ended, for a permit, for host calls or for a processor; not the module's fault.
    #[error("the call was late: {0}")]
    Late(CallTimes),
    /// The hub could not run the module; not the module's fault.
    #[error("the module could not be run: {reason}")]
    Unavailable {
        /// For the operator's log.
        reason: String,
    },
}

impl CallFailure {
    /// All codes.
    pub const CODES: [&'static str; 8] = [
        "trap",
        "timed_out",
        "out_of_fuel",
        "out_of_memory",
        "host_call_limit",
        "invalid_answer",
        "late",
        "unavailable",
    ];

    /// A stable code for statistics and the wire.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Trap { .. } => "trap",
            Self::TimedOut(_) => "timed_out",
            Self::OutOfFuel => "out_of_fuel",
            Self::OutOfMemory => "out_of_memory",
            Self::HostCallLimit => "host_call_limit",
            Self::InvalidAnswer { .. } => "invalid_answer",
            Self::Late(_) => "late",
            Self::Unavailable { .. } => "unavailable",
        }
    }

    /// True if it is the module's fault, so that its breaker counts it.
    pub const fn is_modules_fault(&self) -> bool {
        !matches!(self, Self::Late(_) | Self::Unavailable { .. })
    }
}
