//! The modules' logs in memory: the newest lines of each module's production calls, and their followers.

use std::collections::VecDeque;
use std::sync::Arc;

use hub_sandbox::contract::{LogLevel, Point};
use hub_sandbox::{BreakerOpening, Call, CallFailure, CallReport, LinkConfig};
use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::broadcast;
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::values::NetworkId;

/// Lines kept per module.
pub(super) const MAX_LINES: usize = 1000;
/// Bytes of text kept per module.
const MAX_BYTES: usize = 512 * 1024;
/// Number of modules with kept lines; the longest idle one is evicted.
const MAX_MODULES: u64 = 1000;
/// Lines a slow follower may lag behind before it misses some.
const FOLLOWER_BUFFER: usize = 256;

/// A line of a module's log.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModuleLogLine)]
pub(super) struct Line {
    /// Time of the call.
    pub(super) at: Millis,
    #[schema(value_type = String, example = "matchmaking")]
    pub(super) point: Point,
    #[schema(example = 1)]
    pub(super) version: i64,
    /// Id of the call, shared by its lines.
    pub(super) call_id: String,
    /// DEBUG, INFO, WARN or ERROR.
    #[schema(value_type = String, example = "INFO")]
    pub(super) level: &'static str,
    pub(super) message: String,
    /// Only on the line that the hub adds for a failed call: the failure, such as `trap` or `timed_out`, or `late` if
    /// the caller timed out.
    #[schema(value_type = Option<String>)]
    pub(super) failure: Option<&'static str>,
}

impl Line {
    fn of_call(
        point: Point,
        link: &LinkConfig,
        call: &Call,
        level: &'static str,
        message: String,
        failure: Option<&'static str>,
    ) -> Self {
        Self {
            at: i64::try_from(call.now_ms).unwrap_or(i64::MAX),
            point,
            version: i64::try_from(link.version).unwrap_or(i64::MAX),
            call_id: call.call_id.clone(),
            level,
            message,
            failure,
        }
    }
}

/// The logs of all modules.
#[derive(Debug)]
pub(super) struct Logs {
    modules: Cache<(NetworkId, String), Arc<ModuleLog>>,
}

impl Default for Logs {
    fn default() -> Self {
        Self { modules: Cache::builder().max_capacity(MAX_MODULES).eviction_policy(EvictionPolicy::lru()).build() }
    }
}

#[derive(Debug)]
struct ModuleLog {
    lines: Mutex<LineBuffer>,
    followers: broadcast::Sender<Arc<Line>>,
}

#[derive(Debug, Default)]
struct LineBuffer {
    lines: VecDeque<Arc<Line>>,
    bytes: usize,
}

impl ModuleLog {
    fn new() -> Arc<Self> {
        Arc::new(Self { lines: Mutex::default(), followers: broadcast::Sender::new(FOLLOWER_BUFFER) })
    }

    fn add(&self, line: Line) {
        let line = Arc::new(line);
        let mut buffer = self.lines.lock();
        buffer.bytes += line.message.len();
        buffer.lines.push_back(Arc::clone(&line));
        while buffer.lines.len() > MAX_LINES || buffer.bytes > MAX_BYTES {
            let Some(oldest) = buffer.lines.pop_front() else { break };
            buffer.bytes -= oldest.message.len();
        }
        // Fails without a follower. Sent under the lock, so that a new follower misses no line and gets none twice.
        let _ = self.followers.send(line);
    }
}

impl Logs {
    /// Adds the log lines of a call, and its failure if it failed.
    pub(super) fn add<A>(
        &self,
        network: NetworkId,
        point: Point,
        link: &LinkConfig,
        call: &Call,
        report: &CallReport<A>,
    ) {
        if report.logs.is_empty() && report.logs_dropped == 0 && report.result.is_ok() {
            return;
        }
        let log = self.log(network, &link.name);
        let line = |level, message, failure| Line::of_call(point, link, call, level, message, failure);
        for logged in &report.logs {
            log.add(line(level_name(logged.level), logged.message.clone(), None));
        }
        if report.logs_dropped > 0 {
            log.add(line("WARN", format!("{} more lines of this call were dropped.", report.logs_dropped), None));
        }
        if let Err(failure) = &report.result {
            let level = if matches!(failure, CallFailure::Late(_)) { "WARN" } else { "ERROR" };
            log.add(line(level, explain(failure), Some(failure.code())));
        }
    }

