//! Instances that outlive their call: of links that ask for it, and each for that link alone.
//!
//! What starting costs, which is most of a call in some languages, is then paid once for many calls. An instance that
//! failed is never used again, nor is one that grew large, was used often, or was not used for a while.

use crate::clock::monotonic;
use crate::module::Ready;
use crate::state::State;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use wasmtime::Store;
use wasmtime::component::Instance;

/// Calls one instance serves.
const USES: u32 = 1000;
/// Instances of one link that are kept.
const OF_ONE: usize = 8;

/// Whose instances they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane(u64);

impl Lane {
    /// One that no other link has.
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// A store, and its instance once it is started.
pub(crate) struct Seat {
    /// The code it runs: what the cache has of the module may be another copy by now, whose exports are others.
    pub(crate) ready: Arc<Ready>,
    pub(crate) store: Store<State>,
    pub(crate) instance: Option<Instance>,
    uses: u32,
}

impl Seat {
    /// With nothing started yet.
    pub(crate) fn new(ready: Arc<Ready>, state: State) -> Self {
        Self { store: Store::new(ready.pre.engine(), state), ready, instance: None, uses: 0 }
    }

    /// The same instance for another call.
    pub(crate) fn again(mut self, mut state: State) -> Self {
        state.memory.peak = self.store.data().memory.peak;
        *self.store.data_mut() = state;
        self
    }

    fn memory(&self) -> usize {
        self.store.data().memory.peak
    }
}

/// What may be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) instances: usize,
    pub(crate) bytes: usize,
    pub(crate) idle: Duration,
}

/// The instances that wait for their next call. Beside the places for calls, the pool has one for each of them.
pub(crate) struct Idle {
    bounds: Bounds,
    waiting: Arc<Mutex<Waiting>>,
}

/// The one that waits longest first.
#[derive(Default)]
struct Waiting {
    seats: Vec<(Lane, Instant, Seat)>,
    bytes: usize,
    swept: bool,
}

impl Idle {
    pub(crate) fn new(bounds: Bounds) -> Self {
        Self { bounds, waiting: Arc::default() }
    }

    /// An instance of the link's, for a call.
    pub(crate) fn take(&self, lane: Lane) -> Option<Seat> {
        let now = monotonic();
        let mut waiting = self.waiting.lock();
        let of_lane = |(of, since, _): &(Lane, Instant, Seat)| *of == lane && now - *since < self.bounds.idle;
        let at = waiting.seats.iter().rposition(of_lane)?;
        let (_, _, seat) = waiting.seats.remove(at);
        waiting.bytes -= seat.memory();
        Some(seat)
    }

    /// Keeps an instance whose call went well, for the link's next one.
    pub(crate) fn put(&self, lane: Lane, mut seat: Seat, runtime: &Handle) {
        seat.uses += 1;
        let state = seat.store.data_mut();
        let large = state.memory.peak > state.memory.limit / 2;
        if large || seat.uses >= USES {
            return;
        }
        state.leave();
        let mut gone = vec![];
        let mut waiting = self.waiting.lock();
        if waiting.seats.iter().filter(|(of, ..)| *of == lane).count() >= OF_ONE {
            return;
        }
        waiting.bytes += seat.memory();
        waiting.seats.push((lane, monotonic(), seat));
        while waiting.seats.len() > self.bounds.instances || waiting.bytes > self.bounds.bytes {
            gone.push(waiting.remove_oldest());
        }
        if !waiting.swept && !waiting.seats.is_empty() {
            waiting.swept = true;
            runtime.spawn(sweep(Arc::downgrade(&self.waiting), self.bounds.idle));
        }
        // Giving memory back takes a while; the lock is for others.
        drop(waiting);
        drop(gone);
    }
}

impl Waiting {
    fn remove_oldest(&mut self) -> Seat {
        let (_, _, seat) = self.seats.remove(0);
        self.bytes -= seat.memory();
        seat
    }

    fn remove_stale(&mut self, idle: Duration) -> Vec<Seat> {
        let now = monotonic();
        let stale = self.seats.iter().take_while(|(_, since, _)| now - *since >= idle).count();
        (0..stale).map(|_| self.remove_oldest()).collect()
    }
}

/// Ends what nobody has used for a while, for as long as there is something.
async fn sweep(waiting: Weak<Mutex<Waiting>>, idle: Duration) {
    loop {
        tokio::time::sleep((idle / 2).max(Duration::from_millis(10))).await;
        let Some(waiting) = waiting.upgrade() else { return };
        let mut locked = waiting.lock();
        let stale = locked.remove_stale(idle);
        let over = locked.seats.is_empty();
        locked.swept = !over;
        drop(locked);
        drop(stale);
        if over {
            return;
        }
    }
}
