//! One call, from an instance to a checked answer. Runs on a thread of the blocking pool.

use crate::clock::monotonic;
use crate::contract::CallContext;
use crate::failure::{Phase, classify};
use crate::host::Host;
use crate::limits::Limits;
use crate::module::Ready;
use crate::operation::Operation;
use crate::operation::sealed::Running;
use crate::report::{CallFailure, CallReport};
use crate::reuse::{Idle, Lane, Seat};
use crate::state::{Memory, State};
use crate::ticker::Ticker;
use std::mem;
use std::sync::Arc;
use std::time::Instant;
use wasmtime::Store;

/// Bytes a module may hand to the host in one host call, or in its answer.
const HOSTCALL_BYTES: usize = 256 << 10;
/// Resource handles a module may hold. The contract has no resources.
const COMPONENT_HANDLES: usize = 64;

/// Everything one call needs, owned.
pub(crate) struct Job<O: Operation> {
    pub(crate) ready: Arc<Ready>,
    pub(crate) limits: Limits,
    pub(crate) deadline: Instant,
    pub(crate) context: CallContext,
    pub(crate) input: Arc<O::Input>,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) runtime: tokio::runtime::Handle,
    /// Whose instances may serve it; none: a fresh one does.
    pub(crate) lane: Option<Lane>,
}

impl<O: Operation> Job<O> {
    /// Runs the call to its end.
    pub(crate) fn run(self, ticker: &Ticker, idle: &Idle) -> CallReport<O::Answer> {
        let started = monotonic();
        if started >= self.deadline {
            return CallReport::not_run(CallFailure::TimedOut);
        }
        let mut seat = self.seat(ticker, idle);
        let result = self.answer(&mut seat);
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
        if let Some(lane) = self.lane
            && report.result.is_ok()
        {
            idle.put(lane, seat, &self.runtime);
        }
        report
    }

    fn seat(&self, ticker: &Ticker, idle: &Idle) -> Seat {
        let state = State {
            limits: self.limits,
            deadline: self.deadline,
            runtime: self.runtime.clone(),
            host: Arc::clone(&self.host),
            texts: O::texts(&self.input),
            logs: Vec::new(),
            logs_dropped: 0,
            host_calls: Vec::new(),
            memory: Memory { limit: self.limits.memory_bytes, peak: 0, denied: false },
        };
        let mut seat = if let Some(kept) = self.lane.and_then(|lane| idle.take(lane)) {
            kept.again(state)
        } else {
            let mut seat = Seat::new(Arc::clone(&self.ready), state);
            seat.store.limiter(|state| &mut state.memory);
            seat.store.set_hostcall_fuel(HOSTCALL_BYTES);
            seat.store.set_max_component_handles(COMPONENT_HANDLES);
            seat
        };
        seat.store.set_epoch_deadline(ticker.ticks_until(self.deadline));
        seat
    }

    fn answer(&self, seat: &mut Seat) -> Result<O::Answer, CallFailure> {
        let Seat { ready, store, instance, .. } = seat;
        let failed =
            |error: &wasmtime::Error, phase, store: &Store<State>| classify(error, phase, store.data().memory.denied);
        let export = ready.export(O::POINT, O::FUNCTION).ok_or_else(|| CallFailure::Unavailable {
            reason: format!("the module does not serve the point {}", O::POINT),
        })?;
        store.set_fuel(self.limits.fuel).map_err(|error| failed(&error, Phase::Starting, store))?;
        let instance = if let Some(started) = instance {
            *started
        } else {
            let started = ready.pre.instantiate(&mut *store);
            *instance.insert(started.map_err(|error| failed(&error, Phase::Starting, store))?)
        };
        let running = Running { store: &mut *store, instance: &instance, export, context: &self.context };
        let answer = O::invoke(running, &self.input).map_err(|error| failed(&error, Phase::Calling, store))?;
        O::check(&self.input, &answer).map_err(|reason| CallFailure::InvalidAnswer { reason })?;
        Ok(answer)
    }
}
