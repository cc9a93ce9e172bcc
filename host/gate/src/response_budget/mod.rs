//! Memory for large responses: the unsent responses of one network are limited, so that clients cannot fill the memory
//! by requesting without reading.
//!
//! Routes marked `large_answer` reserve memory before they read anything and wait behind other responses of their
//! network. Other responses over 64 KiB reserve memory once they are built and are refused if none is left. Streamed
//! content (events, files) is not in memory, and smaller responses fit into the socket.

mod body;
mod layer;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::component::{Component, ErrorCode};
use crate::values::NetworkId;

pub use layer::layer;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "memory for the large answers of each network",
    errors: &[ErrorCode::new(
        "answers_unread",
        &[503],
        "Too many large responses to this network are unread; try again.",
    )],
    register: |states, _| {
        states.insert(ResponseBudget::default());
        Ok(())
    },
    ..Component::new(module_path!())
};

/// Bytes per semaphore permit: a semaphore counts 32-bit numbers.
const UNIT: usize = 1024;

/// Response memory of the networks. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct ResponseBudget(Arc<Mutex<HashMap<NetworkId, Arc<Semaphore>>>>);

/// Memory of one response, released on drop.
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

    /// Waits until `bytes` of the network's `total` are free. None after `patience`.
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

    /// Reserves `bytes` of the network's `total` if they are free.
    fn try_reserve(&self, network: NetworkId, total: usize, bytes: usize) -> Option<AnswerPermit> {
        let (total, mut permit) = (units(total), self.permit(network));
        permit.held = Some(self.semaphore(network, total).try_acquire_many_owned(units(bytes).min(total)).ok()?);
        Some(permit)
    }

    fn permit(&self, network: NetworkId) -> AnswerPermit {
        AnswerPermit { network, memory: self.clone(), held: None }
    }
}

/// At least one, so that a limit of zero lets one response through at a time.
fn units(bytes: usize) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).max(1)
}

impl AnswerPermit {
    /// Releases the part of the reservation that a response of this size does not need.
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
        // Waiting requests and permits hold clones of the semaphore.
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
        // Unneeded memory goes to waiting requests.
        let mut waiting = Box::pin(memory.reserve(A, TOTAL, TOTAL / 2, PATIENCE));
        assert!(waiting.as_mut().now_or_never().is_none());
        held.shrink_to(TOTAL / 2);
        let next = waiting.now_or_never().flatten().unwrap();
        assert!(memory.try_reserve(A, TOTAL, 1).is_none());
        drop((held, next));
        assert!(memory.0.lock().is_empty(), "networks without responses use no entry");
    }

    #[tokio::test]
    async fn an_answer_larger_than_all_of_the_memory_takes_all_of_it() {
        let memory = ResponseBudget::default();
        let held = memory.try_reserve(A, TOTAL, 9 * TOTAL).unwrap();
        assert!(memory.try_reserve(A, TOTAL, 1).is_none());
        drop(held);
        // With a limit of zero, one at a time.
        let held = memory.try_reserve(A, 0, TOTAL).unwrap();
        assert!(memory.try_reserve(A, 0, TOTAL).is_none());
        drop(held);
        assert!(memory.0.lock().is_empty());
    }
}
