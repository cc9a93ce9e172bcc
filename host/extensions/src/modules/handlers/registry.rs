//! Handlers in memory, at the owner of their network.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};

use crate::app::App;
use crate::clock::Moment;
use crate::modules::handlers::backlog::Backlog;
use crate::modules::handlers::lagging::{TOLD_AGAIN, Waiting};
use crate::modules::handlers::model::HandlerCounts;
use crate::values::NetworkId;

/// Handlers of the networks that this node owns.
#[derive(Debug, Default)]
pub(in crate::modules) struct Handlers {
    networks: Mutex<HashMap<NetworkId, Arc<NetworkHandlers>>>,
    /// Networks whose events may wait without a turn.
    due: Mutex<HashSet<NetworkId>>,
    /// Notified when there is one.
    pub(super) wake: Notify,
    /// Events that wait for handlers, as of the last look.
    pub(super) waiting: Mutex<Waiting>,
    /// Networks whose schedules and timers a task runs, and whether it is to look again.
    serving: Mutex<HashMap<NetworkId, bool>>,
}

/// Handlers of one network.
#[derive(Debug, Default)]
pub(in crate::modules) struct NetworkHandlers {
    /// True while a task hands its events over.
    has_turn: AtomicBool,
    /// Wakes that task.
    pub(super) wake: Notify,
    /// Places of retried dead letters.
    pub(super) retries: RetryPlaces,
    modules: Mutex<BTreeMap<String, Arc<ModuleHandlers>>>,
    /// Versions of modules that are known to have timers or none.
    pub(super) timers: Mutex<HashMap<(String, i64), bool>>,
    /// Queued events; none until they are counted.
    pub(super) backlog: Mutex<Option<Backlog>>,
}

/// Places of retried dead letters, of which no more than these run at once.
#[derive(Debug)]
pub(super) struct RetryPlaces(pub(super) Semaphore);

impl Default for RetryPlaces {
    fn default() -> Self {
        Self(Semaphore::new(4))
    }
}

/// Figures of one module.
#[derive(Debug, Default)]
pub(in crate::modules) struct ModuleHandlers {
    /// Counted since the last time that they were stored.
    counts: Mutex<HandlerCounts>,
    /// Held while counts go from here to the database, and while both are read: none is seen twice or missed.
    pub(super) storing: tokio::sync::Mutex<()>,
    /// Calls under way.
    pub(super) running: AtomicUsize,
    /// Dead letters that are being retried.
    retrying: Mutex<HashSet<i64>>,
    /// Moment at which its lag was told.
    lag_told: Mutex<Option<Moment>>,
    /// Held by each call; alone by one that conflicts with others again and again.
    pub(in crate::modules) alone: tokio::sync::RwLock<()>,
    /// Number of the OVERFLOW that takes the events beyond the bound.
    pub(super) overflow: Mutex<Option<i64>>,
}

impl Handlers {
    /// Handlers of a network.
    pub(in crate::modules) fn network(&self, network: NetworkId) -> Arc<NetworkHandlers> {
        Arc::clone(self.networks.lock().entry(network).or_default())
    }

    /// Drops what is known of a network that another node owns now.
    pub(in crate::modules) fn evict(&self, network: NetworkId) {
        let mut networks = self.networks.lock();
        if networks.get(&network).is_some_and(|handlers| handlers.end()) {
            networks.remove(&network);
        }
    }

    /// Drops what is known of all networks: the database went back to an earlier state.
    pub(in crate::modules) fn evict_all(&self) {
        self.networks.lock().retain(|_, handlers| !handlers.end());
    }

    /// Has a network's events handed over soon.
    pub(in crate::modules) fn wake_network(&self, network: NetworkId) {
        let handlers = self.network(network);
        handlers.wake.notify_one();
        if !handlers.has_turn.load(Ordering::SeqCst) {
            self.due.lock().insert(network);
            self.wake.notify_one();
        }
    }

    /// Claims a network's schedules and timers; false if a task has them, which then looks again.
    pub(super) fn begin_serving(&self, network: NetworkId) -> bool {
        let mut serving = self.serving.lock();
        let is_served = serving.contains_key(&network);
        serving.insert(network, is_served);
        !is_served
    }

    /// Gives a network's schedules and timers up; false if the task is to look again.
    pub(super) fn end_serving(&self, network: NetworkId, is_over: bool) -> bool {
        let mut serving = self.serving.lock();
        if !is_over && serving.get(&network) == Some(&true) {
            serving.insert(network, false);
            return false;
        }
        serving.remove(&network);
        true
    }

    /// Networks whose events may wait without a turn.
    pub(super) fn take_due(&self) -> Vec<NetworkId> {
        self.due.lock().drain().collect()
    }

    /// Modules with counts that are not stored yet.
    pub(super) fn counted(&self) -> Vec<(NetworkId, String, Arc<ModuleHandlers>)> {
        let networks: Vec<_> = self.networks.lock().iter().map(|(id, handlers)| (*id, Arc::clone(handlers))).collect();
        let mut counted = vec![];
        for (network, handlers) in networks {
            for (module, it) in &*handlers.modules.lock() {
                if !it.counts.lock().is_zero() {
                    counted.push((network, module.clone(), Arc::clone(it)));
                }
            }
        }
        counted
    }
}

