//! Running a case.

use super::{Case, FixtureHost, Input, RecordedHost};
use crate::call::Terms;
use crate::contract::CallContext;
use crate::host::Host;
use crate::limits::Limits;
use crate::module::ModuleHandle;
use crate::report::CallReport;
use crate::reuse::Lane;
use crate::sandbox::Sandbox;
use serde_json::Value;
use std::sync::Arc;

/// The hub of a case.
#[derive(Clone)]
pub enum CaseHub {
    /// As the case describes it.
    Described(FixtureHost),
    /// As it answered when the case was recorded.
    Recorded(Arc<RecordedHost>),
}

impl CaseHub {
    /// The hub at that time.
    pub fn at(&self, now_ms: u64) -> Arc<dyn Host> {
        match self {
            Self::Described(host) => Arc::new(host.at(now_ms)),
            Self::Recorded(host) => Arc::<RecordedHost>::clone(host),
        }
    }

    /// How many calls a record did not answer.
    pub fn unrecorded(&self) -> u64 {
        match self {
            Self::Described(_) => 0,
            Self::Recorded(host) => host.unrecorded(),
        }
    }
}

/// Instances that calls of one module share, as those of a link do whose instances are REUSED.
pub struct SharedInstances(Lane);

impl Default for SharedInstances {
    fn default() -> Self {
        Self(Lane::new())
    }
}

impl Sandbox {
    /// Calls as [`Sandbox::call_with`] does, on the instance of an earlier such call where there is one.
    pub async fn call_shared(
        &self,
        instances: &SharedInstances,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: &Input,
    ) -> CallReport<Value> {
        let terms = Terms { lane: Some(instances.0), ..Terms::default() };
        self.call_any(terms, module, limits, host, context, input).await
    }

    /// Calls a module as a case says, on a hub as the case describes it: one report for each step.
    pub async fn play(&self, module: &ModuleHandle, limits: Limits, case: &Case) -> Vec<CallReport<Value>> {
        let hub = case.hub();
        let mut reports = vec![];
        for step in &case.steps {
            let host = hub.at(step.now_ms);
            reports.push(self.call_with(module, limits, host, case.context(step), &step.input).await);
        }
        reports
    }
}
