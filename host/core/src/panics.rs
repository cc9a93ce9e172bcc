//! Panics of background work. One that a row of one network causes must not end the work for all networks: it is caught,
//! counted, and said once of each piece of work.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use futures_util::FutureExt as _;
use parking_lot::Mutex;

static CAUGHT: AtomicU64 = AtomicU64::new(0);
/// Work whose panic was said.
static SAID: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Number of panics caught since the process began.
pub fn caught_panics() -> u64 {
    CAUGHT.load(Relaxed)
}

/// Result of the work; none if it panicked. `what` completes "the hub failed to …".
pub async fn catch_panic<T>(what: &'static str, work: impl Future<Output = T>) -> Option<T> {
    // Nothing of the work is used after a panic but locks, which are not poisoned, and transactions, which are rolled back.
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(result) => Some(result),
        Err(panic) => {
            CAUGHT.fetch_add(1, Relaxed);
            if SAID.lock().insert(what) {
                let reason = message(&*panic);
                tracing::error!(reason, "the hub failed to {what}; this is said once, and work for others goes on");
            }
            None
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_counted_and_ends_nothing() {
        let before = caught_panics();
        assert_eq!(catch_panic("try", async { 1 }).await, Some(1));
        assert_eq!(catch_panic::<u8>("try", async { panic!("row 3") }).await, None);
        assert_eq!(catch_panic::<u8>("try", async { panic!("{}", 4) }).await, None);
        assert!(caught_panics() >= before + 2);
        assert!(SAID.lock().contains("try"));
    }
}
