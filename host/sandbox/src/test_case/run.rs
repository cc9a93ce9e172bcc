//! Running a test case.

use super::file::TestCase;
use crate::call::CallOptions;
use crate::contract::CallContext;
use crate::host::Host;
use crate::instance_pool::PoolKey;
use crate::limits::Limits;
use crate::module::ModuleHandle;
use crate::operation::{Answered, AnyAnswer, AnyInput, Handled};
use crate::report::CallReport;
use crate::sandbox::Sandbox;
use serde_json::Value;
use std::sync::Arc;

/// Instances that calls of one module share, like REUSED in a chain.
pub struct SharedInstances(PoolKey);

impl Default for SharedInstances {
    fn default() -> Self {
        Self(PoolKey::new())
    }
}

impl Sandbox {
    /// Same as [`Sandbox::call_json`], on the instance of an earlier such call if there is one.
    pub async fn call_shared(
        &self,
        instances: &SharedInstances,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: &AnyInput,
    ) -> CallReport<Value> {
        let options = CallOptions { pool_key: Some(instances.0), ..CallOptions::default() };
        self.call_json_with(options, module, limits, host, context, input).await
    }

    /// Runs a test case: one report for each step.
    pub async fn run_test_case(
        &self,
        module: &ModuleHandle,
        limits: Limits,
        case: &TestCase,
    ) -> Vec<CallReport<Value>> {
        let host = case.host();
        let mut reports = vec![];
        for step in &case.steps {
            let report = self.call_any(module, limits, host.at(step.now_ms), case.context(step), &step.input).await;
            if let Ok(
                AnyAnswer::Handled(Handled { answer: Ok(_), state })
                | AnyAnswer::Answered(Answered { answer: Ok(_), state }),
            ) = &report.result
            {
                host.commit(state, step.now_ms);
            }
            reports.push(report.map(|answer| answer.to_json()));
        }
        reports
    }
}
