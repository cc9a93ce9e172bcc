use crate::config::BusConfig;
use crate::count::Count;
use crate::event::{EventRef, PublishError, frame};
use crate::id::EventId;
use crate::listener::Listener;
use crate::queue::{Cutoff, EventQueue, QueuedEvent};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::Arc;

/// One network's retained events, and the listener of each server.
pub(crate) struct EventLog {
    /// The newest sequence assigned.
    head: u64,
    /// Number of events added. Their sequences have gaps if a stream numbers the events of all networks.
    pushed: u64,
    /// Bytes retained in all queues together.
    bytes: u64,
    broadcast: EventQueue,
    servers: HashMap<Arc<str>, ServerLog>,
    /// The newest sequence dropped together with a server's queue.
    removed_up_to: u64,
    /// The newest sequence before the first event that an earlier process left, or that is of this epoch.
    before_left_over: Option<u64>,
    idle_since_ms: Option<i64>,
    closed: bool,
}

/// The events for one server alone.
struct ServerLog {
    queue: EventQueue,
    listener: Option<Arc<Listener>>,
    idle_since_ms: Option<i64>,
}

/// A reader's positions in the two queues it reads.
#[derive(Clone, Copy)]
pub(crate) struct Positions {
    pub(crate) broadcast: u64,
    pub(crate) targeted: u64,
}

impl EventLog {
    /// An empty log whose events up to `sequence` are unknown.
    pub(crate) fn starting_after(sequence: u64) -> Self {
        Self {
            head: sequence,
            pushed: 0,
            bytes: 0,
            broadcast: EventQueue::starting_after(sequence),
            servers: HashMap::new(),
            removed_up_to: sequence,
            before_left_over: None,
            idle_since_ms: None,
            closed: false,
        }
    }

    /// Assigns the event its number; also returns the listener to wake if it is for one server.
    pub(crate) fn append(
        &mut self,
        config: &BusConfig,
        epoch: u64,
        event: EventRef<'_>,
        now_ms: i64,
    ) -> Result<(u64, Option<Arc<Listener>>), PublishError> {
        if self.closed {
            return Err(PublishError::Closed);
        }
        let sequence = self.head + 1;
        let frame = frame(EventId { epoch, sequence }, event.name, &event.data);
        Ok((sequence, self.push(config, event.target, sequence, now_ms, frame)))
    }

    /// Adds a numbered event; returns the listener to wake if it is for one server.
    pub(crate) fn push(
        &mut self,
        config: &BusConfig,
        target: Option<&str>,
        sequence: u64,
        at_ms: i64,
        frame: Bytes,
    ) -> Option<Arc<Listener>> {
        let event = QueuedEvent { sequence, ordinal: self.pushed, at_ms, frame };
        self.head = sequence;
        self.pushed += 1;
        self.idle_since_ms = None;
        let cutoff = self.cutoff(config, at_ms);
        let mut bytes = self.bytes + event.frame.len() as u64;
        let (queue, listener) = match target {
            Some(id) => {
                let server = self.server(Arc::from(id));
                (&mut server.queue, server.listener.clone())
            }
            None => (&mut self.broadcast, None),
        };
        queue.push(event);
        bytes -= queue.expire(cutoff);
        while bytes > config.retention_bytes && queue.retained().events > 1 {
            bytes -= queue.drop_oldest();
        }
        if let Some(listener) = &listener {
            listener.targeted.set(queue.pushed());
        }
        self.bytes = bytes;
        listener
    }

    /// Notes that this log has all of the network's events up to `sequence`.
    pub(crate) fn raise_head(&mut self, sequence: u64) {
        self.head = self.head.max(sequence);
    }

    /// Drops everything: some events up to `sequence` are missing for good.
    pub(crate) fn drop_up_to(&mut self, sequence: u64) {
        let empty = Self::starting_after(sequence);
        *self = Self { closed: self.closed, idle_since_ms: self.idle_since_ms, ..empty };
    }

    /// Empties retained events that must not be sent any more.
    pub(crate) fn redact(&mut self, is_redacted: &dyn Fn(&[u8]) -> bool) {
        self.broadcast.redact(is_redacted);
        for server in self.servers.values_mut() {
            server.queue.redact(is_redacted);
        }
    }

    fn cutoff(&self, config: &BusConfig, now_ms: i64) -> Cutoff {
        Cutoff {
            at_ms: now_ms.saturating_sub(config.retention_ms()),
            ordinal: self.pushed.saturating_sub(config.retention_events),
        }
    }

    fn server(&mut self, id: Arc<str>) -> &mut ServerLog {
        let removed_up_to = self.removed_up_to;
        self.servers.entry(id).or_insert_with(|| ServerLog {
            queue: EventQueue::starting_after(removed_up_to),
            listener: None,
            idle_since_ms: None,
        })
    }

