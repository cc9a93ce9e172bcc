//! Players whose kept state has to be read again.

use std::collections::{HashSet, VecDeque};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tracing::warn;
use uuid::Uuid;

use super::persist::persist;
use crate::HubError;

/// One at a time, so that a change that concerns everybody is no rush of requests.
#[derive(Debug, Default)]
pub(super) struct RefreshQueue {
    waiting: Mutex<(VecDeque<Uuid>, HashSet<Uuid>)>,
    wake: Notify,
}

impl RefreshQueue {
    pub(super) fn add(&self, player: Uuid) {
        let (order, known) = &mut *self.waiting.lock();
        if known.insert(player) {
            order.push_back(player);
        }
        self.wake.notify_one();
    }

    fn take(&self) -> Option<Uuid> {
        let (order, known) = &mut *self.waiting.lock();
        let player = order.pop_front()?;
        known.remove(&player);
        Some(player)
    }

    /// Without end.
    pub(super) async fn run<F>(&self, refresh: impl Fn(Uuid) -> F)
    where
        F: Future<Output = Result<(), HubError>>,
    {
        loop {
            let Some(player) = self.take() else {
                self.wake.notified().await;
                continue;
            };
            if let Err(error) = persist(None, || refresh(player)).await {
                warn!("what is kept of player {player} cannot be read anew: {}", error.message());
            }
        }
    }
}
