//! One run of a chain, link by link.

use super::Chain;
use super::breaker::Admission;
use super::call::Call;
use super::link::{Link, Mode, OnFailure};
use super::shadow::{Baseline, Shadow};
use crate::call::CallOptions;
use crate::operation::{AnyInput, Operation};
use crate::report::CallReport;
use crate::sandbox::Sandbox;
use std::sync::Arc;

/// What a chain decided, and what each of its modules did.
#[derive(Debug)]
pub struct Outcome<R, A> {
    /// The decision.
    pub ruling: R,
    /// One per module that was reached, in order. Empty for an empty chain.
    pub steps: Vec<Step<A>>,
    /// To be given to [`Sandbox::run_shadow`] when nobody waits any more.
    pub shadows: Vec<Shadow>,
}

/// One module's part in a run of its chain.
#[derive(Debug)]
pub struct Step<A> {
    /// The module.
    pub link: Arc<Link>,
    /// What it was given, or would have been.
    pub input: AnyInput,
    /// How its call went; none where its breaker was open.
    pub report: Option<CallReport<A>>,
}

impl Sandbox {
    /// Runs a chain: each module is given what the one before it made of the input.
    pub async fn run_chain<O: Operation>(
        &self,
        chain: &Chain,
        call: &Call,
        input: impl Into<Arc<O::Input>>,
    ) -> Outcome<O::Ruling, O::Answer> {
        let mut input = input.into();
        let mut run = ChainRun::<O>::new(self, chain, call, &input);
        let mut ruling = O::Ruling::default();
        for at in 0..chain.links.len() {
            if let Some(answer) = run.step(at, &input).await
                && O::apply(&mut ruling, &mut input, answer).is_break()
            {
                break;
            }
        }
        Outcome { ruling, steps: run.steps, shadows: run.shadows }
    }
}

/// A run that is under way.
struct ChainRun<'a, O: Operation> {
    sandbox: &'a Sandbox,
    chain: &'a Chain,
    call: &'a Call,
    left_out: Vec<bool>,
    steps: Vec<Step<O::Answer>>,
    shadows: Vec<Shadow>,
}

impl<'a, O: Operation> ChainRun<'a, O> {
    fn new(sandbox: &'a Sandbox, chain: &'a Chain, call: &'a Call, input: &O::Input) -> Self {
        let left_out = chain.left_out(O::POINT, O::player(input), call);
        Self { sandbox, chain, call, left_out, steps: Vec::new(), shadows: Vec::new() }
    }

    /// The answer of the link at this position; none where it has no say.
    async fn step(&mut self, at: usize, input: &Arc<O::Input>) -> Option<O::Answer> {
        let link = self.chain.links.get(at).filter(|_| !self.is_left_out(at))?;
        let config = link.config();
        if config.mode == Mode::Shadow {
            if self.baseline_of(link).is_none() {
                self.add_shadow(link, O::any_input(input), None);
            }
            return None;
        }
        let admission = link.admit(self.call.now_ms);
        let report = if admission == Admission::Refused {
            None
        } else {
            let (limits, host) = (config.limits, Arc::clone(&config.host));
            let limiter = self.chain.limiter.as_ref();
            let options = CallOptions { limiter, pool_key: link.pool_key(), ..CallOptions::default() };
            let (context, input) = (self.call.context(&config.config), Arc::clone(input));
            let report = self.sandbox.call_with::<O>(options, &config.module, limits, host, context, input).await;
            link.record(admission, &report, self.call.now_ms);
            Some(report)
        };
        self.add_shadows_of(at, &O::any_input(input), report.as_ref());
        let answer = match report.as_ref().map(|report| &report.result) {
            Some(Ok(answer)) => Some(answer.clone()),
            Some(Err(_)) if config.on_failure == OnFailure::Refuse => Some(O::unavailable()),
            Some(Err(_)) | None => None,
        };
        self.steps.push(Step { link: Arc::clone(link), input: O::any_input(input), report });
        answer
    }

    fn is_left_out(&self, at: usize) -> bool {
        self.left_out.get(at).copied().unwrap_or(false)
    }

    /// The position of the link that a shadow is compared with: the first of its name that takes part.
    fn baseline_of(&self, shadow: &Link) -> Option<usize> {
        let takes_part = |(at, link): &(usize, &Arc<Link>)| {
            link.config.mode != Mode::Shadow && link.config.name == shadow.config.name && !self.is_left_out(*at)
        };
        self.chain.links.iter().enumerate().find(takes_part).map(|(at, _)| at)
    }

    /// Adds the shadows that are compared with the link at this position.
    fn add_shadows_of(&mut self, at: usize, input: &AnyInput, report: Option<&CallReport<O::Answer>>) {
        if self.chain.shadow_limiter.is_none() {
            return;
        }
        for link in &self.chain.links {
            if link.config.mode != Mode::Shadow || self.baseline_of(link) != Some(at) {
                continue;
            }
            let baseline =
                report.map(|report| Baseline { answer: report.result_json(), host_calls: report.host_calls.clone() });
            self.add_shadow(link, input.clone(), baseline);
        }
    }

    fn add_shadow(&mut self, link: &Arc<Link>, input: AnyInput, baseline: Option<Baseline>) {
        if let Some(limiter) = &self.chain.shadow_limiter {
            let (link, limiter) = (Arc::clone(link), Arc::clone(limiter));
            self.shadows.push(Shadow { link, call: self.call.clone(), input, baseline, limiter });
        }
    }
}
