//! A repeat waits while the first is at work.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

use crate::values::NetworkId;

type Key = (NetworkId, String);

/// Who is at work under which key, in this process. Between hub nodes the database decides.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<Key, Arc<tokio::sync::Mutex<()>>>>>);

/// One request's turn.
pub(super) struct Turn {
    key: Key,
    turns: Turns,
    held: Option<OwnedMutexGuard<()>>,
}

impl Turns {
    /// Waits until nobody else is at work under the key.
    pub(super) async fn take(&self, network: NetworkId, key: &str) -> Turn {
        let key = (network, key.to_owned());
        let lock = Arc::clone(self.0.lock().entry(key.clone()).or_default());
        let mut turn = Turn { key, turns: self.clone(), held: None };
        turn.held = Some(lock.lock_owned().await);
        turn
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.held = None;
        let mut turns = self.turns.0.lock();
        // Who waits holds a copy of the lock.
        if turns.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            turns.remove(&self.key);
        }
    }
}
