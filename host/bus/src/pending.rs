use parking_lot::Mutex;
use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Requests whose replies arrive by another route, each under an id.
///
/// Networks must not share ids: use a key that contains the network. Clones share their requests.
/// The caller decides how long to wait; dropping the [`PendingReply`] gives up.
pub struct PendingReplies<T, K = String> {
    senders: Senders<T, K>,
}

type Senders<T, K> = Arc<Mutex<HashMap<K, oneshot::Sender<T>>>>;

impl<T, K> Clone for PendingReplies<T, K> {
    fn clone(&self) -> Self {
        Self { senders: Arc::clone(&self.senders) }
    }
}

impl<T, K> Default for PendingReplies<T, K> {
    fn default() -> Self {
        Self { senders: Arc::default() }
    }
}

impl<T, K: Eq + Hash + Clone> PendingReplies<T, K> {
    /// Registers a request; call it before the request is sent. An older one with the same id gets
    /// no reply any more.
    pub fn register(&self, id: K) -> PendingReply<T, K> {
        let (sender, receiver) = oneshot::channel();
        self.senders.lock().insert(id.clone(), sender);
        PendingReply { id, receiver, senders: Arc::clone(&self.senders) }
    }

    /// Delivers the reply to the waiting caller.
    ///
    /// # Errors
    /// Returns the reply if no caller waits.
    pub fn complete<Q>(&self, id: &Q, reply: T) -> Result<(), T>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let sender = self.senders.lock().remove(id);
        match sender {
            Some(sender) => sender.send(reply),
            None => Err(reply),
        }
    }

    /// Number of requests that wait for their reply.
    pub fn len(&self) -> usize {
        self.senders.lock().len()
    }

    /// True if no request waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One request that waits for its reply.
pub struct PendingReply<T, K: Eq + Hash = String> {
    id: K,
    receiver: oneshot::Receiver<T>,
    senders: Senders<T, K>,
}

impl<T, K: Eq + Hash> PendingReply<T, K> {
    /// The reply; `None` when a newer request took the id.
    pub async fn wait(&mut self) -> Option<T> {
        (&mut self.receiver).await.ok()
    }
}

impl<T, K: Eq + Hash> Drop for PendingReply<T, K> {
    fn drop(&mut self) {
        let mut senders = self.senders.lock();
        self.receiver.close();
        // A newer request may have taken the id; its channel is open.
        if senders.get(&self.id).is_some_and(oneshot::Sender::is_closed) {
            senders.remove(&self.id);
        }
    }
}
