//! One call, from an instance to a checked answer. Runs on a thread of its own for as long as it takes.

use crate::clock::{left_until, monotonic};
use crate::contract::CallContext;
use crate::failure::{Phase, classify};
use crate::host::Host;
use crate::limits::Limits;
use crate::module::Ready;
use crate::network::CpuTurn;
use crate::operation::Operation;
use crate::operation::sealed::Running;
use crate::priority::cpu_time;
use crate::report::{CallFailure, CallReport};
use crate::reuse::{Idle, Lane, Seat};
use crate::state::{Memory, State};
use crate::threads::{give_way, gives_way};
use crate::ticker::Ticker;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasmtime::{Store, StoreContextMut, UpdateDeadline};

/// Bytes a module may hand to the host in one host call, or in its answer.
const HOSTCALL_BYTES: usize = 256 << 10;
/// Resource handles a module may hold. The contract has no resources.
const COMPONENT_HANDLES: usize = 64;
/// CPU time after which a call gives way to everything else.
const SHORT: Duration = Duration::from_millis(2);

/// Everything one call needs, owned.
pub(crate) struct Job<O: Operation> {
    pub(crate) ready: Arc<Ready>,
    pub(crate) limits: Limits,
    pub(crate) deadline: Instant,
    pub(crate) context: CallContext,
    pub(crate) input: Arc<O::Input>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) runtime: tokio::runtime::Handle,
    pub(crate) turn: CpuTurn,
    /// Whose instances may serve it; none: a fresh one does.
    pub(crate) lane: Option<Lane>,
}

impl<O: Operation> Job<O> {
    /// Runs the call to its end.
    pub(crate) fn run(self, ticker: &Ticker, idle: &Idle) -> CallReport<O::Answer> {
        let _ticking = ticker.tick();
        let started = monotonic();
        if started >= self.deadline {
            return CallReport::not_run(CallFailure::TimedOut);
        }
        let Self { ready, limits, deadline, context, input, host, runtime, turn, lane } = self;
        let cpu_before = cpu_time();
        let state = State {
            limits,
            deadline,
            runtime: runtime.clone(),
            turn,
            cpu_before,
            host,
            texts: O::texts(&input),
            logs: Vec::new(),
            logs_dropped: 0,
            host_calls: Vec::new(),
            memory: Memory { limit: limits.memory_bytes, peak: 0, denied: false },
        };
        let mut seat = seat(ready, state, lane.and_then(|lane| idle.take(lane)));
        let result = answer::<O>(&mut seat, &context, &input);
        let fuel_left = seat.store.get_fuel().unwrap_or(0);
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let state = seat.store.data_mut();
        let report = CallReport {
            result,
            micros,
            fuel: state.limits.fuel.saturating_sub(fuel_left),
            memory_bytes: state.memory.peak,
            logs: mem::take(&mut state.logs),
            logs_dropped: state.logs_dropped,
            host_calls: mem::take(&mut state.host_calls),
        };
        state.turn.end(cpu_time().saturating_sub(cpu_before));
        if let Some(lane) = lane
            && report.result.is_ok()
        {
            idle.put(lane, seat, &runtime);
        }
        report
    }
}

/// An instance that was kept, or the place for a fresh one.
fn seat(ready: Arc<Ready>, state: State, kept: Option<Seat>) -> Seat {
    let mut seat = if let Some(kept) = kept {
        kept.again(state)
    } else {
        let mut seat = Seat::new(ready, state);
        seat.store.limiter(|state| &mut state.memory);
        seat.store.set_hostcall_fuel(HOSTCALL_BYTES);
        seat.store.set_max_component_handles(COMPONENT_HANDLES);
        seat.store.epoch_deadline_callback(|cx| Ok(tick(&cx)));
        seat
    };
    seat.store.set_epoch_deadline(1);
    seat
}

/// What happens at each tick while a module computes.
fn tick(cx: &StoreContextMut<'_, State>) -> UpdateDeadline {
    let State { deadline, cpu_before, .. } = *cx.data();
    if left_until(deadline).is_zero() {
        return UpdateDeadline::Interrupt;
    }
    // Waiting for the hub, or for the CPU, is not the module's doing, so this is not what the clock says.
    if !gives_way() && cpu_time().saturating_sub(cpu_before) >= SHORT {
        give_way();
    }
    if gives_way() {
        // Who waits for this CPU gets it now, and not only when the system next looks.
        std::thread::yield_now();
    }
    UpdateDeadline::Continue(1)
}

fn answer<O: Operation>(seat: &mut Seat, context: &CallContext, input: &O::Input) -> Result<O::Answer, CallFailure> {
    let Seat { ready, store, instance, .. } = seat;
    let failed =
        |error: &wasmtime::Error, phase, store: &Store<State>| classify(error, phase, store.data().memory.denied);
    let export = ready.export(O::POINT, O::FUNCTION).ok_or_else(|| CallFailure::Unavailable {
        reason: format!("the module does not serve the point {}", O::POINT),
    })?;
    let fuel = store.data().limits.fuel;
    store.set_fuel(fuel).map_err(|error| failed(&error, Phase::Starting, store))?;
    let instance = if let Some(started) = instance {
        *started
    } else {
        let started = ready.pre.instantiate(&mut *store);
        *instance.insert(started.map_err(|error| failed(&error, Phase::Starting, store))?)
    };
    let running = Running { store: &mut *store, instance: &instance, export, context };
    let answer = O::invoke(running, input).map_err(|error| failed(&error, Phase::Calling, store))?;
    O::check(input, &answer).map_err(|reason| CallFailure::InvalidAnswer { reason })?;
    Ok(answer)
}
