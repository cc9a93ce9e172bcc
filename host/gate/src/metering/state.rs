//! Metering's state in memory.

use std::sync::atomic::AtomicI64;

use tokio::sync::Mutex;

use crate::app::App;
use crate::clock::Millis;
use crate::metering::flush::Unsent;
use crate::values::NetworkId;

/// Tells how many players and servers networks had online at once.
pub trait OnlinePeaks: Send + Sync {
    /// The most of each network since the last call: players, then servers.
    fn take(&self, app: &App) -> Vec<(NetworkId, usize, usize)>;
}

/// The batches of usage that wait to be stored.
pub struct Metering {
    pub(super) unsent: Mutex<Unsent>,
    /// When this node last noted what networks store.
    pub(super) storage_noted_at: AtomicI64,
    pub(super) online_peaks: &'static dyn OnlinePeaks,
}

impl Metering {
    /// Usage without unsent counts. `node` is this process's alone.
    pub fn new(node: String, online_peaks: &'static dyn OnlinePeaks) -> Self {
        let unsent = Mutex::new(Unsent::new(node));
        Self { unsent, storage_noted_at: AtomicI64::new(Millis::MIN), online_peaks }
    }
}
