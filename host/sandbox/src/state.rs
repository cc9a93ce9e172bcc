//! State of one running call, and the effects of its host functions.

use crate::bounds;
use crate::contract::state::{StateChanges, StateEntry};
use crate::contract::{HostError, LogLevel};
use crate::host::{EmptyHost, Host, HostAnswer, HostCall, HostCallRecord};
use crate::limits::Limits;
use crate::network::CpuPermit;
use crate::report::LogLine;
use crate::state_overlay::{ListRange, StateOverlay};
use crate::texts::{CandidateText, CandidateTexts};
use crate::time::CallTime;
use std::sync::Arc;
use tokio::runtime::Handle;
use wasmtime::{Error, ResourceLimiter, Result};

/// Ends the call from a host function.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostAbort {
    #[error("the module exceeded its computing time")]
    ComputedTooLong,
    #[error("caller timed out")]
    Late,
    #[error("too many host calls")]
    HostCallLimit,
    /// The module looked up an item that is not part of this call.
    #[error("{0}")]
    UnknownLookup(String),
}

/// The data of one call's store.
pub(crate) struct CallState {
    pub(crate) limits: Limits,
    pub(crate) time: CallTime,
    pub(crate) runtime: Handle,
    pub(crate) cpu_permit: CpuPermit,
    pub(crate) is_inline: bool,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) texts: Option<Arc<dyn CandidateTexts>>,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) logs_dropped: u32,
    pub(crate) host_calls: Vec<HostCallRecord>,
    /// Calls of host functions that touch data, also those that the host is not asked for.
    pub(crate) data_calls: u32,
    /// True if its point is an override, which has `store`; others have `state`.
    pub(crate) is_override: bool,
    pub(crate) overlay: StateOverlay,
    pub(crate) memory: MemoryLimiter,
}

impl CallState {
    /// Drops the data of a finished call; its instance stays.
    pub(crate) fn clear(&mut self) {
        self.host = Arc::new(EmptyHost);
        self.texts = None;
    }

    /// Keeps a log line within the limits.
    pub(crate) fn log(&mut self, level: LogLevel, mut message: String) {
        if self.logs.len() >= self.limits.log_lines {
            self.logs_dropped = self.logs_dropped.saturating_add(1);
            return;
        }
        message.truncate(message.floor_char_boundary(self.limits.log_line_bytes));
        self.logs.push(LogLine { level, message });
    }

    /// Counts a data call, which ends the call beyond its limit.
    fn count_data_call(&mut self) -> Result<()> {
        if self.data_calls >= self.limits.host_calls {
            return Err(Error::new(HostAbort::HostCallLimit));
        }
        self.data_calls += 1;
        Ok(())
    }

    /// Counts a data call, waits for the host's answer until the caller leaves, and records both.
    pub(crate) fn call_host<T>(
        &mut self,
        call: HostCall,
        pick: impl FnOnce(HostAnswer) -> Option<T>,
    ) -> Result<Result<T, HostError>> {
        self.count_data_call()?;
        if call.is_of_store() && !self.is_override {
            return Ok(Err(HostError::Unavailable));
        }
        self.ask_host(call, pick)
    }

    /// Waits for the host's answer to a call that is counted.
    fn ask_host<T>(
        &mut self,
        call: HostCall,
        pick: impl FnOnce(HostAnswer) -> Option<T>,
    ) -> Result<Result<T, HostError>> {
        let answer = if let Err(why) = bounds::check(&call) {
            Err(HostError::Invalid(why))
        } else {
            self.time.count();
            let waiting = self.cpu_permit.release_during(self.host.answer(&call));
            let waiting = self.time.clock.timeout_at(self.time.ends_at(), waiting);
            // If this thread is not the call's own, its other tasks are handed away meanwhile.
            tokio::task::block_in_place(|| self.runtime.block_on(waiting)).ok_or_else(|| Error::new(HostAbort::Late))?
        };
        let picked = answer.clone().map(pick);
        self.host_calls.push(HostCallRecord { call, answer });
        Ok(match picked {
            Ok(Some(value)) => Ok(value),
            Ok(None) => {
                tracing::error!("the host answered a module's call with the wrong kind of answer");
                Err(HostError::Unavailable)
            }
            Err(error) => Err(error),
        })
    }

    /// The reads and writes of `state`, which end with the call.
    pub(crate) fn take_state(&mut self) -> StateChanges {
        self.overlay.take()
    }

