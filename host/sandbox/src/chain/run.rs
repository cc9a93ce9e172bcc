//! One run of a chain, link by link.

use super::breaker::Admission;
use super::shadow::{Beside, Shadow};
use super::{Chain, Link, Mode, OnFailure};
use crate::call::Terms;
use crate::case::{AnyAnswer, Input};
use crate::operation::Operation;
use crate::report::CallReport;
use crate::sandbox::Sandbox;
use serde_json::json;
use std::sync::Arc;

/// What identifies one run of a chain. Each module's context is made from it.
#[derive(Clone, Debug)]
pub struct Call {
    /// Names it in records and logs.
    pub call_id: String,
    /// The network.
    pub network_id: String,
    /// The time, in milliseconds since the Unix epoch. Breakers go by it too.
    pub now_ms: u64,
    /// A random number for the modules to derive theirs from.
    pub seed: u64,
}

/// What a chain decided, and what each of its modules did.
#[derive(Debug)]
pub struct Outcome<R, A> {
    /// The decision.
    pub ruling: R,
    /// One per module that was reached, in order. Empty for an empty chain.
    pub steps: Vec<Step<A>>,
    /// What is to be given to [`Sandbox::run_shadow`] when nobody waits any more.
    pub shadows: Vec<Shadow>,
}

/// One module's part in a run of its chain.
#[derive(Debug)]
pub struct Step<A> {
    /// The module.
    pub link: Arc<Link>,
    /// What it was given.
    pub input: Input,
    /// Its call; none where its breaker was open, so that it was not called.
    pub report: Option<CallReport<A>>,
}

/// What a step means for its chain.
pub(super) enum Stepped<A> {
    Answered(A),
    /// As though the module were not there.
    Passed,
    /// It failed, and its owner would rather refuse than go on without it.
    Refuses,
}

/// A run that is under way.
pub(super) struct Run<'a, A> {
    sandbox: &'a Sandbox,
    chain: &'a Chain,
    call: &'a Call,
    left_out: Vec<bool>,
    steps: Vec<Step<A>>,
    shadows: Vec<Shadow>,
}

impl<'a, A: Clone + Into<AnyAnswer>> Run<'a, A> {
    pub(super) fn new<O: Operation<Answer = A>>(
        sandbox: &'a Sandbox,
        chain: &'a Chain,
        call: &'a Call,
        input: &O::Input,
    ) -> Self {
        let left_out = chain.left_out(O::POINT, O::player(input), call);
        Self { sandbox, chain, call, left_out, steps: Vec::new(), shadows: Vec::new() }
    }

    /// Calls the link at that place of the chain, unless it does not take part or its breaker is open.
    pub(super) async fn step<O: Operation<Answer = A>>(&mut self, at: usize, input: &Arc<O::Input>) -> Stepped<A> {
        let Some(link) = self.chain.links.get(at).filter(|_| !self.is_left_out(at)) else { return Stepped::Passed };
        let config = link.config();
        if config.mode == Mode::Shadow {
            if self.beside(link).is_none() {
                self.add_shadow(link, O::any(input), None);
            }
            return Stepped::Passed;
        }
        let admission = link.admit(self.call.now_ms);
        let report = if admission == Admission::Refused {
            None
        } else {
            let (limits, host) = (config.limits, Arc::clone(&config.host));
            let terms = Terms { gate: self.chain.gate.as_ref(), lane: link.lane(), gives_way: false };
            let (context, input) = (link.context(self.call), Arc::clone(input));
            let report = self.sandbox.call_on::<O>(terms, &config.module, limits, host, context, input).await;
            link.record(admission, &report, self.call.now_ms);
            Some(report)
        };
        self.add_shadows_of(at, &O::any(input), report.as_ref());
        let stepped = match report.as_ref().map(|report| &report.result) {
            Some(Ok(answer)) => Stepped::Answered(answer.clone()),
            Some(Err(_)) if config.on_failure == OnFailure::Refuse => Stepped::Refuses,
            Some(Err(_)) | None => Stepped::Passed,
        };
        self.steps.push(Step { link: Arc::clone(link), input: O::any(input), report });
        stepped
    }

    /// The run is over, and this is what it came to.
    pub(super) fn end<R>(self, ruling: R) -> Outcome<R, A> {
        Outcome { ruling, steps: self.steps, shadows: self.shadows }
    }

    fn is_left_out(&self, at: usize) -> bool {
        self.left_out.get(at).copied().unwrap_or(false)
    }

    /// The place of the link that a shadow is compared with: the first of its name that takes part.
    fn beside(&self, shadow: &Link) -> Option<usize> {
        let takes_part = |(at, link): &(usize, &Arc<Link>)| {
            link.config.mode != Mode::Shadow && link.config.name == shadow.config.name && !self.is_left_out(*at)
        };
        self.chain.links.iter().enumerate().find(takes_part).map(|(at, _)| at)
    }

    /// The shadows that are compared with the link at this place are given what it was given.
    fn add_shadows_of(&mut self, at: usize, input: &Input, report: Option<&CallReport<A>>) {
        if self.chain.shadow_gate.is_none() {
            return;
        }
        for link in &self.chain.links {
            if link.config.mode != Mode::Shadow || self.beside(link) != Some(at) {
                continue;
            }
            let beside = report.map(|report| Beside {
                answer: match &report.result {
                    Ok(answer) => answer.clone().into().to_json(),
                    Err(failure) => json!({"failure": failure.code()}),
                },
                host_calls: report.host_calls.clone(),
            });
            self.add_shadow(link, input.clone(), beside);
        }
    }

    fn add_shadow(&mut self, link: &Arc<Link>, input: Input, beside: Option<Beside>) {
        if let Some(gate) = &self.chain.shadow_gate {
            let (link, gate) = (Arc::clone(link), Arc::clone(gate));
            self.shadows.push(Shadow { link, call: self.call.clone(), input, beside, gate });
        }
    }
}
