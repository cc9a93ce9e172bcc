//! Memory for large answers: what one network's callers were not sent yet is bounded, so that nobody fills the memory by
//! asking and not reading.
//!
//! A route that says `large_answer` reserves memory before it reads anything, and waits behind its own network's other
//! answers. Any other answer over 64 KiB takes its memory once it is built, and is refused where none is left. What is
//! streamed (events, files) is not in memory, and smaller answers fit into the socket.

mod body;
mod layer;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::values::NetworkId;

pub(crate) use layer::layer;

/// What is counted: permits of a semaphore have 32 bits.
const UNIT: usize = 1024;

/// The memory that networks have for their answers. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResponseBudget(Arc<Mutex<HashMap<NetworkId, Arc<Semaphore>>>>);

/// Memory of one answer, until this is dropped.
#[derive(Debug)]
struct AnswerPermit {
    network: NetworkId,
    memory: ResponseBudget,
    held: Option<OwnedSemaphorePermit>,
}

impl ResponseBudget {
    fn semaphore(&self, network: NetworkId, total: u32) -> Arc<Semaphore> {
        Arc::clone(self.0.lock().entry(network).or_insert_with(|| Arc::new(Semaphore::new(total as usize))))
    }

    /// Waits until so much of the network's `total` is free. None after `patience`.
    async fn reserve(
        &self,
        network: NetworkId,
        total: usize,
        bytes: usize,
        patience: Duration,
    ) -> Option<AnswerPermit> {
        let (total, mut permit) = (units(total), self.permit(network));
        let acquiring = self.semaphore(network, total).acquire_many_owned(units(bytes).min(total));
        permit.held = Some(timeout(patience, acquiring).await.ok()?.ok()?);
        Some(permit)
    }

    /// So much of the network's `total`, if it is free.
    fn try_reserve(&self, network: NetworkId, total: usize, bytes: usize) -> Option<AnswerPermit> {
        let (total, mut permit) = (units(total), self.permit(network));
        permit.held = Some(self.semaphore(network, total).try_acquire_many_owned(units(bytes).min(total)).ok()?);
        Some(permit)
    }

    fn permit(&self, network: NetworkId) -> AnswerPermit {
        AnswerPermit { network, memory: self.clone(), held: None }
    }
}

/// At least one, so that a bound of nothing lets one answer through at a time.
fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).max(1)
}

impl AnswerPermit {
    /// Gives back what an answer of this size does not need.
    fn shrink_to(&mut self, bytes: usize) {
        if let Some(held) = &mut self.held {
            let unneeded = held.num_permits().saturating_sub(units(bytes) as usize);
            drop(held.split(unneeded));
        }
    }
}

impl Drop for AnswerPermit {
    fn drop(&mut self) {
        self.held = None;
        let mut networks = self.memory.0.lock();
        // Whoever waits or holds a permit has a clone of the semaphore.
        if networks.get(&self.network).is_some_and(|semaphore| Arc::strong_count(semaphore) == 1) {
            networks.remove(&self.network);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    const A: NetworkId = NetworkId(Uuid::from_u128(1));
    const B: NetworkId = NetworkId(Uuid::from_u128(2));
    const TOTAL: usize = 64 * UNIT;
    const PATIENCE: Duration = Duration::from_secs(5);

    #[tokio::test(start_paused = true)]
    async fn a_network_waits_for_its_own_answers_alone() {
        let memory = ResponseBudget::default();
        let mut held = memory.reserve(A, TOTAL, TOTAL, PATIENCE).await.unwrap();
        assert!(memory.try_reserve(A, TOTAL, 1).is_none());
        assert!(memory.reserve(A, TOTAL, 1, PATIENCE).await.is_none());
        assert!(memory.try_reserve(B, TOTAL, TOTAL).is_some());
        // What the answer did not need goes to who waits.
        let mut waiting = Box::pin(memory.reserve(A, TOTAL, TOTAL / 2, PATIENCE));
        assert!(waiting.as_mut().now_or_never().is_none());
        held.shrink_to(TOTAL / 2);
        let next = waiting.now_or_never().flatten().unwrap();
        assert!(memory.try_reserve(A, TOTAL, 1).is_none());
        drop((held, next));
        assert!(memory.0.lock().is_empty(), "nothing is kept of networks without answers");
    }

    #[tokio::test]
    async fn an_answer_larger_than_all_of_the_memory_takes_all_of_it() {
        let memory = ResponseBudget::default();
        let held = memory.try_reserve(A, TOTAL, 9 * TOTAL).unwrap();
        assert!(memory.try_reserve(A, TOTAL, 1).is_none());
        drop(held);
        // Where an operator lowered the bound to nothing, one at a time.
        let held = memory.try_reserve(A, 0, TOTAL).unwrap();
        assert!(memory.try_reserve(A, 0, TOTAL).is_none());
        drop(held);
        assert!(memory.0.lock().is_empty());
    }
}