impl NetworkHandlers {
    /// Begins a turn, which will see all that was notified before; false while there is one.
    pub(super) fn begin_turn(&self) -> bool {
        let is_first = !self.has_turn.swap(true, Ordering::SeqCst);
        if is_first {
            self.take_notification();
        }
        is_first
    }

    /// Ends a turn; true if another is to begin, for a notification that came at the last moment.
    pub(super) fn end_turn(&self) -> bool {
        self.has_turn.store(false, Ordering::SeqCst);
        self.take_notification()
    }

    fn take_notification(&self) -> bool {
        self.wake.notified().now_or_never().is_some()
    }

    /// Forgets what may be wrong; false while a task hands events over, which has to end before another begins.
    fn end(&self) -> bool {
        *self.backlog.lock() = None;
        !self.has_turn.load(Ordering::SeqCst)
    }

    /// Figures of a module.
    pub(in crate::modules) fn module(&self, name: &str) -> Arc<ModuleHandlers> {
        let mut modules = self.modules.lock();
        if let Some(module) = modules.get(name) {
            return Arc::clone(module);
        }
        Arc::clone(modules.entry(name.to_owned()).or_default())
    }

    /// Removes rows that were handled from the known backlog.
    pub(super) fn shrink_backlog(&self, rows: i64) {
        if let Some(backlog) = &mut *self.backlog.lock() {
            backlog.rows = (backlog.rows - rows).max(0);
        }
    }

    /// Figures of a module that has any.
    pub(super) fn known_module(&self, name: &str) -> Option<Arc<ModuleHandlers>> {
        self.modules.lock().get(name).map(Arc::clone)
    }
}

impl ModuleHandlers {
    /// Adds to the counts.
    pub(super) fn count(&self, change: impl FnOnce(&mut HandlerCounts)) {
        change(&mut self.counts.lock());
    }

    /// Takes the counts, to store them.
    pub(super) fn take_counts(&self) -> HandlerCounts {
        std::mem::take(&mut *self.counts.lock())
    }

    /// Counts a call under way until the answer is dropped.
    pub(super) fn begin_call(&self) -> RunningCall<'_> {
        self.running.fetch_add(1, Ordering::Relaxed);
        RunningCall(&self.running)
    }

    /// True if its lag was not told for a while.
    pub(super) fn is_lag_to_be_told(&self, now: Moment) -> bool {
        self.lag_told.lock().is_none_or(|told| now.saturating_since(told) >= TOLD_AGAIN)
    }

    /// Notes that its lag was told.
    pub(super) fn lag_was_told(&self, now: Moment) {
        *self.lag_told.lock() = Some(now);
    }

    /// Claims a dead letter for a retry, until the answer is dropped; none if it is being retried.
    pub(super) fn begin_retry(self: &Arc<Self>, letter: i64) -> Option<Retrying> {
        self.retrying.lock().insert(letter).then(|| Retrying { figures: Arc::clone(self), letter })
    }

    /// True if a dead letter is being retried.
    pub(super) fn is_retrying(&self, letter: i64) -> bool {
        self.retrying.lock().contains(&letter)
    }

    /// Counts that are not stored yet.
    pub(super) fn unsaved(&self) -> HandlerCounts {
        *self.counts.lock()
    }
}

/// A dead letter that is being retried.
pub(super) struct Retrying {
    figures: Arc<ModuleHandlers>,
    letter: i64,
}

impl Drop for Retrying {
    fn drop(&mut self) {
        self.figures.retrying.lock().remove(&self.letter);
    }
}

/// A call under way.
pub(super) struct RunningCall<'a>(&'a AtomicUsize);

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Has the events of a network handed over that this node has become the owner of.
pub(in crate::modules) fn restore(app: &App, network: NetworkId) {
    app.state::<Handlers>().wake_network(network);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Handlers, ModuleHandlers};
    use crate::values::NetworkId;

    #[test]
    fn a_dead_letter_is_retried_by_one_at_a_time_until_that_one_ends() {
        let figures = Arc::new(ModuleHandlers::default());
        let first = figures.begin_retry(7).unwrap();
        assert!(figures.is_retrying(7) && figures.begin_retry(7).is_none());
        // Its request was cancelled.
        drop(first);
        assert!(!figures.is_retrying(7) && figures.begin_retry(7).is_some());
    }

    #[test]
    fn a_turn_leads_to_another_only_if_something_came_meanwhile() {
        let (handlers, network) = (Handlers::default(), NetworkId(uuid::Uuid::from_u128(1)));
        let own = handlers.network(network);
        handlers.wake_network(network);
        assert_eq!(handlers.take_due(), [network]);
        assert!(own.begin_turn() && !own.begin_turn());
        assert!(!own.end_turn(), "it has seen what it was woken for");

        assert!(own.begin_turn());
        handlers.wake_network(network);
        assert!(handlers.take_due().is_empty(), "the turn under way will see it");
        assert!(own.end_turn(), "or the next");
        assert!(own.begin_turn() && !own.end_turn());
    }
}
