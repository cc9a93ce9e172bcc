//! Code measured by `scripts/counts`, which counts instructions: the tests in modules `counts`, one per frequently
//! called function. Measured code must not use time, system calls or random numbers.

/// Runs the measured code: valgrind counts from the call of this function until it returns.
#[inline(never)]
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> T {
    work()
}
