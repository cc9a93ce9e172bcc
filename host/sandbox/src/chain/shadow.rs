//! Modules that run beside a chain: no caller waits for them, their answers have no effect, and differences between
//! answers are counted.

use super::breaker::BreakerOpening;
use super::call::Call;
use super::link::Link;
use crate::call::CallOptions;
use crate::host::{Host, HostCallRecord};
use crate::operation::AnyInput;
use crate::recorded::RecordedHost;
use crate::report::CallReport;
use crate::sandbox::Sandbox;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Pending call of a shadow, for after the chain's decision. See [`Sandbox::run_shadow`].
#[derive(Debug)]
pub struct Shadow {
    pub(super) link: Arc<Link>,
    pub(super) call: Call,
    pub(super) input: AnyInput,
    /// Result of the link of the same name in this run, on the same input.
    pub(super) baseline: Option<Baseline>,
    pub(super) limiter: Arc<Semaphore>,
}

/// Result of the link that a shadow is compared with.
#[derive(Debug)]
pub(super) struct Baseline {
    pub(super) answer: Value,
    pub(super) host_calls: Vec<HostCallRecord>,
}

/// A shadow's call, once it is over.
#[derive(Debug)]
pub struct ShadowRun {
    /// Report of the call.
    pub report: CallReport<Value>,
    /// Its breaker has opened with this call.
    pub opening: Option<BreakerOpening>,
}

impl Shadow {
    /// Link of the shadow.
    pub fn link(&self) -> &Arc<Link> {
        &self.link
    }
}

impl Sandbox {
    /// Runs a shadow's call, compares its answer and counts it. `None` if it was skipped. A host call that the compared
    /// link made too gets the same answer.
    pub async fn run_shadow(&self, shadow: Shadow) -> Option<ShadowRun> {
        let Shadow { link, call, input, baseline, limiter } = shadow;
        let permits = (limiter.try_acquire_owned(), Arc::clone(&self.0.shadow_permits).try_acquire_owned());
        let (Ok(_chain_permit), Ok(_permit)) = permits else {
            link.shadow.skip();
            return None;
        };
        let Some(admission) = link.admit(call.now_ms) else {
            link.shadow.skip();
            return None;
        };
        let config = link.config();
        let (expected, host): (_, Arc<dyn Host>) = match baseline {
            Some(Baseline { answer, host_calls }) => {
                (answer, Arc::new(RecordedHost::with_fallback(host_calls, Arc::clone(&config.host))))
            }
            None => (input.neutral_answer(), Arc::clone(&config.host)),
        };
        let options = CallOptions { pool_key: link.pool_key(), ..CallOptions::default() };
        let context = call.context(&config.config, config.version);
        let report = self.call_json_with(options, &config.module, link.limits(), host, context, &input).await;
        let opening = link.record(admission, &report, call.now_ms);
        link.shadow.compare(&call, expected, &report);
        Some(ShadowRun { report, opening })
    }
}
