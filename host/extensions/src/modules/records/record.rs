//! One recorded call.

use std::sync::Arc;

use hub_sandbox::contract::Point;
use hub_sandbox::{AnyAnswer, AnyInput, Call, CallFailure, CallReport, HostCall, HostCallRecord, Limits, LinkConfig};
use serde_json::Value;

/// A call of an extension point, complete enough for a replay.
pub(in crate::modules) struct Record {
    pub(in crate::modules) call: Call,
    pub(in crate::modules) input: AnyInput,
    /// The chain's decision; none if it equals the one without a chain.
    ruling: Option<AnyAnswer>,
    pub(in crate::modules) steps: Vec<RecordedStep>,
    bytes: usize,
}

/// One module's part in a call.
pub(in crate::modules) struct RecordedStep {
    pub(in crate::modules) link: Arc<LinkConfig>,
    /// Input of the module.
    pub(in crate::modules) input: AnyInput,
    /// Limits of its call.
    pub(in crate::modules) limits: Limits,
    /// None if its breaker was open.
    pub(in crate::modules) report: Option<CallReport<AnyAnswer>>,
}

impl Record {
    pub(in crate::modules) fn new(
        call: Call,
        input: AnyInput,
        ruling: Option<AnyAnswer>,
        steps: Vec<RecordedStep>,
    ) -> Self {
        let of_step = |step: &RecordedStep| {
            let input = if step.input.ptr_eq(&input) { 0 } else { step.input.approx_bytes() };
            size_of_val(step) + input + step.report.as_ref().map_or(0, CallReport::approx_bytes)
        };
        let bytes = size_of::<Self>()
            + call.call_id.len()
            + call.network_id.len()
            + input.approx_bytes()
            + steps.iter().map(of_step).sum::<usize>();
        Self { call, input, ruling, steps, bytes }
    }

    pub(in crate::modules) fn point(&self) -> Point {
        self.input.point()
    }

    /// Approximate size in memory.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// All texts of the record, for a search.
    pub(super) fn texts(&self) -> String {
        let mut texts = self.input.to_json().to_string();
        for step in &self.steps {
            texts.push_str(&step.input.to_json().to_string());
            if let Some(report) = &step.report {
                texts.extend([format!("{:?}", report.host_calls), format!("{:?}", report.logs)]);
            }
        }
        texts
    }

    /// True if a module failed. Lateness is not a failure.
    pub(in crate::modules) fn has_failed(&self) -> bool {
        self.steps.iter().any(RecordedStep::has_failed)
    }

    /// Decision of the call.
    pub(in crate::modules) fn ruling(&self) -> Value {
        self.ruling.as_ref().map_or_else(|| self.input.neutral_answer(), AnyAnswer::to_json)
    }

    /// Total time of its modules, in microseconds.
    pub(in crate::modules) fn micros(&self) -> u64 {
        self.steps.iter().filter_map(|step| step.report.as_ref()).map(|report| report.micros).sum()
    }

    /// The named module's part, if it was called.
    pub(in crate::modules) fn step(&self, module: &str) -> Option<(&RecordedStep, &CallReport<AnyAnswer>)> {
        let mut of_name = self.steps.iter().filter(|step| step.link.name == module);
        of_name.find_map(|step| Some((step, step.report.as_ref()?)))
    }

    /// Host calls of the named module, then those of the other modules except on their own stores.
    pub(in crate::modules) fn host_calls(&self, module: &str) -> Vec<HostCallRecord> {
        let own = self.step(module).map(|(_, report)| report);
        let reports = self.steps.iter().filter_map(|step| step.report.as_ref());
        let others = reports.filter(|report| own.is_none_or(|own| !std::ptr::eq(own, *report)));
        let of_network = others.flat_map(|report| &report.host_calls).filter(|record| !is_of_store(&record.call));
        own.into_iter().flat_map(|report| &report.host_calls).chain(of_network).cloned().collect()
    }
}

impl RecordedStep {
    /// True if the module failed. Lateness is not a failure.
    pub(in crate::modules) fn has_failed(&self) -> bool {
        let failure = self.report.as_ref().and_then(|report| report.result.as_ref().err());
        failure.is_some_and(|failure| !matches!(failure, CallFailure::Late(_)))
    }

    /// `ok`, the code of its failure, `late`, or `skipped`.
    pub(in crate::modules) fn outcome(&self) -> &'static str {
        match self.report.as_ref().map(|report| &report.result) {
            Some(Ok(_)) => "ok",
            Some(Err(failure)) => failure.code(),
            None => "skipped",
        }
    }
}

fn is_of_store(call: &HostCall) -> bool {
    matches!(
        call,
        HostCall::StoreGet { .. }
            | HostCall::StoreSet { .. }
            | HostCall::StoreIncrement { .. }
            | HostCall::StoreDelete { .. }
    )
}
