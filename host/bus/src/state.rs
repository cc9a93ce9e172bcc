use crate::config::BusConfig;
use crate::count::Count;
use crate::event::{Event, PublishError, frame};
use crate::id::EventId;
use crate::lane::{Entry, Horizon, Lane};
use crate::listener::Listener;
use std::collections::HashMap;
use std::sync::Arc;

/// What one network's lock holds.
pub(crate) struct State {
    /// The newest sequence given out.
    head: u64,
    /// Bytes kept in all lanes together.
    bytes: u64,
    everyone: Lane,
    servers: HashMap<Arc<str>, Server>,
    /// The newest sequence lost with a server that was forgotten.
    forgotten: u64,
    idle_since_ms: Option<i64>,
    closed: bool,
}

/// What concerns one server alone.
struct Server {
    lane: Lane,
    listener: Option<Arc<Listener>>,
    idle_since_ms: Option<i64>,
}

/// A reader's places in the two lanes it reads.
#[derive(Clone, Copy)]
pub(crate) struct Positions {
    pub(crate) everyone: u64,
    pub(crate) own: u64,
}

impl State {
    /// A sequence of which everything up to `floor` is unknown.
    pub(crate) fn after(floor: u64) -> Self {
        Self {
            head: floor,
            bytes: 0,
            everyone: Lane::after(floor),
            servers: HashMap::new(),
            forgotten: floor,
            idle_since_ms: None,
            closed: false,
        }
    }

    /// Gives the event its number, and tells which stream to wake if it is for one.
    pub(crate) fn append(
        &mut self,
        config: &BusConfig,
        epoch: u64,
        event: &Event,
        now_ms: i64,
    ) -> Result<(u64, Option<Arc<Listener>>), PublishError> {
        if self.closed {
            return Err(PublishError::Closed);
        }
        let sequence = self.head + 1;
        let frame = frame(EventId { epoch, sequence }, event.name, &event.data);
        let listener = self.push(config, event.target.as_deref(), Entry { sequence, at_ms: now_ms, frame }, now_ms);
        Ok((sequence, listener))
    }

    /// Adds an event that has its number already, and tells which stream to wake if it is for one.
    pub(crate) fn push(
        &mut self,
        config: &BusConfig,
        target: Option<&str>,
        entry: Entry,
        now_ms: i64,
    ) -> Option<Arc<Listener>> {
        self.head = entry.sequence;
        self.idle_since_ms = None;
        let horizon = self.horizon(config, now_ms);
        let mut bytes = self.bytes + entry.frame.len() as u64;
        let (lane, listener) = match target {
            Some(id) => {
                let server = self.server(Arc::from(id));
                (&mut server.lane, server.listener.clone())
            }
            None => (&mut self.everyone, None),
        };
        lane.push(entry);
        bytes -= lane.expire(horizon);
        while bytes > config.retention_bytes && lane.kept().events > 1 {
            bytes -= lane.drop_oldest();
        }
        if let Some(listener) = &listener {
            listener.own.set(lane.pushed());
        }
        self.bytes = bytes;
        listener
    }

    /// There is nothing of this network up to `sequence` that is not here.
    pub(crate) fn raise_head(&mut self, sequence: u64) {
        self.head = self.head.max(sequence);
    }

    /// Of what came up to `sequence` some may be missing for good.
    pub(crate) fn lose_up_to(&mut self, sequence: u64) {
        let lost = Self::after(sequence);
        *self = Self { closed: self.closed, idle_since_ms: self.idle_since_ms, ..lost };
    }

    fn horizon(&self, config: &BusConfig, now_ms: i64) -> Horizon {
        Horizon {
            at_ms: now_ms.saturating_sub(config.retention_ms()),
            sequence: self.head.saturating_sub(config.retention_events),
        }
    }

    fn server(&mut self, id: Arc<str>) -> &mut Server {
        let forgotten = self.forgotten;
        self.servers.entry(id).or_insert_with(|| Server {
            lane: Lane::after(forgotten),
            listener: None,
            idle_since_ms: None,
        })
    }