    /// Adds that a call opened the module's breaker.
    pub(super) fn add_opening(
        &self,
        network: NetworkId,
        point: Point,
        link: &LinkConfig,
        call: &Call,
        opening: &BreakerOpening,
    ) {
        let line = Line::of_call(point, link, call, "ERROR", opening.to_string(), None);
        self.log(network, &link.name).add(line);
    }

    /// Drops the logs of a network.
    pub(super) fn forget(&self, network: NetworkId) {
        for (key, _) in self.modules.iter().filter(|(key, _)| key.0 == network) {
            self.modules.invalidate(&*key);
        }
    }

    /// Drops the lines of a network that contain a searched text.
    pub(super) fn forget_texts(&self, network: NetworkId, is_looked_for: &dyn Fn(&str) -> bool) {
        for (_, log) in self.modules.iter().filter(|(key, _)| key.0 == network) {
            let mut buffer = log.lines.lock();
            buffer.lines.retain(|line| !is_looked_for(&line.message));
            buffer.bytes = buffer.lines.iter().map(|line| line.message.len()).sum();
        }
    }

    fn log(&self, network: NetworkId, module: &str) -> Arc<ModuleLog> {
        self.modules.get_with((network, module.to_owned()), ModuleLog::new)
    }

    /// The newest lines, oldest first.
    pub(super) fn newest(&self, network: NetworkId, module: &str, limit: usize) -> Vec<Arc<Line>> {
        self.modules.get(&(network, module.to_owned())).map(|log| tail(&log.lines.lock(), limit)).unwrap_or_default()
    }

    /// The newest lines, oldest first, and a receiver of all later ones.
    pub(super) fn follow(
        &self,
        network: NetworkId,
        module: &str,
        limit: usize,
    ) -> (Vec<Arc<Line>>, broadcast::Receiver<Arc<Line>>) {
        let log = self.log(network, module);
        let buffer = log.lines.lock();
        (tail(&buffer, limit), log.followers.subscribe())
    }
}

fn tail(buffer: &LineBuffer, limit: usize) -> Vec<Arc<Line>> {
    buffer.lines.iter().skip(buffer.lines.len().saturating_sub(limit)).cloned().collect()
}

pub const fn level_name(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Debug => "DEBUG",
        LogLevel::Info => "INFO",
        LogLevel::Warn => "WARN",
        LogLevel::Error => "ERROR",
    }
}

/// A failure in words, with the backtrace if there is one.
pub fn explain(failure: &CallFailure) -> String {
    match failure {
        CallFailure::Trap { backtrace, .. } if !backtrace.is_empty() => format!("{failure}\n{backtrace}"),
        // The reason is only for the operator.
        CallFailure::Unavailable { .. } => "the module could not be run".to_owned(),
        _ => failure.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: String) -> Line {
        let call_id = "c".to_owned();
        Line { at: 1, point: Point::Chat, version: 1, call_id, level: "INFO", message, failure: None }
    }

    #[test]
    fn only_the_newest_lines_are_kept() {
        let log = ModuleLog::new();
        for number in 0..1005 {
            log.add(line(number.to_string()));
        }
        let kept = tail(&log.lines.lock(), usize::MAX);
        assert_eq!((kept.len(), kept[0].message.as_str()), (MAX_LINES, "5"));
        assert_eq!(tail(&log.lines.lock(), 2)[0].message, "1003");
        log.add(line("x".repeat(MAX_BYTES)));
        assert_eq!(tail(&log.lines.lock(), usize::MAX).len(), 1);
    }

    #[test]
    fn followers_get_existing_and_new_lines() {
        let logs = Logs::default();
        let network = NetworkId(uuid::Uuid::nil());
        logs.log(network, "m").add(line("before".to_owned()));
        let (lines, mut following) = logs.follow(network, "m", 10);
        assert_eq!(lines.len(), 1);
        logs.log(network, "m").add(line("after".to_owned()));
        assert_eq!(following.try_recv().unwrap().message, "after");
        assert!(logs.newest(network, "other", 10).is_empty());
    }
}
