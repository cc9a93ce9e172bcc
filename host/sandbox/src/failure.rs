//! Maps wasmtime's errors to [`CallFailure`]s.

use crate::report::{CallFailure, CallTimes};
use crate::state::HostAbort;
use wasmtime::{Error, Trap, WasmBacktrace};

/// Phase in which a call ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Instantiating the module.
    Starting,
    /// Running the exported function, or passing its arguments and answer.
    Calling,
}

/// Maps an error to a failure. `memory_denied`: the module had asked for too much memory.
pub(crate) fn classify(error: &Error, phase: Phase, memory_denied: bool, times: CallTimes) -> CallFailure {
    if let Some(abort) = error.downcast_ref::<HostAbort>() {
        return match abort {
            HostAbort::ComputedTooLong => CallFailure::TimedOut(times),
            HostAbort::Late => CallFailure::Late(times),
            HostAbort::HostCallLimit => CallFailure::HostCallLimit,
            HostAbort::UnknownLookup(_) => trap(error),
        };
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => CallFailure::OutOfFuel,
        // Allocators trap when they get no memory, which alone would hide the reason.
        _ if memory_denied => CallFailure::OutOfMemory,
        Some(_) => trap(error),
        // Not a trap: the module broke the rules of passing values, such as a pointer outside of its memory, text that
        // is no UTF-8, or more data than the host accepts.
        None if phase == Phase::Calling => CallFailure::InvalidAnswer { reason: error.root_cause().to_string() },
        None => CallFailure::Unavailable { reason: format!("{error:#}") },
    }
}

fn trap(error: &Error) -> CallFailure {
    CallFailure::Trap {
        message: error.root_cause().to_string(),
        backtrace: error.downcast_ref::<WasmBacktrace>().map(ToString::to_string).unwrap_or_default(),
    }
}
