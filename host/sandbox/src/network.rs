//! What networks share the CPU by. Each has so many turns; and one whose calls have lately computed a lot starts its
//! next ones at the lowest priority, so that those who compute little hardly notice it.

use crate::clock::{left_until, monotonic};
use crate::turn::{Turn, Turns};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Networks that are remembered before those that do nothing are forgotten.
const REMEMBERED: usize = 1024;
/// Computing counts for about this long.
const LATELY: Duration = Duration::from_secs(1);
/// Uploads of a network that are in memory at once.
const UPLOADS: usize = 4;
/// Small pieces of an upload wait together.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);
/// The part of its turns that a network may use without counting as busy.
const BUSY: f64 = 0.125;

/// All networks.
pub(crate) struct Networks {
    cpus: usize,
    known: Mutex<HashMap<Box<str>, Arc<Network>>>,
}

/// One network.
pub(crate) struct Network {
    /// Calls that compute at once.
    cpu: Arc<Semaphore>,
    /// Its modules' turns to be prepared.
    pub(crate) turns: Turns,
    /// Its uploads that are in memory.
    uploads: Arc<Semaphore>,
    used: Mutex<Used>,
    busy_from: f64,
}

/// Seconds of CPU time, older ones counting less.
struct Used {
    seconds: f64,
    at: Instant,
}

impl Networks {
    /// Each with up to `cpus` (at least one) calls that compute at once.
    pub(crate) fn new(cpus: usize) -> Self {
        Self { cpus: cpus.clamp(1, Semaphore::MAX_PERMITS), known: Mutex::default() }
    }

    /// The network of that name.
    pub(crate) fn get(&self, name: &str) -> Arc<Network> {
        let mut known = self.known.lock();
        if let Some(network) = known.get(name) {
            return Arc::clone(network);
        }
        if known.len() >= REMEMBERED {
            // Whoever holds or waits for a turn holds the network too.
            known.retain(|_, network| Arc::strong_count(network) > 1);
        }
        let network = Arc::new(Network {
            cpu: Arc::new(Semaphore::new(self.cpus)),
            turns: Turns::new(),
            uploads: Arc::new(Semaphore::new(UPLOADS)),
            used: Mutex::new(Used { seconds: 0.0, at: monotonic() }),
            busy_from: BUSY * self.cpus as f64 * LATELY.as_secs_f64(),
        });
        known.insert(name.into(), Arc::clone(&network));
        network
    }
}

impl Network {
    /// Whether its calls have computed a lot lately.
    pub(crate) fn is_busy(&self) -> bool {
        self.used.lock().by(monotonic()) > self.busy_from
    }

    /// Adds what a call has computed.
    fn used(&self, time: Duration) {
        let now = monotonic();
        let mut used = self.used.lock();
        used.seconds = used.by(now) + time.as_secs_f64();
        used.at = now;
    }
}

impl Used {
    fn by(&self, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at);
        self.seconds * (-passed.as_secs_f64() / LATELY.as_secs_f64()).exp()
    }
}

/// A place for an upload in the hub's memory, until it is dropped. What comes in counts against the network's allowance
/// then, whatever became of it.
pub struct UploadPlace {
    // As long as it is held the network is not forgotten, with the places that are taken.
    network: Arc<Network>,
    _place: Option<OwnedSemaphorePermit>,
    /// What has come in, or may, and does not count yet.
    bytes: usize,
}

impl UploadPlace {
    /// The network's next place, once the allowance has something left.
    pub(crate) async fn take(network: Arc<Network>, bytes: usize) -> Self {
        // The semaphore is never closed.
        let place = Arc::clone(&network.uploads).acquire_owned().await.ok();
        network.turns.settled().await;
        Self { network, _place: place, bytes }
    }

    /// To be called after each piece that was received: blocks the thread until the next may be. A runtime's timer would
    /// wake the threads that calls need, hundreds of times for each upload.
    pub fn pace(&self) -> impl Fn(usize) + Send + use<> {
        let network = Arc::clone(&self.network);
        move |bytes| {
            let wait = network.turns.pace(bytes);
            if wait >= SHORTEST_WAIT {
                std::thread::sleep(wait);
            }
        }
    }

