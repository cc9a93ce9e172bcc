//! One call.

use std::sync::Arc;

use hub_sandbox::case::{AnyAnswer, Input};
use hub_sandbox::contract::Point;
use hub_sandbox::{Call, CallReport, HostCall, HostCallRecord, LinkConfig};
use serde_json::{Value, json};

/// A call of an extension point: with the host calls of its steps all that is needed to make it again.
pub(in crate::modules) struct Record {
    pub(in crate::modules) call: Call,
    pub(in crate::modules) input: Input,
    /// What the chain decided; none where that was no different from there being no chain.
    ruling: Option<AnyAnswer>,
    pub(in crate::modules) steps: Vec<RecordedStep>,
    bytes: usize,
}

/// One module's part.
pub(in crate::modules) struct RecordedStep {
    pub(in crate::modules) link: Arc<LinkConfig>,
    /// What it was given.
    pub(in crate::modules) input: Input,
    /// None where it was left alone, its breaker being open.
    pub(in crate::modules) report: Option<CallReport<AnyAnswer>>,
}

impl Record {
    pub(in crate::modules) fn new(
        call: Call,
        input: Input,
        ruling: Option<AnyAnswer>,
        steps: Vec<RecordedStep>,
    ) -> Self {
        let of_step = |step: &RecordedStep| {
            let input = if step.input.is(&input) { 0 } else { step.input.bytes() };
            size_of_val(step) + input + step.report.as_ref().map_or(0, CallReport::bytes)
        };
        let bytes = size_of::<Self>()
            + call.call_id.len()
            + call.network_id.len()
            + input.bytes()
            + steps.iter().map(of_step).sum::<usize>();
        Self { call, input, ruling, steps, bytes }
    }

    pub(in crate::modules) fn point(&self) -> Point {
        self.input.point()
    }

    /// What it takes in memory, about.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether a module failed.
    pub(in crate::modules) fn has_failed(&self) -> bool {
        self.steps.iter().any(|step| step.report.as_ref().is_some_and(|report| report.result.is_err()))
    }

    /// What became of the call.
    pub(in crate::modules) fn ruling(&self) -> Value {
        self.ruling.as_ref().map_or_else(|| self.input.without_effect(), AnyAnswer::to_json)
    }

    /// Microseconds that its modules took.
    pub(in crate::modules) fn micros(&self) -> u64 {
        self.steps.iter().filter_map(|step| step.report.as_ref()).map(|report| report.micros).sum()
    }

    /// The part of the module of that name, where it was called.
    pub(in crate::modules) fn step(&self, module: &str) -> Option<(&RecordedStep, &CallReport<AnyAnswer>)> {
        let mut of_name = self.steps.iter().filter(|step| step.link.name == module);
        of_name.find_map(|step| Some((step, step.report.as_ref()?)))
    }

    /// What the module of that name asked and was told; after that what the others were told of the network, which was as
    /// true for this one. Their stores are their own.
    pub(in crate::modules) fn host_calls(&self, module: &str) -> Vec<HostCallRecord> {
        let own = self.step(module).map(|(_, report)| report);
        let reports = self.steps.iter().filter_map(|step| step.report.as_ref());
        let others = reports.filter(|report| own.is_none_or(|own| !std::ptr::eq(own, *report)));
        let of_network = others.flat_map(|report| &report.host_calls).filter(|record| !is_of_store(&record.call));
        own.into_iter().flat_map(|report| &report.host_calls).chain(of_network).cloned().collect()
    }
}

impl RecordedStep {
    /// `ok`, the code of its failure, or `skipped`.
    pub(in crate::modules) fn outcome(&self) -> &'static str {
        match self.report.as_ref().map(|report| &report.result) {
            Some(Ok(_)) => "ok",
            Some(Err(failure)) => failure.code(),
            None => "skipped",
        }
    }
}

/// What a call came to: its answer, or `{"failure": code}`.
pub(in crate::modules) fn result(report: &CallReport<AnyAnswer>) -> Value {
    match &report.result {
        Ok(answer) => answer.to_json(),
        Err(failure) => json!({"failure": failure.code()}),
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
