//! Making way for others.

use std::time::Duration;

/// CPU time this thread has had.
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Runs this thread, and what it starts from now on, only where hardly anybody else wants the CPU. There is no way back.
pub(crate) fn lowest() {
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "a thread's priority can't be lowered");
    }
}