    /// Values of keys of `state`, with the call's own writes.
    pub(crate) fn state_values(&mut self, keys: &[String]) -> Result<Result<Vec<Option<String>>, HostError>> {
        self.count_data_call()?;
        if let Err(why) = bounds::check_state_keys(keys) {
            return Ok(Err(HostError::Invalid(why)));
        }
        let unknown = self.overlay.unknown(keys);
        if !unknown.is_empty() {
            let asked = unknown.len();
            let values = self.ask_host(HostCall::StateGet { keys: unknown.clone() }, |answer| match answer {
                HostAnswer::Values(values) if values.len() == asked => Some(values),
                _ => None,
            })?;
            match values {
                Ok(values) => self.overlay.learn(unknown, values),
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(keys.iter().map(|key| self.overlay.value(key)).collect())
    }

    /// Entries of `state`, with the call's own writes.
    pub(crate) fn state_entries(&mut self, range: &ListRange) -> Result<Result<Vec<StateEntry>, HostError>> {
        self.count_data_call()?;
        if let Err(why) = bounds::check_state_list(&range.prefix, range.after.as_deref(), range.limit) {
            return Ok(Err(HostError::Invalid(why)));
        }
        let committed = self.overlay.committed_range(range);
        let ListRange { prefix, after, limit } = committed.clone();
        let entries = self.ask_host(HostCall::StateList { prefix, after, limit }, |answer| match answer {
            HostAnswer::Entries(entries) => Some(entries),
            _ => None,
        })?;
        Ok(entries.map(|entries| self.overlay.list(range, committed, entries)))
    }

    /// Counts and checks a write of `state`, which the overlay keeps until the call is committed.
    pub(crate) fn check_state_write(
        &mut self,
        key: &str,
        value: &str,
        ttl_ms: Option<u64>,
    ) -> Result<Result<(), HostError>> {
        self.count_data_call()?;
        if self.is_override {
            return Ok(Err(HostError::Invalid("an override can read `state`, but not write it".into())));
        }
        Ok(bounds::check_state_write(key, value, ttl_ms).map_err(HostError::Invalid))
    }

    /// Waits, until the caller leaves, for the permit of a long call that runs on its caller's thread.
    pub(crate) fn claim_cpu(&mut self) -> Result<()> {
        if self.cpu_permit.is_held() {
            return Ok(());
        }
        let claiming = self.time.clock.timeout_at(self.time.ends_at(), self.cpu_permit.claim());
        let claimed = tokio::task::block_in_place(|| self.runtime.block_on(claiming));
        claimed.ok_or_else(|| Error::new(HostAbort::Late))
    }

    /// A text of a candidate of this call.
    pub(crate) fn text(&self, candidate: u32, text: CandidateText) -> Result<String> {
        let found = self.texts()?.text(candidate as usize, text);
        found.map(str::to_owned).ok_or_else(|| {
            Error::new(HostAbort::UnknownLookup(format!("there is no candidate {candidate} in this call")))
        })
    }

    /// The name of a region's number of this call.
    pub(crate) fn region_name(&self, region: u16) -> Result<String> {
        let found = self.texts()?.region_name(region);
        found
            .map(str::to_owned)
            .ok_or_else(|| Error::new(HostAbort::UnknownLookup(format!("there is no region {region} in this call"))))
    }

    /// Number of a region's name in this call, in any case and with the two common short names.
    pub(crate) fn region_number(&self, name: &str) -> Result<Option<u16>> {
        let name = name.to_ascii_uppercase();
        let name = match name.as_str() {
            "EU" => "EUROPE",
            "US" => "NORTH_AMERICA",
            name => name,
        };
        Ok(self.texts()?.region_number(name))
    }

    fn texts(&self) -> Result<&dyn CandidateTexts> {
        self.texts.as_deref().ok_or_else(|| {
            Error::new(HostAbort::UnknownLookup("candidates can be looked up in matchmaking calls only".into()))
        })
    }
}

/// Bounds linear memory, and remembers a request beyond the limit.
pub(crate) struct MemoryLimiter {
    pub(crate) limit: usize,
    pub(crate) peak: usize,
    pub(crate) denied: bool,
}

impl ResourceLimiter for MemoryLimiter {
    fn memory_growing(&mut self, _: usize, desired: usize, maximum: Option<usize>) -> Result<bool> {
        let allowed = desired <= self.limit && maximum.is_none_or(|maximum| desired <= maximum);
        if allowed {
            self.peak = self.peak.max(desired);
        } else {
            self.denied = true;
        }
        Ok(allowed)
    }

    fn table_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> Result<bool> {
        // Bounded by the pool.
        Ok(true)
    }
}
