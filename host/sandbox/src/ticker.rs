//! Advances the engine's epoch every millisecond, which stops a running module at its deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Duration;
use wasmtime::{Engine, EngineWeak};

const TICK: Duration = Duration::from_millis(1);
/// Ticks without a call after which the thread sleeps until the next call.
const MAX_IDLE_TICKS: u32 = 20;

/// The thread that ticks. It ends when the engine is gone.
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

struct Shared {
    engine: EngineWeak,
    /// Calls that run now.
    calls: AtomicUsize,
    asleep: AtomicBool,
}

/// A running call: while there is one, the thread ticks.
pub(crate) struct TickGuard<'a>(&'a Shared);

impl Ticker {
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let shared =
            Arc::new(Shared { engine: engine.weak(), calls: AtomicUsize::new(0), asleep: AtomicBool::new(false) });
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

    /// Ticks until the guard is dropped.
    pub(crate) fn start_ticking(&self) -> TickGuard<'_> {
        self.shared.calls.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.swap(false, Ordering::SeqCst) {
            self.thread.unpark();
        }
        TickGuard(&self.shared)
    }

    /// The calls that run now.
    pub(crate) fn running(&self) -> usize {
        self.shared.calls.load(Ordering::SeqCst)
    }
}

impl Drop for TickGuard<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
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
        let mut idle = 0;
        loop {
            std::thread::sleep(TICK);
            let Some(engine) = self.engine.upgrade() else {
                return;
            };
            engine.increment_epoch();
            drop(engine);
            idle = if self.calls.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
            if idle >= MAX_IDLE_TICKS {
                self.sleep();
                idle = 0;
            }
        }
    }

    fn sleep(&self) {
        self.asleep.store(true, Ordering::SeqCst);
        // A call that came before it could see `asleep` is noticed here instead.
        if self.calls.load(Ordering::SeqCst) == 0 {
            std::thread::park();
        }
        self.asleep.store(false, Ordering::SeqCst);
    }
}
