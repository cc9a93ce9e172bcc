//! The scheduling priority of threads.

use std::cell::Cell;
use std::time::Duration;
use thread_priority::ThreadPriority;
use thread_priority::unix::{
    NormalThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};

/// Priority of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Same as the hub itself.
    #[default]
    Normal,
    /// Behind all other work.
    Background,
}

thread_local! {
    static CURRENT: Cell<Priority> = const { Cell::new(Priority::Normal) };
}

impl Priority {
    /// Priority of this thread.
    pub(crate) fn current() -> Self {
        CURRENT.get()
    }
}

/// Lowers this thread to [`Priority::Background`]; the system does not let it be raised again. The idle policy lets any
/// other thread that wakes up preempt it at once; a nice one would finish its slice of some 3 ms.
pub(crate) fn lower() {
    if CURRENT.replace(Priority::Background) == Priority::Background {
        return;
    }
    let idle = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Idle);
    if let Err(error) = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, idle) {
        tracing::debug!(?error, "a thread's priority can't be lowered");
    }
}

/// Gives this thread, and the processes it starts, the maximum niceness. Unlike idle ones they still run on a machine
/// that is always busy.
pub(crate) fn set_nice() {
    if let Err(error) = rustix::process::setpriority_process(None, 19) {
        tracing::debug!(%error, "a thread's priority can't be lowered");
    }
}

/// CPU time of this thread.
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
