//! Comparison of a shadow's answers with the link's of the same name.

use super::call::Call;
use crate::report::{CallFailure, CallReport};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use std::collections::VecDeque;

/// Maximum number of examples.
const MAX_EXAMPLES: usize = 10;

/// Comparison of a shadow's answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ShadowStats {
    /// Number of calls with the expected answer.
    pub same: u64,
    /// Number of calls with a different answer.
    pub different: u64,
    /// Number of failed calls.
    pub failed: u64,
    /// Number of skipped or interrupted calls: too many at once, its breaker was open, or one of both was late.
    pub skipped: u64,
    /// The latest calls that differed or failed, oldest first.
    pub examples: VecDeque<ShadowExample>,
}

/// A call with an unexpected answer of a shadow.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShadowExample {
    /// The call.
    pub call_id: String,
    /// Its time, in milliseconds since the Unix epoch.
    pub at: u64,
    /// Answer of the link of the same name, otherwise an answer without effect.
    pub expected: Value,
    /// Answer of the shadow, or its failure.
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
