//! Support for `scripts/counts`, which counts the instructions of the tests in modules `counts`, each for one of the functions
//! that are called most. They measure no time, no system calls and nothing random.

/// Runs the code to be counted: valgrind counts from the call of this function until it returns.
#[inline(never)]
pub fn measured<T>(work: impl FnOnce() -> T) -> T {
    work()
}
