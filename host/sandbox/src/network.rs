//! Sharing of the CPU among networks. Each has a limit of concurrently computing calls, short ones aside; and the next
//! calls of a network that has lately computed a lot start at background priority, so that networks that compute little
//! hardly notice it.

use crate::clock::{CallClock, monotonic};
use crate::inline::SHORT;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{Mutex as AsyncMutex, OwnedSemaphorePermit, Semaphore};

/// The network of tools and tests.
pub(crate) const LOCAL_NETWORK: &str = "local";

/// Maximum number of remembered networks before idle ones are forgotten.
const MAX_NETWORKS: usize = 1024;
/// Time over which CPU usage decays.
const USAGE_WINDOW: Duration = Duration::from_secs(1);
/// Maximum share of its CPUs that a network may use without counting as busy.
const BUSY_SHARE: f64 = 0.125;
/// Maximum number of a network's uploads in memory.
const MAX_UPLOADS: usize = 4;

/// All networks.
pub(crate) struct Networks {
    cpus_per_network: usize,
    networks: Mutex<HashMap<Box<str>, Arc<Network>>>,
}

/// One network.
pub(crate) struct Network {
    pub(crate) name: Box<str>,
    /// Locked while an upload is prepared: of a network's uploads only one waits for `compiling`, so that loading an
    /// accepted module never waits for more.
    pub(crate) preparing: AsyncMutex<()>,
    /// Locked while a module is compiled: in the queue for the compiler there is only one module of each network.
    pub(crate) compiling: AsyncMutex<()>,
    uploads: Arc<Semaphore>,
    /// Permits of concurrently computing calls.
    cpu: Arc<Semaphore>,
    usage: Mutex<CpuUsage>,
    busy_threshold: f64,
}

/// Seconds of CPU time, older ones counting less.
struct CpuUsage {
    seconds: f64,
    at: Instant,
}

impl Networks {
    /// Networks with up to `cpus_per_network` (at least one) concurrently computing calls each.
    pub(crate) fn new(cpus_per_network: usize) -> Self {
        Self { cpus_per_network: cpus_per_network.clamp(1, Semaphore::MAX_PERMITS), networks: Mutex::default() }
    }

    /// The network of that name.
    pub(crate) fn get(&self, name: &str) -> Arc<Network> {
        let mut networks = self.networks.lock();
        if let Some(network) = networks.get(name) {
            return Arc::clone(network);
        }
        if networks.len() >= MAX_NETWORKS {
            // Any holder or waiter of a permit holds the network too.
            networks.retain(|_, network| Arc::strong_count(network) > 1);
        }
        let network = Arc::new(Network {
            name: name.into(),
            preparing: AsyncMutex::default(),
            compiling: AsyncMutex::default(),
            uploads: Arc::new(Semaphore::new(MAX_UPLOADS)),
            cpu: Arc::new(Semaphore::new(self.cpus_per_network)),
            usage: Mutex::new(CpuUsage { seconds: 0.0, at: monotonic() }),
            busy_threshold: BUSY_SHARE * self.cpus_per_network as f64 * USAGE_WINDOW.as_secs_f64(),
        });
        networks.insert(name.into(), Arc::clone(&network));
        network
    }
}

impl Network {
    /// True if its calls have computed a lot lately.
    pub(crate) fn is_busy(&self) -> bool {
        self.usage.lock().decayed(monotonic()) > self.busy_threshold
    }

    fn add_usage(&self, time: Duration) {
        let now = monotonic();
        let mut usage = self.usage.lock();
        usage.seconds = usage.decayed(now) + time.as_secs_f64();
        usage.at = now;
    }
}

impl CpuUsage {
    fn decayed(&self, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at);
        self.seconds * (-passed.as_secs_f64() / USAGE_WINDOW.as_secs_f64()).exp()
    }
}

/// Permit to have one upload of a network in memory: hold it until the upload is stored.
pub struct UploadPermit {
    // Keeps the network, and with it the permits in use, from being forgotten.
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

/// Permit to compute; returned while the call waits for the hub. A short call needs none: it is bounded like all other
/// work of its caller.
pub(crate) struct CpuPermit {
    network: Arc<Network>,
    held: Option<OwnedSemaphorePermit>,
}

impl CpuPermit {
    /// Waits for the network's next permit until the deadline.
    pub(crate) async fn acquire(network: Arc<Network>, clock: &CallClock, deadline: Instant) -> Option<Self> {
        let held = acquire_before(&network.cpu, clock, deadline).await?;
        Some(Self { network, held: Some(held) })
    }

    /// For a call that is expected to be short: it holds none until it [claims](Self::claim) one.
    pub(crate) fn not_yet(network: Arc<Network>) -> Self {
        Self { network, held: None }
    }

    pub(crate) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Waits for a permit if it holds none.
    pub(crate) async fn claim(&mut self) {
        if self.held.is_none() {
            // The semaphore is never closed.
            self.held = Arc::clone(&self.network.cpu).acquire_owned().await.ok();
        }
    }

    /// Releases the permit, and records the computing time. Short calls don't make a network busy.
    pub(crate) fn release(&mut self, computed: Duration) {
        self.held = None;
        if computed > SHORT {
            self.network.add_usage(computed);
        }
    }

    /// Releases a held permit while a future runs.
    pub(crate) async fn release_during<T>(&mut self, future: impl Future<Output = T>) -> T {
        let was_held = self.held.take().is_some();
        let output = future.await;
        if was_held {
            self.claim().await;
        }
        output
    }
}

/// Waits for a permit until the deadline.
pub(crate) async fn acquire_before(
    semaphore: &Arc<Semaphore>,
    clock: &CallClock,
    deadline: Instant,
) -> Option<OwnedSemaphorePermit> {
    // Without a timer if there is a free one, which is nearly always.
    if let Ok(permit) = Arc::clone(semaphore).try_acquire_owned() {
        return Some(permit);
    }
    let waiting = Arc::clone(semaphore).acquire_owned();
    clock.timeout_at(deadline, waiting).await?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_idle_networks_are_forgotten() {
        let networks = Networks::new(1);
        let kept = networks.get("kept");
        for number in 0..3 * MAX_NETWORKS {
            networks.get(&number.to_string());
        }
        assert!(networks.networks.lock().len() <= MAX_NETWORKS);
        assert!(Arc::ptr_eq(&networks.get("kept"), &kept));
    }

    #[test]
    fn a_network_is_busy_while_it_has_computed_a_lot_lately() {
        let network = Networks::new(2).get("busy");
        let at = network.usage.lock().at;
        let busy_after = |seconds: f64, passed: Duration| {
            let usage = CpuUsage { seconds, at };
            usage.decayed(at + passed) > network.busy_threshold
        };
        assert!(!network.is_busy());
        assert!(!busy_after(0.2, Duration::ZERO));
        assert!(busy_after(0.3, Duration::ZERO));
        assert!(busy_after(1.0, Duration::from_secs(1)));
        assert!(!busy_after(1.0, Duration::from_secs(2)));
        network.add_usage(Duration::from_secs(10));
        assert!(network.is_busy());
    }

    #[tokio::test]
    async fn a_network_has_four_upload_permits() {
        let network = Networks::new(1).get("n");
        let mut permits = Vec::new();
        for _ in 0..MAX_UPLOADS {
            permits.push(UploadPermit::acquire(Arc::clone(&network)).await);
        }
        let mut fifth = std::pin::pin!(UploadPermit::acquire(Arc::clone(&network)));
        assert!(tokio::time::timeout(Duration::from_millis(10), &mut fifth).await.is_err());
        permits.pop();
        fifth.await;
    }
}
