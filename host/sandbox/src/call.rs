//! Calling one module: a place to run, a turn on the CPU, the deadline, a thread.

use crate::clock::{left_until, monotonic};
use crate::contract::CallContext;
use crate::host::Host;
use crate::limits::Limits;
use crate::module::{ModuleHandle, Ready};
use crate::network::{CpuTurn, enter};
use crate::operation::Operation;
use crate::report::{CallFailure, CallReport};
use crate::reuse::Lane;
use crate::run::Job;
use crate::sandbox::Sandbox;
use crate::threads::Pace;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Semaphore;

/// On what terms a call runs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Terms<'a> {
    /// Bounds how many calls run at once: a chain's. None for what runs beside the chains.
    pub(crate) gate: Option<&'a Arc<Semaphore>>,
    /// Whose instances may serve it; none: a fresh one does.
    pub(crate) lane: Option<Lane>,
    /// Runs behind everything else from its beginning, not only once its network is busy.
    pub(crate) gives_way: bool,
}

impl Sandbox {
    /// Calls one function of one module once, outside of any chain: for dry runs, replays and tests.
    /// The same context, input and host answers give the same answer to the byte, and the same fuel.
    pub async fn call<O: Operation>(
        &self,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: Arc<O::Input>,
    ) -> CallReport<O::Answer> {
        self.call_on::<O>(Terms::default(), module, limits, host, context, input).await
    }

    /// Calls on terms. Everything from here on, waiting included, is inside the deadline.
    pub(crate) async fn call_on<O: Operation>(
        &self,
        terms: Terms<'_>,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: Arc<O::Input>,
    ) -> CallReport<O::Answer> {
        let deadline = monotonic() + limits.wall;
        let ready = match self.ready_before(deadline, module).await {
            Ok(ready) => ready,
            Err(failure) => return CallReport::not_run(failure),
        };
        self.run::<O>(terms, ready, limits, deadline, host, context, input).await
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) async fn run<O: Operation>(
        &self,
        terms: Terms<'_>,
        ready: Arc<Ready>,
        mut limits: Limits,
        deadline: Instant,
        host: Arc<dyn Host>,
        context: CallContext,
        input: Arc<O::Input>,
    ) -> CallReport<O::Answer> {
        // The network's own gate first, so that whoever waits for a shared place holds one of few.
        let mut permits = [None, None];
        for (permit, gate) in permits.iter_mut().zip([terms.gate, Some(&self.0.places)]) {
            let Some(gate) = gate else { continue };
            match enter(gate, deadline).await {
                Some(entered) => *permit = Some(entered),
                None => return CallReport::not_run(CallFailure::Busy),
            }
        }
        // What runs beside the chains (shadows, replays, trials) takes no turn from them, nor does it count as theirs.
        let network = match terms.gate {
            Some(_) => self.0.networks.get(&context.network_id),
            None => self.0.networks.get(&format!("{} beside", context.network_id)),
        };
        let pace = if terms.gives_way || network.is_busy() { Pace::GivesWay } else { Pace::Normal };
        let Some(turn) = CpuTurn::take(network, deadline).await else { return CallReport::not_run(CallFailure::Busy) };
        limits.memory_bytes = limits.memory_bytes.min(self.0.max_memory_bytes);
        let runtime = tokio::runtime::Handle::current();
        let job = Job::<O> { ready, limits, deadline, context, input, host, runtime, turn, lane: terms.lane };
        let inner = Arc::clone(&self.0);
        let running = self.0.threads.run(pace, move || {
            let report = job.run(&inner.ticker, &inner.idle);
            drop(permits);
            report
        });
        running.await.unwrap_or_else(|reason| CallReport::not_run(CallFailure::Unavailable { reason }))
    }

    /// A module's code before the deadline. Bringing it back goes on after a deadline that passed, so that the next
    /// call finds it.
    async fn ready_before(&self, deadline: Instant, module: &ModuleHandle) -> Result<Arc<Ready>, CallFailure> {
        if let Some(ready) = self.ready_now(&module.0) {
            return Ok(ready);
        }
        let (sandbox, module) = (self.clone(), module.clone());
        let loading = tokio::spawn(async move { sandbox.ready(&module.0).await });
        match tokio::time::timeout(left_until(deadline), loading).await {
            Ok(Ok(Ok(ready))) => Ok(ready),
            Ok(Ok(Err(error))) => Err(CallFailure::Unavailable { reason: error.to_string() }),
            Ok(Err(error)) => Err(CallFailure::Unavailable { reason: error.to_string() }),
            Err(_) => Err(CallFailure::Unavailable { reason: "its code is still being loaded".into() }),
        }
    }
}
