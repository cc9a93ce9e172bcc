use crate::config::BusConfig;
use crate::event::{EventRef, NumberedEvent, PublishError, frame};
use crate::event_log::{EventLog, Positions};
use crate::id::EventId;
use crate::listener::{EndReason, Listener};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;

/// One network's event log and its streams.
pub(crate) struct Network {
    /// Epoch of its numbers.
    pub(crate) epoch: u64,
    pub(crate) log: Mutex<EventLog>,
    /// By address. Separate from the log, so that waking thousands of readers does not block those
    /// that already read; where both are locked, the log is first.
    listeners: RwLock<HashMap<usize, Arc<Listener>>>,
}

/// A new subscription, and its possible starting positions.
pub(crate) struct Joined {
    pub(crate) listener: Arc<Listener>,
    pub(crate) replaced: bool,
    /// The newest sequence when it began.
    pub(crate) head: u64,
    /// After the requested event; `None` where events since were dropped.
    pub(crate) resumed: Option<Positions>,
    /// Position if it cannot resume: at the end, or before the events left by an earlier process.
    pub(crate) live: Positions,
    /// The sequence before `live`.
    pub(crate) begin: u64,
}

impl Network {
    /// A network whose events up to `sequence` are unknown.
    pub(crate) fn starting_after(epoch: u64, sequence: u64) -> Self {
        Self { epoch, log: Mutex::new(EventLog::starting_after(sequence)), listeners: RwLock::default() }
    }

    pub(crate) fn publish(&self, config: &BusConfig, event: EventRef<'_>, now_ms: i64) -> Result<u64, PublishError> {
        let (sequence, listener) = self.log.lock().append(config, self.epoch, event, now_ms)?;
        self.wake(event.target.is_some(), listener.as_deref());
        Ok(sequence)
    }

    /// Adds an event that the cluster's stream has numbered, unless it is here already.
    pub(crate) fn apply(&self, config: &BusConfig, event: &NumberedEvent) {
        let sequence = event.sequence;
        let frame = frame(EventId { epoch: self.epoch, sequence }, &event.name, &event.data);
        let mut log = self.log.lock();
        if sequence <= log.head() {
            return;
        }
        let listener = log.push(config, event.target.as_deref(), sequence, event.at_ms, frame);
        drop(log);
        self.wake(event.target.is_some(), listener.as_deref());
    }

    fn wake(&self, targeted: bool, listener: Option<&Listener>) {
        if targeted {
            listener.into_iter().for_each(Listener::wake);
        } else {
            self.listeners.read().values().for_each(|one| one.wake());
        }
    }

    /// Publishes an event left by an earlier process. Streams that were opened before this process see it, too.
    pub(crate) fn publish_left_over(
        &self,
        config: &BusConfig,
        event: EventRef<'_>,
        now_ms: i64,
    ) -> Result<u64, PublishError> {
        self.log.lock().mark_left_over();
        self.publish(config, event, now_ms)
    }

    pub(crate) fn head(&self) -> u64 {
        self.log.lock().head()
    }

    /// See [`EventLog::raise_head`].
    pub(crate) fn raise_head(&self, sequence: u64) {
        self.log.lock().raise_head(sequence);
    }

    /// The stream's events up to `sequence` are of earlier epochs: a stream that comes with an id of theirs sees the later ones.
    pub(crate) fn set_begin(&self, sequence: u64) {
        self.log.lock().set_begin(sequence);
    }

    /// Ends all streams, whose clients resume.
    pub(crate) fn end_streams(&self) {
        let mut log = self.log.lock();
        self.end_all(&mut log, EndReason::TooSlow);
    }

    /// Drops all events because some up to `sequence` are missing for good. Readers are disconnected, and learn of the
    /// gap when they resume.
    pub(crate) fn drop_up_to(&self, sequence: u64) {
        let mut log = self.log.lock();
        self.end_all(&mut log, EndReason::TooSlow);
        log.drop_up_to(sequence);
    }

