//! What the store of one running call holds, and what its host functions do with it.

use crate::bounds;
use crate::clock::left_until;
use crate::contract::{HostError, LogLevel};
use crate::host::{EmptyHost, Host, HostAnswer, HostCall, HostCallRecord};
use crate::limits::Limits;
use crate::network::CpuTurn;
use crate::report::LogLine;
use crate::texts::{CandidateTexts, Text};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use wasmtime::{Error, ResourceLimiter, Result};

/// A host function that ends the call instead of answering.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stop {
    #[error("the deadline passed during a host call")]
    TimedOut,
    #[error("too many host calls")]
    HostCallLimit,
    /// The module asked for something that is not part of this call, which can only be a mistake in it.
    #[error("{0}")]
    NotOfThisCall(String),
}

/// The data of one call's store.
pub(crate) struct State {
    pub(crate) limits: Limits,
    pub(crate) deadline: Instant,
    pub(crate) runtime: Handle,
    pub(crate) turn: CpuTurn,
    /// The CPU time its thread had had when it began.
    pub(crate) cpu_before: Duration,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) texts: Option<Arc<dyn CandidateTexts>>,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) logs_dropped: u32,
    pub(crate) host_calls: Vec<HostCallRecord>,
    pub(crate) memory: Memory,
}

impl State {
    /// The call is over and the instance stays: lets go of what was the call's.
    pub(crate) fn leave(&mut self) {
        self.host = Arc::new(EmptyHost);
        self.texts = None;
    }

    /// Keeps a log line, as far as the limits allow.
    pub(crate) fn log(&mut self, level: LogLevel, mut message: String) {
        if self.logs.len() >= self.limits.log_lines {
            self.logs_dropped = self.logs_dropped.saturating_add(1);
            return;
        }
        message.truncate(message.floor_char_boundary(self.limits.log_line_bytes));
        self.logs.push(LogLine { level, message });
    }

    /// Counts a data call, has the host answer it before the deadline, and records both.
    pub(crate) fn ask<T>(
        &mut self,
        call: HostCall,
        pick: impl FnOnce(HostAnswer) -> Option<T>,
    ) -> Result<Result<T, HostError>> {
        if self.host_calls.len() >= self.limits.host_calls as usize {
            return Err(Error::new(Stop::HostCallLimit));
        }
        let answer = if let Err(why) = bounds::check(&call) {
            Err(HostError::Invalid(why))
        } else {
            let waiting = self.turn.while_waiting(self.host.answer(&call));
            let waiting = async { tokio::time::timeout(left_until(self.deadline), waiting).await };
            // This thread is the call's own: waiting on it holds up nobody else.
            self.runtime.block_on(waiting).map_err(|_| Error::new(Stop::TimedOut))?
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

    /// A text of a candidate of this call.
    pub(crate) fn text(&self, candidate: u32, text: Text) -> Result<String> {
        let found = self.texts()?.text(candidate as usize, text);
        found
            .map(str::to_owned)
            .ok_or_else(|| Error::new(Stop::NotOfThisCall(format!("there is no candidate {candidate} in this call"))))
    }

    /// The name of a region's number of this call.
    pub(crate) fn region_name(&self, region: u16) -> Result<String> {
        let found = self.texts()?.region_name(region);
        found
            .map(str::to_owned)
            .ok_or_else(|| Error::new(Stop::NotOfThisCall(format!("there is no region {region} in this call"))))
    }

    /// The number of a region's name in this call, in any case and with the two common short names.
    pub(crate) fn region_number(&self, name: &str) -> Result<Option<u16>> {
        let name = name.to_ascii_uppercase();
        let name = match name.as_str() {
            "EU" => "EUROPE",
            "US" => "NORTH_AMERICA",
            name => name,
        };
        Ok(self.texts()?.region_number(name))
    }

    /// The texts of this call's candidates, where it has any.
    fn texts(&self) -> Result<&dyn CandidateTexts> {
        self.texts.as_deref().ok_or_else(|| {
            Error::new(Stop::NotOfThisCall("candidates can be looked up in matchmaking calls only".into()))
        })
    }
}

/// Bounds linear memory and tables, and remembers whether the module ever wanted more.
pub(crate) struct Memory {
    pub(crate) limit: usize,
    pub(crate) peak: usize,
    pub(crate) denied: bool,
}

impl ResourceLimiter for Memory {
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
        // The pool's own bound on a table's elements holds.
        Ok(true)
    }
}
