//! Modules that run beside a chain: nobody waits for them, nothing they answer has an effect, and how their answers
//! differ is counted.

use super::breaker::Admission;
use super::{Call, Link};
use crate::call::Terms;
use crate::case::{Input, RecordedHost};
use crate::host::{Host, HostCallRecord};
use crate::report::CallReport;
use crate::sandbox::Sandbox;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Shadow calls of one chain that run at once.
pub(super) const AT_ONCE: usize = 4;
/// Differences that are kept.
const EXAMPLES: usize = 10;

/// A call that a shadow is to be given, once the chain has decided. See [`Sandbox::run_shadow`].
#[derive(Debug)]
pub struct Shadow {
    pub(super) link: Arc<Link>,
    pub(super) call: Call,
    pub(super) input: Input,
    /// What the link of the same name did in this run, on the same input.
    pub(super) beside: Option<Beside>,
    pub(super) gate: Arc<Semaphore>,
}

/// What the link a shadow is compared with did.
#[derive(Debug)]
pub(super) struct Beside {
    pub(super) answer: Value,
    pub(super) host_calls: Vec<HostCallRecord>,
}

/// How a shadow's answers compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ShadowStats {
    /// Calls it answered as expected.
    pub same: u64,
    /// Calls it answered otherwise.
    pub different: u64,
    /// Calls it failed.
    pub failed: u64,
    /// Calls it was not given: too many at once, or its breaker was open.
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
pub(super) struct Tally(Mutex<ShadowStats>);

impl Tally {
    pub(super) fn read(&self) -> ShadowStats {
        self.0.lock().clone()
    }

    fn skip(&self) {
        self.0.lock().skipped += 1;
    }

    fn compare(&self, call: &Call, expected: Value, report: &CallReport<Value>) {
        let mut stats = self.0.lock();
        let actual = match &report.result {
            Ok(answer) if *answer == expected => {
                stats.same += 1;
                return;
            }
            Ok(answer) => {
                stats.different += 1;
                answer.clone()
            }
            Err(failure) => {
                stats.failed += 1;
                json!({"failure": failure.code()})
            }
        };
        if stats.examples.len() >= EXAMPLES {
            stats.examples.pop_front();
        }
        stats.examples.push_back(ShadowExample { call_id: call.call_id.clone(), at: call.now_ms, expected, actual });
    }
}

impl Shadow {
    /// The module that is to run.
    pub fn link(&self) -> &Arc<Link> {
        &self.link
    }
}

impl Sandbox {
    /// Gives a shadow its call, compares its answer and counts it. None where it was skipped. Where it asks the hub what
    /// the link it is compared with asked, it is told the same.
    pub async fn run_shadow(&self, shadow: Shadow) -> Option<CallReport<Value>> {
        let Shadow { link, call, input, beside, gate } = shadow;
        let places = (gate.try_acquire_owned(), Arc::clone(&self.0.shadow_places).try_acquire_owned());
        let (Ok(_turn), Ok(_place)) = places else {
            link.shadow.skip();
            return None;
        };
        let admission = link.admit(call.now_ms);
        if admission == Admission::Refused {
            link.shadow.skip();
            return None;
        }
        let config = link.config();
        let (expected, host): (_, Arc<dyn Host>) = match beside {
            Some(Beside { answer, host_calls }) => {
                (answer, Arc::new(RecordedHost::beside(host_calls, Arc::clone(&config.host))))
            }
            None => (input.without_effect(), Arc::clone(&config.host)),
        };
        let terms = Terms { lane: link.lane(), ..Terms::default() };
        let context = link.context(&call);
        let report = self.call_any(terms, &config.module, config.limits, host, context, &input).await;
        link.record(admission, &report, call.now_ms);
        link.shadow.compare(&call, expected, &report);
        Some(report)
    }
}