    /// Adds a subscription that resumes after `last`, if there is such a sequence. It replaces the server's earlier one,
    /// and is opened after it in the order of openings.
    pub(crate) fn join(
        &self,
        config: &BusConfig,
        server_id: Option<&str>,
        last: Option<EventId>,
        opened_at: i64,
        now_ms: i64,
    ) -> Joined {
        let mut log = self.log.lock();
        let before = server_id.and_then(|server| log.listener(server));
        let opened_at = before.map_or(opened_at, |before| opened_at.max(before.opened_at + 1));
        let listener = Arc::new(Listener::new(server_id.map(Arc::from), opened_at));
        let live = log.prepare(config, &listener, now_ms);
        let resumed = last.filter(|last| last.epoch == self.epoch);
        let resumed = resumed.and_then(|last| log.positions_after(server_id, last.sequence));
        // An id of another epoch is from an earlier process, whose left-over events are new to the stream.
        let is_foreign = last.is_some_and(|last| last.epoch != self.epoch);
        let left_over = if is_foreign { log.left_over_positions(server_id) } else { None };
        let head = log.head();
        let (begin, live) = left_over.unwrap_or((head, live));
        let replaced = if log.is_closed() {
            listener.finish(Some(EndReason::Closed));
            None
        } else {
            let mut listeners = self.listeners.write();
            listeners.insert(address(&listener), Arc::clone(&listener));
            let replaced = log.attach(&listener);
            if let Some(old) = &replaced {
                listeners.remove(&address(old));
                old.finish(Some(EndReason::Replaced));
            }
            replaced
        };
        Joined { listener, replaced: replaced.is_some(), head, resumed, begin, live }
    }

    /// Ends the server's stream here, at the node `own`, if it was opened before one at another node. Nodes' names decide
    /// between two of one moment.
    pub(crate) fn replace_older(&self, server_id: &str, opened: (i64, &str), own: &str) {
        let mut log = self.log.lock();
        if let Some(listener) = log.listener(server_id).filter(|listener| (listener.opened_at, own) < opened) {
            self.end(&mut log, &listener, Some(EndReason::Replaced));
        }
    }

    /// Ends a subscription if it has not ended yet; `None` when its reader leaves by itself.
    pub(crate) fn leave(&self, listener: &Arc<Listener>, end: Option<EndReason>) {
        self.end(&mut self.log.lock(), listener, end);
    }

    fn end(&self, log: &mut EventLog, listener: &Arc<Listener>, end: Option<EndReason>) {
        log.detach(listener);
        self.listeners.write().remove(&address(listener));
        listener.finish(end);
    }

    fn end_all(&self, log: &mut EventLog, end: EndReason) {
        let listeners: Vec<_> = self.listeners.read().values().cloned().collect();
        for listener in &listeners {
            self.end(log, listener, Some(end));
        }
    }

    /// Ends all subscriptions and refuses new ones and new events; returns the newest sequence.
    pub(crate) fn close(&self) -> u64 {
        let mut log = self.log.lock();
        log.close();
        self.end_all(&mut log, EndReason::Closed);
        log.head()
    }

    /// Frees expired events and disconnects readers that lag too far; returns their number.
    pub(crate) fn sweep(&self, config: &BusConfig, now_ms: i64) -> u64 {
        let mut log = self.log.lock();
        let slow: Vec<_> = {
            let listeners = self.listeners.read();
            let slow = listeners.values().filter(|listener| log.is_too_slow(config, listener));
            slow.cloned().collect()
        };
        for listener in &slow {
            self.end(&mut log, listener, Some(EndReason::TooSlow));
        }
        let has_listeners = !self.listeners.read().is_empty();
        log.sweep(config, now_ms, has_listeners);
        slow.len() as u64
    }

    /// The events that the slowest subscription has not read yet.
    pub(crate) fn max_unread_events(&self) -> u64 {
        let log = self.log.lock();
        let listeners = self.listeners.read();
        listeners.values().map(|listener| log.unread_events(listener)).max().unwrap_or(0)
    }

    pub(crate) fn subscriptions(&self) -> usize {
        self.listeners.read().len()
    }
}

fn address(listener: &Arc<Listener>) -> usize {
    Arc::as_ptr(listener).addr()
}
