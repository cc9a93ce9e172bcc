//! An allocator that counts: what is alive, the most that was, and how often something was made.

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use mimalloc::MiMalloc;

/// The hub's allocator, counted.
pub struct Counting;

static ALIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static MADE: AtomicU64 = AtomicU64::new(0);

fn add(bytes: usize) {
    MADE.fetch_add(1, Relaxed);
    MOST.fetch_max(ALIVE.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

fn subtract(bytes: usize) {
    ALIVE.fetch_sub(bytes, Relaxed);
}

#[allow(unsafe_code, reason = "an allocator passes on what it is asked for")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        subtract(layout.size());
        unsafe { MiMalloc.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        subtract(layout.size());
        add(size);
        unsafe { MiMalloc.realloc(place, layout, size) }
    }
}

/// Counts since a moment.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    alive: usize,
    made: u64,
}

impl Count {
    pub fn begin() -> Self {
        let alive = ALIVE.load(Relaxed);
        MOST.store(alive, Relaxed);
        Self { alive, made: MADE.load(Relaxed) }
    }

    /// The most bytes that were alive at once beside those of the beginning.
    pub fn most_bytes(self) -> usize {
        MOST.load(Relaxed).saturating_sub(self.alive)
    }

    /// Number of pieces of memory that were asked for: steps of the work that do not depend on the machine.
    pub fn steps(self) -> u64 {
        MADE.load(Relaxed) - self.made
    }
}
