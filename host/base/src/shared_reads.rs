//! Reads that many callers request at once: one runs at a time, and its answer serves all callers that asked before it
//! began.
//!
//! An answer is never older than its request, as with separate reads, and a value requested thousands of times a second
//! is read some hundred times.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

/// Reads by key, kept while a caller waits for one.
#[derive(Debug)]
pub struct SharedReads<K, V>(Mutex<HashMap<K, Arc<Shared<V>>>>);

#[derive(Debug)]
struct Shared<V> {
    /// Number of requests.
    asked: AtomicU64,
    /// Last answer. Locked by the reader.
    answer: tokio::sync::Mutex<Option<Answer<V>>>,
}

#[derive(Debug)]
struct Answer<V> {
    /// Number of requests at the start of the read.
    serves: u64,
    value: V,
}

impl<K, V> Default for SharedReads<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<V> Default for Shared<V> {
    fn default() -> Self {
        Self { asked: AtomicU64::new(0), answer: tokio::sync::Mutex::new(None) }
    }
}

impl<K: Eq + Hash + Clone, V: Clone> SharedReads<K, V> {
    /// Reads by `read`, or shares the answer of another caller's `read` with the same key. Failures are not shared.
    pub async fn read<E>(&self, key: K, read: impl Future<Output = Result<V, E>>) -> Result<V, E> {
        let shared = Arc::clone(self.0.lock().entry(key.clone()).or_default());
        let waiting = Waiting { reads: self, key, shared };
        let Shared { asked, answer } = &*waiting.shared;
        let number = asked.fetch_add(1, Ordering::AcqRel);
        let mut answer = answer.lock().await;
        if let Some(Answer { serves, value }) = &*answer
            && number < *serves
        {
            return Ok(value.clone());
        }
        let serves = asked.load(Ordering::Acquire);
        let value = read.await?;
        *answer = Some(Answer { serves, value: value.clone() });
        Ok(value)
    }
}

/// A waiting caller. The last one removes the answer.
struct Waiting<'a, K: Eq + Hash, V> {
    reads: &'a SharedReads<K, V>,
    key: K,
    shared: Arc<Shared<V>>,
}

impl<K: Eq + Hash, V> Drop for Waiting<'_, K, V> {
    fn drop(&mut self) {
        let mut reads = self.reads.0.lock();
        // One reference here, one in the map.
        if Arc::strong_count(&self.shared) == 2 {
            reads.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::FutureExt as _;
    use futures_util::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;

    #[tokio::test]
    async fn callers_before_a_read_share_its_answer() {
        let (reads, gate, begun) = (SharedReads::default(), Semaphore::new(0), AtomicU64::new(0));
        let read = || {
            reads.read("key", async {
                let number = begun.fetch_add(1, Ordering::Relaxed) + 1;
                gate.acquire().await.unwrap().forget();
                Ok::<_, Infallible>(number)
            })
        };
        let mut first = Box::pin(read());
        assert!((&mut first).now_or_never().is_none());
        // They came after the first had begun, so that its answer may be too old for them.
        let mut later = Box::pin(join_all((0..5).map(|_| read())));
        assert!((&mut later).now_or_never().is_none());
        gate.add_permits(1);
        assert_eq!(first.await, Ok(1));
        gate.add_permits(1);
        assert_eq!(later.await, vec![Ok(2); 5]);
        assert!(reads.0.lock().is_empty(), "without waiting callers nothing is kept");
        gate.add_permits(1);
        assert_eq!(read().await, Ok(3));
    }

    #[tokio::test]
    async fn failed_and_cancelled_reads_are_not_shared() {
        let reads = SharedReads::default();
        let gate = Semaphore::new(0);
        let mut given_up = Box::pin(reads.read("key", async {
            gate.acquire().await.unwrap().forget();
            Ok::<_, &str>(1)
        }));
        assert!((&mut given_up).now_or_never().is_none());
        let mut fails = Box::pin(reads.read("key", async { Err::<i32, _>("no") }));
        let mut succeeds = Box::pin(reads.read("key", async { Ok::<_, &str>(2) }));
        assert!((&mut fails).now_or_never().is_none() && (&mut succeeds).now_or_never().is_none());
        drop(given_up);
        assert_eq!(fails.await, Err("no"));
        assert_eq!(succeeds.await, Ok(2));
        assert!(reads.0.lock().is_empty());
    }
}
