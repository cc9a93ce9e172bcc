//! Order of writes that name no fence and of the opening of sessions: a write that saw no open session ends before one opens.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use crate::values::{NetworkId, PlayerId};

type Key = (NetworkId, PlayerId);
type Locks = Arc<Mutex<HashMap<Key, Arc<RwLock<()>>>>>;

/// Locks of players with a write or an opening under way. Both are served by the network's owner.
#[derive(Debug, Default)]
pub(super) struct Writes(Locks);

/// A write, or an opening, until it is dropped.
#[derive(Debug)]
pub struct Ordered {
    key: Key,
    locks: Locks,
    held: Option<Held>,
}

#[derive(Debug)]
enum Held {
    Write { _guard: OwnedRwLockReadGuard<()> },
    Opening { _guard: OwnedRwLockWriteGuard<()> },
}

impl Writes {
    fn lock(&self, key: Key) -> (Arc<RwLock<()>>, Ordered) {
        let lock = Arc::clone(self.0.lock().entry(key).or_default());
        (lock, Ordered { key, locks: Arc::clone(&self.0), held: None })
    }

    /// Begins a write, after an opening that is under way.
    pub(super) async fn write(&self, network: NetworkId, player: PlayerId) -> Ordered {
        let (lock, mut ordered) = self.lock((network, player));
        ordered.held = Some(Held::Write { _guard: lock.read_owned().await });
        ordered
    }

    /// Begins an opening, after the writes that are under way.
    pub(super) async fn open(&self, network: NetworkId, player: PlayerId) -> Ordered {
        let (lock, mut ordered) = self.lock((network, player));
        ordered.held = Some(Held::Opening { _guard: lock.write_owned().await });
        ordered
    }
}

impl Drop for Ordered {
    fn drop(&mut self) {
        self.held = None;
        let mut locks = self.locks.lock();
        // Others that hold or await it have clones.
        if locks.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.key);
        }
    }
}
