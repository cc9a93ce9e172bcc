//! Advances the engine's epoch every millisecond, which is what cuts a running module off at its deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};
use wasmtime::{Engine, EngineWeak};

const TICK: Duration = Duration::from_millis(1);
/// Idle ticks after which the thread sleeps until the next call.
const LINGER: u32 = 1000;

/// The thread that ticks. It ends when the engine is gone.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

struct Shared {
    engine: EngineWeak,
    calls: AtomicU64,
    asleep: AtomicBool,
}

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared =
            Arc::new(Shared { engine: engine.weak(), calls: AtomicU64::new(0), asleep: AtomicBool::new(false) });
        let thread = std::thread::Builder::new()
            .name("module-ticker".into())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.run()
            })?
            .thread()
            .clone();
        Ok(Self { shared, thread })
    }

    /// Makes sure it ticks from now on, and says after how many ticks a deadline has surely passed.
    pub(crate) fn ticks_until(&self, deadline: Instant) -> u64 {
        self.shared.calls.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.swap(false, Ordering::SeqCst) {
            self.thread.unpark();
        }
        let left = crate::clock::left_until(deadline);
        // The first tick may come at once, so one more than the whole milliseconds left.
        u64::try_from(left.as_micros().div_ceil(1000)).map_or(u64::MAX / 2, |ticks| ticks + 1)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // Wakes it up to notice that the engine is gone.
        self.thread.unpark();
    }
}

impl Shared {
    fn run(&self) {
        let mut seen = 0;
        let mut idle = 0;
        loop {
            std::thread::sleep(TICK);
            let Some(engine) = self.engine.upgrade() else {
                return;
            };
            engine.increment_epoch();
            drop(engine);
            let calls = self.calls.load(Ordering::SeqCst);
            idle = if calls == seen { idle + 1 } else { 0 };
            seen = calls;
            if idle >= LINGER {
                self.sleep(calls);
                idle = 0;
            }
        }
    }

    fn sleep(&self, seen: u64) {
        self.asleep.store(true, Ordering::SeqCst);
        // A call that came before it could see `asleep` is noticed here instead.
        if self.calls.load(Ordering::SeqCst) == seen {
            std::thread::park();
        }
        self.asleep.store(false, Ordering::SeqCst);
    }
}
