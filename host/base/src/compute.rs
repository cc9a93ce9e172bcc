//! Processor-intensive work, separate from the threads that serve requests.
//!
//! There are as many of those threads as processors, so a few milliseconds of work on each are a few milliseconds
//! without service. Here a network takes at most its share of the processors, and waits only behind its own work.

use std::ops::Deref;
use std::sync::LazyLock;
use std::thread::available_parallelism;
use std::time::Duration;

use hub_db::{FairPermits, current_tenant};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::budget::{Allowance, Budget};
use crate::values::NetworkId;

/// Amounts that a renderer may take in one turn: more than the largest page needs. An unoptimised build is slow.
pub(crate) const TURN: Allowance = Allowance {
    bytes: 64 << 20,
    steps: 8_000_000,
    memory: 64 << 20,
    time: Duration::from_secs(if cfg!(debug_assertions) { 20 } else { 1 }),
};
/// Size of JSON, in bytes, above which reading or writing takes more than half a millisecond.
pub const LARGE_JSON: usize = 64 * 1024;
/// Number of rows above which assembling them takes as long.
pub const MANY_ROWS: usize = 500;

/// The processors are shared by the process.
static PROCESSORS: LazyLock<FairPermits> =
    LazyLock::new(|| FairPermits::new(available_parallelism().map_or(2, usize::from).max(2)));

/// Runs work of the current network that takes more than a millisecond, or grows with the stored data. Costs some ten
/// microseconds: run small work directly.
pub async fn compute<T>(work: impl FnOnce() -> T) -> T {
    compute_for(NetworkId(current_tenant()), work).await
}

/// The same for a network that the task is not the work of.
pub async fn compute_for<T>(network: NetworkId, work: impl FnOnce() -> T) -> T {
    let _permit = PROCESSORS.acquire(network.0).await;
    match Handle::current().runtime_flavor() {
        // Another thread takes over this thread's tasks meanwhile.
        RuntimeFlavor::MultiThread => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Proof that work runs in its network's turn to compute, and the budget of the turn. Renderers take it and draw what
/// they make from it, so that nothing is made outside of a turn or without a bound.
#[derive(Debug)]
pub struct Turn(Budget);

impl Turn {
    fn begin() -> Self {
        Self(Budget::begin_on_thread(TURN))
    }
}

impl Deref for Turn {
    type Target = Budget;

    fn deref(&self) -> &Budget {
        &self.0
    }
}

/// Runs a renderer by [`compute`].
pub async fn compute_in_turn<T>(work: impl FnOnce(&Turn) -> T) -> T {
    compute_in_turn_of(NetworkId(current_tenant()), work).await
}

/// The same for a network that the task is not the work of.
pub async fn compute_in_turn_of<T>(network: NetworkId, work: impl FnOnce(&Turn) -> T) -> T {
    compute_for(network, || work(&Turn::begin())).await
}

/// Runs `work` by [`compute`] if it is large.
pub async fn compute_if<T>(is_large: bool, work: impl FnOnce() -> T) -> T {
    if is_large { compute(work).await } else { work() }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Barrier};

    use hub_db::with_tenant;
    use tokio::task::JoinSet;
    use uuid::Uuid;

    use super::*;

    #[tokio::test]
    async fn a_renderer_draws_from_its_turn() {
        let drawn = compute_in_turn_of(NetworkId(Uuid::from_u128(1)), |turn| {
            [turn.bytes(TURN.bytes).is_ok(), turn.bytes(1).is_ok(), turn.steps(TURN.steps + 1).is_ok()]
        });
        assert_eq!(drawn.await, [true, false, false]);
    }

    /// With one worker thread, which computing must not block, and a network that computes at its limit.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_network_that_computes_all_the_time_blocks_nobody() {
        const NOISY: Uuid = Uuid::from_u128(1);
        let (started, end) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(2)));
        let mut noisy = JoinSet::new();
        for _ in 0..50 {
            let (started, end) = (Arc::clone(&started), Arc::clone(&end));
            noisy.spawn(with_tenant(
                NOISY,
                compute(move || {
                    if started.fetch_add(1, Ordering::SeqCst) == 0 {
                        end.wait();
                    }
                }),
            ));
        }
        while started.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        let other = tokio::spawn(with_tenant(Uuid::from_u128(2), compute(|| 7)));
        assert_eq!(other.await.unwrap(), 7);
        let before = started.load(Ordering::SeqCst);
        assert!(PROCESSORS.try_acquire(NOISY).is_none() || before == 50, "the first of 50 still computes");
        tokio::task::spawn_blocking(move || end.wait()).await.unwrap();
        noisy.join_all().await;
        assert_eq!(started.load(Ordering::SeqCst), 50);
    }
}
