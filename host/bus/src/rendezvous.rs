use parking_lot::Mutex;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Where requests wait for answers that come back by another way, each under an id.
///
/// Ids of different networks must not meet: use a key that contains the network. Clones are the
/// same place. How long to wait is the caller's business: dropping the [`Waiter`] forgets it.
pub struct Rendezvous<T, K = String> {
    waiting: Waiting<T, K>,
}

type Waiting<T, K> = Arc<Mutex<HashMap<K, oneshot::Sender<T>>>>;

impl<T, K> Clone for Rendezvous<T, K> {
    fn clone(&self) -> Self {
        Self { waiting: Arc::clone(&self.waiting) }
    }
}

impl<T, K> Default for Rendezvous<T, K> {
    fn default() -> Self {
        Self { waiting: Arc::default() }
    }
}

impl<T, K: Eq + Hash + Clone> Rendezvous<T, K> {
    /// Begins to wait, before the request is sent. A waiter already there under this id gets
    /// nothing any more.
    pub fn register(&self, id: K) -> Waiter<T, K> {
        let (sender, receiver) = oneshot::channel();
        self.waiting.lock().insert(id.clone(), sender);
        Waiter { id, receiver, waiting: Arc::clone(&self.waiting) }
    }

    /// Hands the answer to who waits for it.
    ///
    /// # Errors
    /// Gives it back where nobody does.
    pub fn complete<Q>(&self, id: &Q, value: T) -> Result<(), T>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let sender = self.waiting.lock().remove(id);
        match sender {
            Some(sender) => sender.send(value),
            None => Err(value),
        }
    }

    /// How many wait now.
    pub fn len(&self) -> usize {
        self.waiting.lock().len()
    }

    /// Whether nobody waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One request's claim to its answer.
pub struct Waiter<T, K: Eq + Hash = String> {
    id: K,
    receiver: oneshot::Receiver<T>,
    waiting: Waiting<T, K>,
}

impl<T, K: Eq + Hash> Waiter<T, K> {
    /// The answer; `None` when a newer waiter took the id.
    pub async fn wait(&mut self) -> Option<T> {
        (&mut self.receiver).await.ok()
    }
}

impl<T, K: Eq + Hash> Drop for Waiter<T, K> {
    fn drop(&mut self) {
        let mut waiting = self.waiting.lock();
        self.receiver.close();
        // Under the same id there may be a newer waiter, whose channel is open.
        if waiting.get(&self.id).is_some_and(oneshot::Sender::is_closed) {
            waiting.remove(&self.id);
        }
    }
}