    /// Readies what a new listener will read, as if it had read it all: it is at the end.
    pub(crate) fn begin(&mut self, config: &BusConfig, listener: &Listener, now_ms: i64) -> Positions {
        let horizon = self.horizon(config, now_ms);
        let mut freed = self.everyone.expire(horizon);
        self.idle_since_ms = None;
        if let Some(id) = &listener.server_id {
            let server = self.server(Arc::clone(id));
            server.idle_since_ms = None;
            freed += server.lane.expire(horizon);
            listener.own.set(server.lane.pushed());
        }
        self.bytes -= freed;
        let everyone = self.everyone.pushed();
        listener.read.set(listener.published(everyone));
        Positions { everyone: everyone.events, own: listener.own.get().events }
    }

    /// Where everything after `last` begins; `None` where some of it is gone, or where there never
    /// was such a sequence.
    pub(crate) fn positions_after(&self, server_id: Option<&str>, last: u64) -> Option<Positions> {
        let own = server_id.and_then(|id| self.lane_of(id));
        let own = own.map_or(Some(0), |lane| lane.position_after(last));
        let everyone = self.everyone.position_after(last);
        (last <= self.head).then_some(Positions { everyone: everyone?, own: own? })
    }

    /// Makes the listener its server's, and returns the one that was.
    pub(crate) fn attach(&mut self, listener: &Arc<Listener>) -> Option<Arc<Listener>> {
        let id = listener.server_id.clone()?;
        self.server(id).listener.replace(Arc::clone(listener))
    }

    /// Does nothing to a newer listener that took this one's place.
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
        let unread = listener.unread(self.everyone.pushed());
        unread.events > config.max_lag_events || unread.bytes > config.max_lag_bytes
    }

    /// A server, and the network itself, is remembered for the retention after its last stream
    /// left: until then it may resume from an event far older than that, if it was the newest.
    pub(crate) fn sweep(&mut self, config: &BusConfig, now_ms: i64, listened: bool) {
        let horizon = self.horizon(config, now_ms);
        let mut freed = self.everyone.expire(horizon);
        self.everyone.shrink();
        let forgotten = &mut self.forgotten;
        self.servers.retain(|_, server| {
            freed += server.lane.expire(horizon);
            server.lane.shrink();
            let idle = server.listener.is_none() && server.lane.kept().events == 0;
            server.idle_since_ms = idle.then(|| server.idle_since_ms.unwrap_or(now_ms));
            let keep = server.idle_since_ms.is_none_or(|since| since > horizon.at_ms);
            if !keep {
                *forgotten = server.lane.lost().max(*forgotten);
            }
            keep
        });
        self.bytes -= freed;
        let idle = !listened && self.servers.is_empty() && self.everyone.kept().events == 0;
        self.idle_since_ms = idle.then(|| self.idle_since_ms.unwrap_or(now_ms));
    }

    /// Nothing is kept and nobody reads, since the retention or longer.
    pub(crate) fn is_forgettable(&self, config: &BusConfig, now_ms: i64) -> bool {
        let horizon = self.horizon(config, now_ms);
        self.idle_since_ms.is_some_and(|since| since <= horizon.at_ms)
    }

    pub(crate) fn is_connected(&self, server_id: &str) -> bool {
        let server = self.servers.get(server_id);
        server.is_some_and(|server| server.listener.is_some())
    }

    pub(crate) fn listener(&self, server_id: &str) -> Option<Arc<Listener>> {
        self.servers.get(server_id)?.listener.clone()
    }

    pub(crate) fn everyone(&self) -> &Lane {
        &self.everyone
    }

    pub(crate) fn lane_of(&self, server_id: &str) -> Option<&Lane> {
        Some(&self.servers.get(server_id)?.lane)
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

    pub(crate) fn kept(&self) -> Count {
        let servers = self.servers.values().map(|it| it.lane.kept().events);
        Count { events: self.everyone.kept().events + servers.sum::<u64>(), bytes: self.bytes }
    }
}
