//! One run of a chain, link by link.

use super::Chain;
use super::breaker::BreakerOpening;
use super::call::Call;
use super::canary::Selection;
use super::link::{Link, Mode, OnFailure};
use super::shadow::{Baseline, Shadow};
use crate::call::CallOptions;
use crate::limits::Limits;
use crate::operation::{AnyInput, Operation};
use crate::report::{CallFailure, CallReport};
use crate::sandbox::Sandbox;
use std::sync::Arc;

/// A chain's decision, and the part of each of its modules.
#[derive(Debug)]
pub struct Outcome<R, A> {
    /// The decision.
    pub ruling: R,
    /// One per module that was reached, in order. Empty for an empty chain.
    pub steps: Vec<Step<A>>,
    /// Shadow calls for [`Sandbox::run_shadow`], after the answer to the caller.
    pub shadows: Vec<Shadow>,
}

/// One module's part in a run of its chain.
#[derive(Debug)]
pub struct Step<A> {
    /// The module.
    pub link: Arc<Link>,
    /// Its input, even if its breaker was open.
    pub input: AnyInput,
    /// Limits of its call.
    pub limits: Limits,
    /// Report of its call; `None` if its breaker was open.
    pub report: Option<CallReport<A>>,
    /// Its breaker has opened with this call.
    pub opening: Option<BreakerOpening>,
}

impl Sandbox {
    /// Runs a chain: each module gets the input as changed by the one before it.
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
    selection: Selection<'a>,
    steps: Vec<Step<O::Answer>>,
    shadows: Vec<Shadow>,
}

impl<'a, O: Operation> ChainRun<'a, O> {
    fn new(sandbox: &'a Sandbox, chain: &'a Chain, call: &'a Call, input: &O::Input) -> Self {
        let selection = chain.select(O::POINT, O::player(input), call);
        Self { sandbox, chain, call, selection, steps: Vec::new(), shadows: Vec::new() }
    }

    /// Answer of the link at this position; `None` if it takes no part.
    async fn step(&mut self, at: usize, input: &Arc<O::Input>) -> Option<O::Answer> {
        let link = self.chain.links.get(at).filter(|_| !self.selection.is_left_out(at))?;
        let config = link.config();
        if config.mode == Mode::Shadow {
            if self.baseline_of(link).is_none() {
                self.add_shadow(link, O::any_input(input), None);
            }
            return None;
        }
        let limits = link.limits();
        let admission = match config.mode {
            Mode::Canary { .. } => self.selection.take_admission(at),
            Mode::Active | Mode::Shadow => link.admit(self.call.now_ms),
        };
        let (mut report, mut opening) = (None, None);
        if let Some(admission) = admission {
            let permits = self.chain.permits();
            let options = CallOptions {
                limiter: permits.as_ref(),
                inline: Some(&link.inline),
                pool_key: link.pool_key(),
                ..CallOptions::default()
            };
            let (host, context) = (Arc::clone(&config.host), self.call.context(&config.config, config.version));
            let called = self.sandbox.call_with::<O>(options, &config.module, limits, host, context, Arc::clone(input));
            let called = called.await;
            opening = link.record(admission, &called, self.call.now_ms);
            report = Some(called);
        }
        self.add_shadows_of(at, &O::any_input(input), report.as_ref());
        let answer = match report.as_ref().map(|report| &report.result) {
            Some(Ok(answer)) => Some(answer.clone()),
            // The hub's fault, whatever the module's failures mean.
            Some(Err(CallFailure::Late(_))) if !O::REFUSES_LATE => None,
            Some(Err(_)) if config.on_failure == OnFailure::Refuse => Some(O::unavailable()),
            Some(Err(_)) | None => None,
        };
        self.steps.push(Step { link: Arc::clone(link), input: O::any_input(input), limits, report, opening });
        answer
    }

    /// The position of the link that a shadow is compared with: the first of its name that takes part.
    fn baseline_of(&self, shadow: &Link) -> Option<usize> {
        let takes_part = |(at, link): &(usize, &Arc<Link>)| {
            link.config.mode != Mode::Shadow
                && link.config.name == shadow.config.name
                && !self.selection.is_left_out(*at)
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
            if matches!(report.map(|report| &report.result), Some(Err(CallFailure::Late(_)))) {
                link.shadow.skip();
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
