//! One call, from an instance to a checked answer, on a thread of its own or inline.

use crate::clock::monotonic;
use crate::contract::CallContext;
use crate::failure::{Phase, classify};
use crate::host::Host;
use crate::inline;
use crate::instance_pool::{InstancePool, PoolKey, PooledInstance};
use crate::limits::Limits;
use crate::module::LoadedModule;
use crate::network::CpuPermit;
use crate::operation::Operation;
use crate::priority::{self, Priority};
use crate::report::{CallFailure, CallReport};
use crate::state::{CallState, HostAbort, MemoryLimiter};
use crate::state_overlay::StateOverlay;
use crate::ticker::Ticker;
use crate::time::{CallTime, micros};
use crate::versions::Running;
use std::mem;
use std::sync::Arc;
use std::time::Duration;
use wasmtime::{Store, StoreContextMut, UpdateDeadline};

/// Maximum number of resource handles of a module. The contract has no resources.
const COMPONENT_HANDLES: usize = 64;
/// CPU time after which a call continues at background priority.
const MAX_NORMAL_TIME: Duration = Duration::from_millis(2);

/// All owned parts of one call.
pub(crate) struct CallJob<O: Operation> {
    pub(crate) module: Arc<LoadedModule>,
    pub(crate) limits: Limits,
    pub(crate) time: CallTime,
    pub(crate) context: CallContext,
    pub(crate) input: Arc<O::Input>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) cpu_permit: CpuPermit,
    /// Key of the instances that may serve it; `None` for a fresh one.
    pub(crate) pool_key: Option<PoolKey>,
    /// True if it runs on its caller's thread.
    pub(crate) is_inline: bool,
}

impl<O: Operation> CallJob<O> {
    /// Runs the call to its end.
    pub(crate) fn run(self, ticker: &Ticker, pool: &InstancePool) -> CallReport<O::Answer> {
        let _ticking = ticker.start_ticking();
        let Self { module, limits, mut time, context, input, host, runtime, cpu_permit, pool_key, is_inline } = self;
        if time.is_late() {
            return CallReport::not_run(CallFailure::Late(time.times()));
        }
        let started = monotonic();
        time.start();
        let state = CallState {
            limits,
            time: time.clone(),
            runtime: runtime.clone(),
            cpu_permit,
            is_inline,
            host,
            texts: O::texts(&input),
            logs: Vec::new(),
            logs_dropped: 0,
            host_calls: Vec::new(),
            data_calls: 0,
            is_override: O::POINT.is_override(),
            overlay: StateOverlay::default(),
            memory: MemoryLimiter { limit: limits.memory_bytes, peak: 0, denied: false },
        };
        let mut instance = match pool_key.and_then(|key| pool.take(key)) {
            Some(pooled) => pooled.with_state(state),
            None => fresh(module, state),
        };
        instance.store.set_hostcall_fuel(O::HANDOVER_BYTES);
        instance.store.set_epoch_deadline(1);
        let result = answer::<O>(&mut instance, &context, &input);
        let fuel_left = instance.store.get_fuel().unwrap_or(0);
        let computed = time.count();
        let state = instance.store.data_mut();
        let report = CallReport {
            result,
            micros: micros(started.elapsed()),
            compute_micros: micros(computed),
            waited_micros: micros(time.waited()),
            fuel: state.limits.fuel.saturating_sub(fuel_left),
            memory_bytes: state.memory.peak,
            logs: mem::take(&mut state.logs),
            logs_dropped: state.logs_dropped,
            host_calls: mem::take(&mut state.host_calls),
        };
        state.cpu_permit.release(computed);
        if let Some(key) = pool_key
            && report.result.is_ok()
        {
            pool.put(key, instance, &runtime);
        }
        report
    }
}

fn fresh(module: Arc<LoadedModule>, state: CallState) -> PooledInstance {
    let mut instance = PooledInstance::new(module, state);
    instance.store.limiter(|state| &mut state.memory);
    instance.store.set_max_component_handles(COMPONENT_HANDLES);
    instance.store.epoch_deadline_callback(tick);
    instance
}

/// Called at each tick while a module computes. Ticks follow the machine's clock, limits the thread's processor time:
/// waiting for the hub or for a processor is not the module's fault.
fn tick(mut cx: StoreContextMut<'_, CallState>) -> wasmtime::Result<UpdateDeadline> {
    let time = &cx.data().time;
    time.clock.tick();
    let computed = time.count();
    if time.is_used_up() {
        return Err(wasmtime::Error::new(HostAbort::ComputedTooLong));
    }
    if time.is_late() {
        return Err(wasmtime::Error::new(HostAbort::Late));
    }
    if cx.data().is_inline {
        // Ticks come at any time: one that finds a short call leaves it alone.
        if computed > inline::SHORT {
            inline::give_tasks_away();
            cx.data_mut().claim_cpu()?;
        }
    } else if computed >= MAX_NORMAL_TIME {
        priority::lower();
    }
    if Priority::current() == Priority::Background {
        // Lets a waiting thread have this CPU now, not at the scheduler's next tick.
        std::thread::yield_now();
    }
    Ok(UpdateDeadline::Continue(1))
}

fn answer<O: Operation>(
    instance: &mut PooledInstance,
    context: &CallContext,
    input: &O::Input,
) -> Result<O::Answer, CallFailure> {
    let PooledInstance { module, store, instance, .. } = instance;
    let failed = |error: &wasmtime::Error, phase, store: &Store<CallState>| {
        let CallState { time, memory, .. } = store.data();
        time.count();
        classify(error, phase, memory.denied, time.times())
    };
    let export = module.export(O::POINT, O::NAME).ok_or_else(|| CallFailure::Unavailable {
        reason: format!("the module does not serve the point {}", O::POINT),
    })?;
    let fuel = store.data().limits.fuel;
    store.set_fuel(fuel).map_err(|error| failed(&error, Phase::Starting, store))?;
    let instance = if let Some(started) = instance {
        *started
    } else {
        let started = module.pre.instantiate(&mut *store);
        *instance.insert(started.map_err(|error| failed(&error, Phase::Starting, store))?)
    };
    let running = Running { store: &mut *store, instance: &instance, export, context };
    let answer = O::invoke(running, input).map_err(|error| failed(&error, Phase::Calling, store))?;
    O::check(input, &answer).map_err(|reason| CallFailure::InvalidAnswer { reason })?;
    Ok(answer)
}
