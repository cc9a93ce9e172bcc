//! Making way for others.

use std::time::Duration;
use thread_priority::ThreadPriority;
use thread_priority::unix::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};

/// CPU time this thread has had.
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Runs this thread only where nobody else wants the CPU: whoever wakes up takes it at once, where it would wait for a nice
/// thread's slice of some 3 ms to end. There is no way back.
pub(crate) fn idle() {
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    if let Err(error) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle) {
        tracing::debug!(?error, "a thread's priority can't be lowered");
    }
}

/// Runs this thread, and what it starts, where hardly anybody else wants the CPU, but not never on a machine that is busy.
pub(crate) fn nice() {
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "a thread's priority can't be lowered");
    }
}
