//! Calling one module: its permits, a thread, and a caller with a time limit.

use crate::contract::CallContext;
use crate::host::Host;
use crate::inline::InlineGate;
use crate::instance_pool::PoolKey;
use crate::limits::Limits;
use crate::module::{LoadedModule, ModuleHandle};
use crate::network::{CpuPermit, acquire_before};
use crate::operation::Operation;
use crate::priority::Priority;
use crate::report::{CallFailure, CallReport};
use crate::run::CallJob;
use crate::sandbox::Sandbox;
use crate::threads::PANICKED;
use crate::time::{CallTime, micros};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tracing::Instrument as _;

/// Target of the spans that are only made for traces.
const TRACE_TARGET: &str = "hub_trace";

/// Options of a call.
#[derive(Clone, Copy, Default)]
pub(crate) struct CallOptions<'a> {
    /// Bounds the calls of its chain. `None` for calls outside the chains: shadows, replays, trials.
    pub(crate) limiter: Option<&'a Arc<Semaphore>>,
    /// Decides whether it may run on its caller's thread; `None` forbids it.
    pub(crate) inline: Option<&'a InlineGate>,
    /// Key of the instances that may serve it; `None` for a fresh one.
    pub(crate) pool_key: Option<PoolKey>,
    /// Ignored for a busy network, whose calls begin at background priority.
    pub(crate) priority: Priority,
}

impl<T> CallReport<T> {
    /// The report of a call whose caller leaves without its thread's report.
    fn late(time: &CallTime) -> Self {
        let (compute_micros, waited_micros) = (micros(time.computed()), micros(time.waited()));
        Self { compute_micros, waited_micros, ..Self::not_run(CallFailure::Late(time.times())) }
    }
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
        self.call_with::<O>(CallOptions::default(), module, limits, host, context, input).await
    }

    /// Calls with options. The caller's waiting time begins here.
    pub(crate) async fn call_with<O: Operation>(
        &self,
        options: CallOptions<'_>,
        module: &ModuleHandle,
        limits: Limits,
        host: Arc<dyn Host>,
        context: CallContext,
        input: Arc<O::Input>,
    ) -> CallReport<O::Answer> {
        let time = CallTime::new(&self.0.clock, &limits);
        let loaded = match self.load_before(&time, module).await {
            Ok(loaded) => loaded,
            Err(failure) => return CallReport::not_run(failure),
        };
        self.run::<O>(options, loaded, limits, time, host, context, input).await
    }

    /// Runs a call of loaded code, and traces it.
    #[allow(clippy::too_many_arguments)]
    pub(crate) async fn run<O: Operation>(
        &self,
        options: CallOptions<'_>,
        module: Arc<LoadedModule>,
        limits: Limits,
        time: CallTime,
        host: Arc<dyn Host>,
        context: CallContext,
        input: Arc<O::Input>,
    ) -> CallReport<O::Answer> {
        let span = tracing::trace_span!(
            target: TRACE_TARGET, "module_call", point = O::POINT.name(), call = context.call_id.as_str()
        );
        self.run_untraced::<O>(options, module, limits, time, host, context, input).instrument(span).await
    }

    #[allow(clippy::too_many_arguments)]
    async fn run_untraced<O: Operation>(
        &self,
        options: CallOptions<'_>,
        module: Arc<LoadedModule>,
        mut limits: Limits,
        time: CallTime,
        host: Arc<dyn Host>,
        context: CallContext,
        input: Arc<O::Input>,
    ) -> CallReport<O::Answer> {
        let (clock, deadline) = (&self.0.clock, time.deadline());
        // The chain's own permit first, so that few of its calls wait for the shared ones.
        let mut permits = [None, None];
        for (permit, semaphore) in permits.iter_mut().zip([options.limiter, Some(&self.0.call_permits)]) {
            let Some(semaphore) = semaphore else { continue };
            match acquire_before(semaphore, clock, deadline).await {
                Some(acquired) => *permit = Some(acquired),
                None => return CallReport::late(&time),
            }
        }
        // Calls outside the chains take no CPU permit from them, nor do they make their network busy.
        let network = match options.limiter {
            Some(_) => self.0.networks.get(&context.network_id),
            None => self.0.networks.get(&format!("{} beside", context.network_id)),
        };
        let priority = if network.is_busy() { Priority::Background } else { options.priority };
        let is_inline = options.inline.is_some_and(InlineGate::is_open);
        let cpu_permit = if is_inline {
            CpuPermit::not_yet(network)
        } else {
            match CpuPermit::acquire(network, clock, deadline).await {
                Some(acquired) => acquired,
                None => return CallReport::late(&time),
            }
        };
        limits.memory_bytes = limits.memory_bytes.min(self.0.max_memory_bytes);
        let (runtime, pool_key) = (tokio::runtime::Handle::current(), options.pool_key);
        let time_of_job = time.clone();
        let job = CallJob::<O> {
            module,
            limits,
            time: time_of_job,
            context,
            input,
            host,
            runtime,
            cpu_permit,
            pool_key,
            is_inline,
        };
        if is_inline {
            // Its ticks end it when it is late.
            let run = AssertUnwindSafe(|| job.run(&self.0.ticker, &self.0.instances));
            return catch_unwind(run)
                .unwrap_or_else(|_| CallReport::not_run(CallFailure::Unavailable { reason: PANICKED.into() }));
        }
        let inner = Arc::clone(&self.0);
        let running = self.0.threads.run(priority, move || {
            // A thread whose caller has left ends at its next tick, and only then releases its permits.
            let report = job.run(&inner.ticker, &inner.instances);
            drop(permits);
            report
        });
        match clock.timeout_at(deadline, running).await {
            Some(Ok(report)) => report,
            Some(Err(reason)) => CallReport::not_run(CallFailure::Unavailable { reason }),
            None => CallReport::late(&time),
        }
    }

    /// Loads a module's code while the caller waits. Loading continues after the caller has left, for the next call.
    async fn load_before(&self, time: &CallTime, module: &ModuleHandle) -> Result<Arc<LoadedModule>, CallFailure> {
        if let Some(loaded) = self.cached_code(&module.0) {
            return Ok(loaded);
        }
        let (sandbox, module) = (self.clone(), module.clone());
        let loading = tokio::spawn(async move { sandbox.load_code(&module.0).await });
        match self.0.clock.timeout_at(time.deadline(), loading).await {
            Some(Ok(Ok(loaded))) => Ok(loaded),
            Some(Ok(Err(error))) => Err(CallFailure::Unavailable { reason: error.to_string() }),
            Some(Err(error)) => Err(CallFailure::Unavailable { reason: error.to_string() }),
            None => Err(CallFailure::Unavailable { reason: "its code is still being loaded".into() }),
        }
    }
}