    /// Says how large the upload turned out to be.
    pub fn received(&mut self, bytes: usize) {
        self.bytes = bytes;
    }

    /// The upload's turn to be prepared.
    pub(crate) async fn turn(&mut self) -> Turn<'_> {
        let turn = self.network.turns.upload(self.bytes).await;
        self.bytes = 0;
        turn
    }
}

impl Drop for UploadPlace {
    fn drop(&mut self) {
        self.network.turns.received(self.bytes);
    }
}

/// A call's turn on the CPU, which it gives back while it waits for the hub.
pub(crate) struct CpuTurn {
    network: Arc<Network>,
    held: Option<OwnedSemaphorePermit>,
}

impl CpuTurn {
    /// The network's next turn, before the deadline.
    pub(crate) async fn take(network: Arc<Network>, deadline: Instant) -> Option<Self> {
        let held = enter(&network.cpu, deadline).await?;
        Some(Self { network, held: Some(held) })
    }

    /// Gives the turn back, with what was computed in it.
    pub(crate) fn end(&mut self, computed: Duration) {
        self.held = None;
        self.network.used(computed);
    }

    /// Waits for something without holding the turn.
    pub(crate) async fn while_waiting<T>(&mut self, something: impl Future<Output = T>) -> T {
        self.held = None;
        let came = something.await;
        // The semaphore is never closed.
        self.held = Arc::clone(&self.network.cpu).acquire_owned().await.ok();
        came
    }
}

/// A place behind a gate, before the deadline.
pub(crate) async fn enter(gate: &Arc<Semaphore>, deadline: Instant) -> Option<OwnedSemaphorePermit> {
    // Without a timer where there is room, which is nearly always.
    if let Ok(permit) = Arc::clone(gate).try_acquire_owned() {
        return Some(permit);
    }
    let waiting = Arc::clone(gate).acquire_owned();
    tokio::time::timeout(left_until(deadline), waiting).await.ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_that_do_nothing_are_forgotten_and_the_others_not() {
        let networks = Networks::new(1);
        let kept = networks.get("kept");
        for number in 0..3 * REMEMBERED {
            networks.get(&number.to_string());
        }
        assert!(networks.known.lock().len() <= REMEMBERED);
        assert!(Arc::ptr_eq(&networks.get("kept"), &kept));
    }

    #[test]
    fn a_network_is_busy_while_it_has_computed_a_lot_lately() {
        let network = Networks::new(2).get("busy");
        let at = network.used.lock().at;
        let busy_after = |seconds: f64, passed: Duration| {
            let used = Used { seconds, at };
            used.by(at + passed) > network.busy_from
        };
        assert!(!network.is_busy());
        assert!(!busy_after(0.2, Duration::ZERO));
        assert!(busy_after(0.3, Duration::ZERO));
        assert!(busy_after(1.0, Duration::from_secs(1)));
        assert!(!busy_after(1.0, Duration::from_secs(2)));
        network.used(Duration::from_secs(10));
        assert!(network.is_busy());
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_received_counts_whatever_became_of_it() {
        let network = Networks::new(1).get("loud");
        let begins = async |bytes: usize| {
            let asked = tokio::time::Instant::now();
            let place = UploadPlace::take(Arc::clone(&network), bytes).await;
            (asked.elapsed(), place)
        };
        // Refused, cut off or known already: dropped without a turn.
        assert!(begins(60 << 20).await.0.is_zero());
        let (waited, mut place) = begins(60 << 20).await;
        assert!(waited > Duration::from_secs(9) && waited < Duration::from_secs(11), "{waited:?}");
        // It turned out to be small, so the next one waits for nothing.
        place.received(1);
        drop(place);
        assert!(begins(0).await.0 < Duration::from_millis(10));
        // Once it has its turn it counts then, and not again.
        let (_, mut place) = begins(20 << 20).await;
        drop(place.turn().await);
        let (waited, _) = begins(0).await;
        assert!(waited > Duration::from_secs(9) && waited < Duration::from_secs(11), "{waited:?}");
        drop(place);
        assert!(begins(0).await.0 < Duration::from_millis(10));
    }
}
