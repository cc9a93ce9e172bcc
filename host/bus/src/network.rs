use crate::config::BusConfig;
use crate::event::{Event, PublishError};
use crate::listener::{End, Listener};
use crate::state::{Positions, State};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;

/// One network's sequence and its streams.
pub(crate) struct Network {
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
    pub(crate) fn new(floor: u64) -> Self {
        Self { state: Mutex::new(State::after(floor)), listeners: RwLock::default() }
    }

    pub(crate) fn publish(&self, config: &BusConfig, event: &Event, now_ms: i64) -> Result<u64, PublishError> {
        let (sequence, listener) = self.state.lock().append(config, event, now_ms)?;
        match (&event.target, listener) {
            (Some(_), listener) => listener.iter().for_each(|listener| listener.wake()),
            (None, _) => self.listeners.read().values().for_each(|one| one.wake()),
        }
        Ok(sequence)
    }

    /// Adds a subscription that resumes after `last`, if there is such a sequence.
    pub(crate) fn join(&self, config: &BusConfig, server_id: Option<&str>, last: Option<u64>, now_ms: i64) -> Joined {
        let listener = Arc::new(Listener::new(server_id.map(Arc::from)));
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
