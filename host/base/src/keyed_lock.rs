//! One lock per key, existing while it is held or awaited.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;

/// Locks by key. Clones share them.
#[derive(Debug)]
pub struct KeyedLock<K>(Arc<Mutex<HashMap<K, Arc<tokio::sync::Mutex<()>>>>>);

/// Lock of one key, held until this is dropped.
#[derive(Debug)]
pub struct KeyedGuard<K: Eq + Hash + Clone> {
    key: K,
    locks: KeyedLock<K>,
    held: Option<OwnedMutexGuard<()>>,
}

impl<K> Default for KeyedLock<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K> Clone for KeyedLock<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash + Clone> KeyedLock<K> {
    /// Waits for the key's lock.
    pub async fn lock(&self, key: K) -> KeyedGuard<K> {
        let lock = Arc::clone(self.0.lock().entry(key.clone()).or_default());
        let mut guard = KeyedGuard { key, locks: self.clone(), held: None };
        guard.held = Some(lock.lock_owned().await);
        guard
    }
}

impl<K: Eq + Hash + Clone> Drop for KeyedGuard<K> {
    fn drop(&mut self) {
        self.held = None;
        let mut locks = self.locks.0.lock();
        // Waiting tasks hold clones of the lock.
        if locks.get(&self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_key_is_held_by_one_and_forgotten_after_the_last() {
        let locks = KeyedLock::default();
        let first = locks.lock("a").await;
        let other = locks.lock("b").await;
        let waiting = tokio::spawn({
            let locks = locks.clone();
            async move { drop(locks.lock("a").await) }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop((first, other));
        waiting.await.unwrap();
        assert!(locks.0.lock().is_empty());
    }
}
