//! One call, from a fresh instance to a checked answer. Runs on a thread of the blocking pool.

use crate::clock::monotonic;
use crate::contract::CallContext;
use crate::failure::{Phase, classify};
use crate::host::Host;
use crate::limits::Limits;
use crate::module::Ready;
use crate::operation::Operation;
use crate::operation::sealed::Running;
use crate::report::{CallFailure, CallReport};
use crate::state::{Memory, State};
use crate::ticker::Ticker;
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
}

impl<O: Operation> Job<O> {
    /// Runs the call to its end.
    pub(crate) fn run(self, ticker: &Ticker) -> CallReport<O::Answer> {
        let started = monotonic();
        if started >= self.deadline {
            return CallReport::not_run(CallFailure::TimedOut);
        }
        let mut store = self.store(ticker);
        let result = self.answer(&mut store);
        let fuel_left = store.get_fuel().unwrap_or(0);
        let micros = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let state = store.into_data();
        CallReport {
            result,
            micros,
            fuel: state.limits.fuel.saturating_sub(fuel_left),
            memory_bytes: state.memory.peak,
            logs: state.logs,
            logs_dropped: state.logs_dropped,
            host_calls: state.host_calls,
        }
    }

    fn store(&self, ticker: &Ticker) -> Store<State> {
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
        let mut store = Store::new(self.ready.pre.engine(), state);
        store.limiter(|state| &mut state.memory);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        store.set_max_component_handles(COMPONENT_HANDLES);
        store.set_epoch_deadline(ticker.ticks_until(self.deadline));
        store
    }

    fn answer(&self, store: &mut Store<State>) -> Result<O::Answer, CallFailure> {
        let failed =
            |error: &wasmtime::Error, phase, store: &Store<State>| classify(error, phase, store.data().memory.denied);
        let export = self.ready.export(O::POINT, O::FUNCTION).ok_or_else(|| CallFailure::Unavailable {
            reason: format!("the module does not serve the point {}", O::POINT),
        })?;
        store.set_fuel(self.limits.fuel).map_err(|error| failed(&error, Phase::Starting, store))?;
        let instance = self.ready.pre.instantiate(&mut *store);
        let instance = instance.map_err(|error| failed(&error, Phase::Starting, store))?;
        let running = Running { store: &mut *store, instance: &instance, export, context: &self.context };
        let answer = O::invoke(running, &self.input).map_err(|error| failed(&error, Phase::Calling, store))?;
        O::check(&self.input, &answer).map_err(|reason| CallFailure::InvalidAnswer { reason })?;
        Ok(answer)
    }
}
