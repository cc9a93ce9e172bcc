//! Requests that wait for a player, in the order in which they came.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

use crate::app::App;
use crate::clock::Moment;
use crate::limits;
use crate::player_sessions::WAITERS;
use crate::player_sessions::error::SessionError;
use crate::player_sessions::memory::{OpenSession, PlayerSessions};
use crate::values::{NetworkId, PlayerId};

/// Requests for one player.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// Ends of their waits, by their ids, which ascend.
    waiters: BTreeMap<u64, Moment>,
    /// The same by their ends.
    ends: BTreeSet<(Moment, u64)>,
    changed: Arc<Notify>,
}

impl Queue {
    /// Lets all requests look again.
    pub(super) fn wake(&self) {
        self.changed.notify_waiters();
    }

    /// Part of the queue that its requests wait for.
    fn front(&self) -> (Option<u64>, Option<Moment>) {
        (self.waiters.keys().next().copied(), self.ends.first().map(|(until, _)| *until))
    }

    /// Changes the queue, and wakes its requests if that is of interest to them.
    fn change(&mut self, change: impl FnOnce(&mut Self)) {
        let before = self.front();
        change(self);
        if self.front() != before {
            self.wake();
        }
    }
}

/// Place of a request among those for its player, until it is dropped.
pub(super) struct Place {
    app: App,
    network: NetworkId,
    player: PlayerId,
    id: u64,
    pub(super) changed: Arc<Notify>,
    is_counted: bool,
}

/// State of a queue, as one of its requests sees it.
pub(super) struct View {
    /// True if no earlier request waits.
    pub(super) is_first: bool,
    /// Earliest end of a wait: a later request whose time is over lets all earlier ones go before it.
    pub(super) earliest: Moment,
    /// The player's open session, if it is known.
    pub(super) open: Option<OpenSession>,
}

impl Place {
    /// Joins the queue for the player.
    pub(super) fn join(app: &App, network: NetworkId, player: PlayerId, until: Moment) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let id = LAST.fetch_add(1, Ordering::Relaxed);
        let changed = app.state::<PlayerSessions>().with(network, |sessions| {
            let queue = sessions.queues.entry(player).or_default();
            queue.change(|queue| {
                queue.waiters.insert(id, until);
                queue.ends.insert((until, id));
            });
            Arc::clone(&queue.changed)
        });
        Self { app: app.clone(), network, player, id, changed, is_counted: false }
    }

    /// Counts this request as waiting; refused if too many wait in the network.
    pub(super) fn count(&mut self) -> Result<(), SessionError> {
        if self.is_counted {
            return Ok(());
        }
        let most = limits::bound(&self.app, WAITERS);
        self.app.state::<PlayerSessions>().with(self.network, |sessions| {
            if sessions.waiting >= most {
                return Err(SessionError::TooManyWait);
            }
            sessions.waiting += 1;
            Ok(())
        })?;
        self.is_counted = true;
        Ok(())
    }

    pub(super) fn view(&self, own_until: Moment) -> View {
        self.app.state::<PlayerSessions>().with(self.network, |sessions| {
            let (first, earliest) = sessions.queues.get(&self.player).map(Queue::front).unwrap_or_default();
            View {
                is_first: first.is_none_or(|first| first == self.id),
                earliest: earliest.unwrap_or(own_until),
                open: sessions.open.get(&self.player).cloned(),
            }
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.app.state::<PlayerSessions>().with(self.network, |sessions| {
            sessions.waiting -= i64::from(self.is_counted);
            let Some(queue) = sessions.queues.get_mut(&self.player) else { return };
            queue.change(|queue| {
                if let Some(until) = queue.waiters.remove(&self.id) {
                    queue.ends.remove(&(until, self.id));
                }
            });
            if queue.waiters.is_empty() {
                sessions.queues.remove(&self.player);
            }
        });
    }
}
