//! How a shadow's answers compare with those of the module it is compared with.

use super::call::Call;
use crate::report::{CallFailure, CallReport};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;

/// Examples that are kept.
const MAX_EXAMPLES: usize = 10;

/// How a shadow's answers compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ShadowStats {
    /// Calls it answered as expected.
    pub same: u64,
    /// Calls it answered otherwise.
    pub different: u64,
    /// Calls it failed.
    pub failed: u64,
    /// Calls it was not given, or not to the end: too many at once, its breaker was open, or one of both was late.
    pub skipped: u64,
    /// The latest calls that differed or failed, oldest first.
    pub examples: VecDeque<ShadowExample>,
}

/// A call that a shadow did not answer as expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShadowExample {
    /// The call.
    pub call_id: String,
    /// Its time, in milliseconds since the Unix epoch.
    pub at: u64,
    /// What the link of the same name answered, else an answer without effect.
    pub expected: Value,
    /// What the shadow answered, or its failure.
    pub actual: Value,
}

/// The counts of one link.
#[derive(Debug, Default)]
pub(super) struct ShadowCounter(Mutex<ShadowStats>);

impl ShadowCounter {
    pub(super) fn read(&self) -> ShadowStats {
        self.0.lock().clone()
    }

    pub(super) fn skip(&self) {
        self.0.lock().skipped += 1;
    }

    pub(super) fn compare(&self, call: &Call, expected: Value, report: &CallReport<Value>) {
        let mut stats = self.0.lock();
        match &report.result {
            Ok(answer) if *answer == expected => {
                stats.same += 1;
                return;
            }
            Ok(_) => stats.different += 1,
            Err(CallFailure::Late(_)) => {
                stats.skipped += 1;
                return;
            }
            Err(_) => stats.failed += 1,
        }
        if stats.examples.len() >= MAX_EXAMPLES {
            stats.examples.pop_front();
        }
        let actual = report.result.clone().unwrap_or_else(|failure| CallFailure::to_json(&failure));
        stats.examples.push_back(ShadowExample { call_id: call.call_id.clone(), at: call.now_ms, expected, actual });
    }
}