    /// Prepares a new listener as if it had read all events; returns the positions at the end.
    pub(crate) fn prepare(&mut self, config: &BusConfig, listener: &Listener, now_ms: i64) -> Positions {
        let cutoff = self.cutoff(config, now_ms);
        let mut freed = self.broadcast.expire(cutoff);
        self.idle_since_ms = None;
        if let Some(id) = &listener.server_id {
            let server = self.server(Arc::clone(id));
            server.idle_since_ms = None;
            freed += server.queue.expire(cutoff);
            listener.targeted.set(server.queue.pushed());
        }
        self.bytes -= freed;
        let broadcast = self.broadcast.pushed();
        listener.read.set(listener.published(broadcast));
        Positions { broadcast: broadcast.events, targeted: listener.targeted.get().events }
    }

    /// Positions of the events after `last`; `None` if some of them were dropped or `last` was never assigned.
    pub(crate) fn positions_after(&self, server_id: Option<&str>, last: u64) -> Option<Positions> {
        let targeted = server_id.and_then(|id| self.server_queue(id));
        let targeted = targeted.map_or(Some(0), |queue| queue.position_after(last));
        let broadcast = self.broadcast.position_after(last);
        (last <= self.head).then_some(Positions { broadcast: broadcast?, targeted: targeted? })
    }

    /// Marks the events after `sequence` as new to a stream that comes with an id of another epoch.
    pub(crate) fn set_begin(&mut self, sequence: u64) {
        self.before_left_over = Some(sequence);
    }

    /// Marks the next event as left by an earlier process.
    pub(crate) fn mark_left_over(&mut self) {
        self.before_left_over.get_or_insert(self.head);
    }

    /// The sequence before the first event that is new to streams of another epoch, and the positions of the events
    /// after it; `None` if there is no such event or it was dropped.
    pub(crate) fn left_over_positions(&self, server_id: Option<&str>) -> Option<(u64, Positions)> {
        let before = self.before_left_over?;
        Some((before, self.positions_after(server_id, before)?))
    }

    /// Attaches the listener to its server; returns the one it replaces.
    pub(crate) fn attach(&mut self, listener: &Arc<Listener>) -> Option<Arc<Listener>> {
        let id = listener.server_id.clone()?;
        self.server(id).listener.replace(Arc::clone(listener))
    }

    /// Leaves a newer listener of the same server in place.
    pub(crate) fn detach(&mut self, listener: &Arc<Listener>) {
        let id = listener.server_id.as_deref();
        let server = id.and_then(|id| self.servers.get_mut(id));
        let current = server.map(|server| &mut server.listener);
        if let Some(current) = current
            && current.as_ref().is_some_and(|it| Arc::ptr_eq(it, listener))
        {
            *current = None;
        }
    }

    pub(crate) fn is_too_slow(&self, config: &BusConfig, listener: &Listener) -> bool {
        let unread = listener.unread(self.broadcast.pushed());
        unread.events > config.max_lag_events || unread.bytes > config.max_lag_bytes
    }

    /// Events that a reader has not read yet.
    pub(crate) fn unread_events(&self, listener: &Listener) -> u64 {
        listener.unread(self.broadcast.pushed()).events
    }

    /// Frees expired events. A server, and the network itself, is kept for the retention after its last stream left:
    /// until then it may resume from an event far older, if that was the newest.
    pub(crate) fn sweep(&mut self, config: &BusConfig, now_ms: i64, has_listeners: bool) {
        let cutoff = self.cutoff(config, now_ms);
        let mut freed = self.broadcast.expire(cutoff);
        self.broadcast.shrink();
        let removed_up_to = &mut self.removed_up_to;
        self.servers.retain(|_, server| {
            freed += server.queue.expire(cutoff);
            server.queue.shrink();
            let idle = server.listener.is_none() && server.queue.retained().events == 0;
            server.idle_since_ms = idle.then(|| server.idle_since_ms.unwrap_or(now_ms));
            let keep = server.idle_since_ms.is_none_or(|since| since > cutoff.at_ms);
            if !keep {
                *removed_up_to = server.queue.dropped_up_to().max(*removed_up_to);
            }
            keep
        });
        self.bytes -= freed;
        let idle = !has_listeners && self.servers.is_empty() && self.broadcast.retained().events == 0;
        self.idle_since_ms = idle.then(|| self.idle_since_ms.unwrap_or(now_ms));
    }

    /// True if it has been empty and without readers for the retention or longer.
    pub(crate) fn is_idle(&self, config: &BusConfig, now_ms: i64) -> bool {
        let cutoff = self.cutoff(config, now_ms);
        self.idle_since_ms.is_some_and(|since| since <= cutoff.at_ms)
    }

    pub(crate) fn is_connected(&self, server_id: &str) -> bool {
        let server = self.servers.get(server_id);
        server.is_some_and(|server| server.listener.is_some())
    }

    pub(crate) fn listener(&self, server_id: &str) -> Option<Arc<Listener>> {
        self.servers.get(server_id)?.listener.clone()
    }

    pub(crate) fn broadcast(&self) -> &EventQueue {
        &self.broadcast
    }

    pub(crate) fn server_queue(&self, server_id: &str) -> Option<&EventQueue> {
        Some(&self.servers.get(server_id)?.queue)
    }

    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(crate) fn retained(&self) -> Count {
        let servers = self.servers.values().map(|server| server.queue.retained().events);
        Count { events: self.broadcast.retained().events + servers.sum::<u64>(), bytes: self.bytes }
    }
}
