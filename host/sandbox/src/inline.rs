//! Calls that run on the thread of their caller. Handing a call to another thread and its answer back costs more than
//! most calls do. Used for links whose calls have been short; a call that turns out to be long hands the thread's other
//! work away.

use crate::clock::monotonic;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Maximum duration of a short call, which delays other requests no more than any request does.
pub(crate) const SHORT: Duration = Duration::from_micros(250);
/// Number of consecutive short calls after which the next runs inline.
const MIN_SHORT_CALLS: u32 = 32;
/// Time that another thread needs to take over.
const TAKEOVER: Duration = Duration::from_micros(100);

/// Opens for the calls of a link while they are short.
#[derive(Debug, Default)]
pub(crate) struct InlineGate {
    /// Number of latest consecutive short calls.
    short_calls: AtomicU32,
}

impl InlineGate {
    /// True if the next call may run inline, and this thread can hand its other work away.
    pub(crate) fn is_open(&self) -> bool {
        self.short_calls.load(Ordering::Relaxed) >= MIN_SHORT_CALLS
            && Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
    }

    /// Records the computing time of a call.
    pub(crate) fn record(&self, computed: Duration) {
        if computed > SHORT {
            self.short_calls.store(0, Ordering::Relaxed);
        } else if self.short_calls.load(Ordering::Relaxed) < MIN_SHORT_CALLS {
            self.short_calls.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Hands the other tasks of this thread, if it is one of the runtime's, to another one, and continues. A thread that
/// has taken over keeps them when this returns; if none has yet, the next call of this tries again.
pub(crate) fn give_tasks_away() {
    tokio::task::block_in_place(|| {
        let until = monotonic() + TAKEOVER;
        while monotonic() < until {
            thread::yield_now();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[tokio::test(flavor = "multi_thread")]
    async fn the_gate_is_open_while_calls_are_short() {
        let gate = InlineGate::default();
        for _ in 0..MIN_SHORT_CALLS {
            assert!(!gate.is_open());
            gate.record(SHORT);
        }
        assert!(gate.is_open());
        gate.record(SHORT + Duration::from_nanos(1));
        assert!(!gate.is_open());
    }

    /// With one worker thread, which a call occupies until another task has run.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn the_tasks_of_an_occupied_thread_go_on() {
        let served = Arc::new(AtomicBool::new(false));
        let occupying = tokio::spawn({
            let served = Arc::clone(&served);
            async move {
                tokio::spawn({
                    let served = Arc::clone(&served);
                    async move { served.store(true, Ordering::SeqCst) }
                });
                while !served.load(Ordering::SeqCst) {
                    give_tasks_away();
                }
            }
        });
        occupying.await.unwrap();
    }
}
