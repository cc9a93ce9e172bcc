//! Lines of all networks, each behind its own lock, which is taken after presence's and never held over an await.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;

use crate::app::App;
use crate::clock::Millis;
use crate::matchmaking::{PlayerContext, WaitingPlayers, WantedSlot, Withheld};
use crate::presence::{NetworkPresence, Presence, Watcher};
use crate::side_by_side::SideBySide;
use crate::values::NetworkId;
use crate::waiting_lines::memory::Lines;

/// Lines of all networks of this node.
#[derive(Debug, Default)]
pub struct WaitingLines {
    networks: RwLock<HashMap<NetworkId, Arc<NetworkLines>>>,
    /// Wakes the loop that matches.
    pub(super) wake: Arc<Notify>,
    /// The loop that matches.
    pub(super) matching: SideBySide,
    /// The loop that tells places.
    pub(super) telling: SideBySide,
}

/// Lines of one network.
#[derive(Debug)]
pub(super) struct NetworkLines {
    state: Mutex<Lines>,
    flags: Arc<Flags>,
    /// Held while tickets are saved, so that batches are saved in order. The number of the last saved batch.
    pub(super) saved_batch: tokio::sync::Mutex<u64>,
    pub(super) batch: std::sync::atomic::AtomicU64,
    /// Held while settings of lines are changed, in the database and then in memory.
    pub(super) settings: tokio::sync::Mutex<()>,
    /// True once memory has the settings of the database: a network may be imported while its hub runs.
    pub(super) has_settings: AtomicBool,
    /// Held while modules rank destinations of those who wait.
    pub(super) ranking: tokio::sync::Mutex<()>,
    is_watching: AtomicBool,
}

/// Notes for the loops, readable without a lock.
#[derive(Debug)]
struct Flags {
    /// True if presence changed.
    is_woken: AtomicBool,
    next_due: AtomicI64,
    waiting: AtomicUsize,
    wake: Arc<Notify>,
}

impl Watcher for Flags {
    fn wake(&self) {
        if !self.is_woken.swap(true, Ordering::Relaxed) {
            self.wake.notify_one();
        }
    }
}

impl Withheld for NetworkLines {
    fn is_withheld(&self, player: &PlayerContext, slot: WantedSlot<'_>) -> bool {
        self.state.lock().is_claimed(player, slot)
    }
}

impl WaitingLines {
    /// The network's lines, if it has any.
    pub(super) fn find(&self, network: NetworkId) -> Option<Arc<NetworkLines>> {
        self.networks.read().get(&network).cloned()
    }

    /// True if these are the network's lines, not those before it moved.
    pub(super) fn has(&self, network: NetworkId, lines: &Arc<NetworkLines>) -> bool {
        self.find(network).is_some_and(|current| Arc::ptr_eq(&current, lines))
    }

    /// The network's lines.
    pub(super) fn of(&self, network: NetworkId) -> Arc<NetworkLines> {
        if let Some(lines) = self.find(network) {
            return lines;
        }
        let new = || {
            Arc::new(NetworkLines {
                state: Mutex::default(),
                flags: Arc::new(Flags {
                    is_woken: AtomicBool::new(false),
                    next_due: AtomicI64::new(i64::MAX),
                    waiting: AtomicUsize::new(0),
                    wake: Arc::clone(&self.wake),
                }),
                saved_batch: tokio::sync::Mutex::default(),
                batch: std::sync::atomic::AtomicU64::default(),
                settings: tokio::sync::Mutex::default(),
                has_settings: AtomicBool::new(false),
                ranking: tokio::sync::Mutex::default(),
                is_watching: AtomicBool::new(false),
            })
        };
        Arc::clone(self.networks.write().entry(network).or_insert_with(new))
    }

    pub(super) fn all(&self) -> Vec<(NetworkId, Arc<NetworkLines>)> {
        self.networks.read().iter().map(|(network, lines)| (*network, Arc::clone(lines))).collect()
    }

    /// Drops a network's lines, which moved to another node.
    pub(super) fn evict(&self, app: &App, network: NetworkId) {
        self.networks.write().remove(&network);
        app.state::<WaitingPlayers>().set(network, None);
    }

    /// Number of players who wait, in all networks.
    pub fn waiting(&self) -> usize {
        self.networks.read().values().map(|lines| lines.flags.waiting.load(Ordering::Relaxed)).sum()
    }
}

/// Moves the times in memory, as the clock is set.
pub(super) fn shift(app: &App, by: Millis) {
    for (network, lines) in app.state::<WaitingLines>().all() {
        lines.change(app, network, |lines, presence| lines.shift(presence, by, app.clock.now()));
    }
}

impl NetworkLines {
    /// Reads the lines.
    pub(super) fn read<T>(&self, work: impl FnOnce(&mut Lines) -> T) -> T {
        work(&mut self.state.lock())
    }

    /// True if there is something to do at `now`.
    pub(super) fn is_due(&self, now: Millis) -> bool {
        self.flags.is_woken.load(Ordering::Relaxed) || self.flags.next_due.load(Ordering::Relaxed) <= now
    }

    pub(super) fn clear_wake(&self) {
        self.flags.is_woken.store(false, Ordering::Relaxed);
    }

    /// True if somebody waits.
    pub(super) fn has_waiting(&self) -> bool {
        self.flags.waiting.load(Ordering::Relaxed) > 0
    }

    /// Changes the lines together with presence.
    pub(super) fn change<T>(
        self: &Arc<Self>,
        app: &App,
        network: NetworkId,
        work: impl FnOnce(&mut Lines, &mut NetworkPresence) -> T,
    ) -> T {
        app.state::<Presence>().with(network, |presence| {
            let mut lines = self.state.lock();
            let result = work(&mut lines, presence);
            self.flags.next_due.store(lines.next_due().unwrap_or(i64::MAX), Ordering::Relaxed);
            let watches = !lines.is_idle();
            if self.is_watching.swap(watches, Ordering::Relaxed) != watches {
                presence.set_watcher(watches.then(|| Arc::clone(&self.flags) as Arc<dyn Watcher>));
            }
            let waiting = lines.waiting();
            let before = self.flags.waiting.swap(waiting, Ordering::Relaxed);
            if (before > 0) != (waiting > 0) {
                let claims = (waiting > 0).then(|| Arc::clone(self) as Arc<dyn Withheld>);
                app.state::<WaitingPlayers>().set(network, claims);
            }
            result
        })
    }
}
