//! What networks share the CPU by. Each has so many turns; and one whose calls have lately computed a lot starts its
//! next ones at the lowest priority, so that those who compute little hardly notice it.

use crate::clock::{left_until, monotonic};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};

/// Networks that are remembered before those that do nothing are forgotten.
const REMEMBERED: usize = 1024;
/// Computing counts for about this long.
const LATELY: Duration = Duration::from_secs(1);
/// Uploads of a network that are in memory at once.
const UPLOADS: usize = 4;
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
    pub(crate) name: Box<str>,
    /// Held while an upload is prepared: of a network's uploads only one waits for `compiling`, so that the loading of an
    /// accepted module never waits for more.
    pub(crate) preparing: AsyncMutex<()>,
    /// Held while a module is compiled: in the queue for the compiler there is only one module of each network.
    pub(crate) compiling: AsyncMutex<()>,
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
            name: name.into(),
            preparing: AsyncMutex::default(),
            compiling: AsyncMutex::default(),
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

/// Lets one upload of a network be in memory: hold it until the upload is stored.
pub struct UploadPermit {
    // Keeps the network remembered, with the permits that are taken.
    pub(crate) network: Arc<Network>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl UploadPermit {
    pub(crate) async fn acquire(network: Arc<Network>) -> Self {
        // The semaphore is never closed.
        let permit = Arc::clone(&network.uploads).acquire_owned().await.ok();
        Self { network, _permit: permit }
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
}
