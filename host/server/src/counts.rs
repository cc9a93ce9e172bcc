//! What `scripts/counts` counts the instructions of: the tests in modules `counts`, each for one function that is called most.
//! No time, no system calls and nothing random belongs in what they measure.

/// Runs what is counted: valgrind counts from the call of this function until it returns.
#[inline(never)]
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> T {
    work()
}
