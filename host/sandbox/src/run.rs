//! One call, from an instance to a checked answer, on a thread of its own.

use crate::clock::{left_until, monotonic};
use crate::contract::CallContext;
use crate::failure::{Phase, classify};
use crate::host::Host;
use crate::instance_pool::{InstancePool, PoolKey, PooledInstance};
use crate::limits::Limits;
use crate::module::LoadedModule;
use crate::network::CpuPermit;
use crate::operation::Operation;
use crate::priority::{self, Priority, cpu_time};
use crate::report::{CallFailure, CallReport};
use crate::state::{CallState, MemoryLimiter};
use crate::ticker::Ticker;
use crate::versions::Running;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::{Store, StoreContextMut, UpdateDeadline};

/// Bytes a module may hand to the host in one host call, or in its answer.
const HOSTCALL_BYTES: usize = 256 << 10;
/// Resource handles a module may hold. The contract has no resources.
const COMPONENT_HANDLES: usize = 64;
/// CPU time after which a call goes on at background priority.
const MAX_NORMAL_TIME: Duration = Duration::from_millis(2);

/// Everything one call needs, owned.
pub(crate) struct CallJob<O: Operation> {
    pub(crate) module: Arc<LoadedModule>,
    pub(crate) limits: Limits,
    pub(crate) deadline: Instant,
    pub(crate) context: CallContext,
    pub(crate) input: Arc<O::Input>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) cpu_permit: CpuPermit,
    /// The instances that may serve it; none: a fresh one does.
    pub(crate) pool_key: Option<PoolKey>,
}

impl<O: Operation> CallJob<O> {
    /// Runs the call to its end.
    pub(crate) fn run(self, ticker: &Ticker, pool: &InstancePool) -> CallReport<O::Answer> {
        let _ticking = ticker.start_ticking();
        let started = monotonic();
        if started >= self.deadline {
            return CallReport::not_run(CallFailure::TimedOut);
        }
        let Self { module, limits, deadline, context, input, host, runtime, cpu_permit, pool_key } = self;
        let cpu_at_start = cpu_time();
        let state = CallState {
            limits,
            deadline,
            runtime: runtime.clone(),
            cpu_permit,
            cpu_at_start,
            host,
            texts: O::texts(&input),
            logs: Vec::new(),
            logs_dropped: 0,
            host_calls: Vec::new(),
            memory: MemoryLimiter { limit: limits.memory_bytes, peak: 0, denied: false },
        };
        let mut instance = match pool_key.and_then(|key| pool.take(key)) {
            Some(pooled) => pooled.with_state(state),
            None => fresh(module, state),
        };
        instance.store.set_epoch_deadline(1);
        let result = answer::<O>(&mut instance, &context, &input);
        let fuel_left = instance.store.get_fuel().unwrap_or(0);
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let state = instance.store.data_mut();
        let report = CallReport {
            result,
            micros,
            fuel: state.limits.fuel.saturating_sub(fuel_left),
            memory_bytes: state.memory.peak,
            logs: mem::take(&mut state.logs),
            logs_dropped: state.logs_dropped,
            host_calls: mem::take(&mut state.host_calls),
        };
        state.cpu_permit.release(cpu_time().saturating_sub(cpu_at_start));
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
    instance.store.set_hostcall_fuel(HOSTCALL_BYTES);
    instance.store.set_max_component_handles(COMPONENT_HANDLES);
    instance.store.epoch_deadline_callback(|cx| Ok(tick(&cx)));
    instance
}

/// What happens at each tick while a module computes.
fn tick(cx: &StoreContextMut<'_, CallState>) -> UpdateDeadline {
    let CallState { deadline, cpu_at_start, .. } = *cx.data();
    if left_until(deadline).is_zero() {
        return UpdateDeadline::Interrupt;
    }
    // CPU time, because waiting for the hub or for the CPU is not the module's doing.
    if cpu_time().saturating_sub(cpu_at_start) >= MAX_NORMAL_TIME {
        priority::lower();
    }
    if Priority::current() == Priority::Background {
        // Whoever waits for this CPU gets it now, not at the scheduler's next tick.
        std::thread::yield_now();
    }
    UpdateDeadline::Continue(1)
}

fn answer<O: Operation>(
    instance: &mut PooledInstance,
    context: &CallContext,
    input: &O::Input,
) -> Result<O::Answer, CallFailure> {
    let PooledInstance { module, store, instance, .. } = instance;
    let failed =
        |error: &wasmtime::Error, phase, store: &Store<CallState>| classify(error, phase, store.data().memory.denied);
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
