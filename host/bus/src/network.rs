use crate::cluster::Stored;
use crate::config::BusConfig;
use crate::event::{Event, PublishError, frame};
use crate::id::EventId;
use crate::lane::Entry;
use crate::listener::{End, Listener};
use crate::state::{Positions, State};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;

/// One network's sequence and its streams.
pub(crate) struct Network {
    /// Which sequence its numbers belong to.
    pub(crate) epoch: u64,
    pub(crate) state: Mutex<State>,
    /// By address. Apart from the state, so that waking thousands of readers does not hold up
    /// those that already read; locked after the state where both are.
    listeners: RwLock<HashMap<usize, Arc<Listener>>>,
}

/// Where a new subscription stands.
pub(crate) struct Joined {
    pub(crate) listener: Arc<Listener>,
    pub(crate) replaced: bool,
    /// The newest sequence when it began.
    pub(crate) head: u64,
    /// After what was asked for; `None` where that is gone.
    pub(crate) resumed: Option<Positions>,
    /// At the end.
    pub(crate) live: Positions,
}

impl Network {
    /// A network of which everything up to `floor` is unknown.
    pub(crate) fn new(epoch: u64, floor: u64) -> Self {
        Self { epoch, state: Mutex::new(State::after(floor)), listeners: RwLock::default() }
    }

    pub(crate) fn publish(&self, config: &BusConfig, event: &Event, now_ms: i64) -> Result<u64, PublishError> {
        let (sequence, listener) = self.state.lock().append(config, self.epoch, event, now_ms)?;
        self.wake(event.target.is_some(), listener.as_deref());
        Ok(sequence)
    }

    /// Adds an event that another place numbered; one that is here already changes nothing.
    pub(crate) fn take_in(&self, config: &BusConfig, sequence: u64, stored: &Stored) {
        let frame = frame(EventId { epoch: self.epoch, sequence }, &stored.name, &stored.data);
        let entry = Entry { sequence, at_ms: stored.at_ms, frame };
        let mut state = self.state.lock();
        if sequence <= state.head() {
            return;
        }
        let listener = state.push(config, stored.target.as_deref(), entry, stored.at_ms);
        drop(state);
        self.wake(stored.target.is_some(), listener.as_deref());
    }

    fn wake(&self, targeted: bool, listener: Option<&Listener>) {
        if targeted {
            listener.into_iter().for_each(Listener::wake);
        } else {
            self.listeners.read().values().for_each(|one| one.wake());
        }
    }

    pub(crate) fn head(&self) -> u64 {
        self.state.lock().head()
    }

    /// There is nothing of this network up to `sequence` that is not here.
    pub(crate) fn raise_head(&self, sequence: u64) {
        self.state.lock().raise_head(sequence);
    }

    /// Of what came up to `sequence` some may be missing for good: whoever reads is cut off, and is told so when it
    /// resumes.
    pub(crate) fn lose_up_to(&self, sequence: u64) {
        let mut state = self.state.lock();
        let listeners: Vec<_> = self.listeners.read().values().cloned().collect();
        for listener in &listeners {
            self.end(&mut state, listener, Some(End::TooSlow));
        }
        state.lose_up_to(sequence);
    }

    /// Adds a subscription that resumes after `last`, if there is such a sequence.
    pub(crate) fn join(&self, config: &BusConfig, server_id: Option<&str>, last: Option<u64>, now_ms: i64) -> Joined {
        let listener = Arc::new(Listener::new(server_id.map(Arc::from), now_ms));
        let mut state = self.state.lock();
        let live = state.begin(config, &listener, now_ms);
        let resumed = last.and_then(|last| state.positions_after(server_id, last));
        let replaced = if state.is_closed() {
            listener.finish(Some(End::Closed));
            None
        } else {
            let mut listeners = self.listeners.write();
            listeners.insert(address(&listener), Arc::clone(&listener));
            let replaced = state.attach(&listener);
            if let Some(old) = &replaced {
                listeners.remove(&address(old));
                old.finish(Some(End::Replaced));
            }
            replaced
        };
        Joined { listener, replaced: replaced.is_some(), head: state.head(), resumed, live }
    }

    /// A server opened a stream at another node, then: an older one here gives way.
    pub(crate) fn replaced_elsewhere(&self, server_id: &str, opened_at_ms: i64) {
        let mut state = self.state.lock();
        if let Some(listener) = state.listener(server_id).filter(|listener| listener.opened_at_ms < opened_at_ms) {
            self.end(&mut state, &listener, Some(End::Replaced));
        }
    }

    /// Ends a subscription, if nothing has yet; `None` when its reader leaves by itself.
    pub(crate) fn leave(&self, listener: &Arc<Listener>, end: Option<End>) {
        self.end(&mut self.state.lock(), listener, end);
    }

    fn end(&self, state: &mut State, listener: &Arc<Listener>, end: Option<End>) {
        state.detach(listener);
        self.listeners.write().remove(&address(listener));
        listener.finish(end);
    }

    /// Ends all subscriptions and refuses new ones and new events; the newest sequence.
    pub(crate) fn close(&self) -> u64 {
        let mut state = self.state.lock();
        state.close();
        let listeners: Vec<_> = self.listeners.read().values().cloned().collect();
        for listener in &listeners {
            self.end(&mut state, listener, Some(End::Closed));
        }
        state.head()
    }

    /// Lets go of what has expired and cuts off who is too far behind: how many.
    pub(crate) fn sweep(&self, config: &BusConfig, now_ms: i64) -> u64 {
        let mut state = self.state.lock();
        let slow: Vec<_> = {
            let listeners = self.listeners.read();
            let slow = listeners.values().filter(|listener| state.is_too_slow(config, listener));
            slow.cloned().collect()
        };
        for listener in &slow {
            self.end(&mut state, listener, Some(End::TooSlow));
        }
        let listened = !self.listeners.read().is_empty();
        state.sweep(config, now_ms, listened);
        slow.len() as u64
    }

    pub(crate) fn subscriptions(&self) -> usize {
        self.listeners.read().len()
    }
}

fn address(listener: &Arc<Listener>) -> usize {
    Arc::as_ptr(listener).addr()
}
