use crate::config::BusConfig;
use crate::event::{Event, PublishError};
use crate::id::EventId;
use crate::lane::{Count, Entry, Horizon, Lane};
use crate::listener::{End, Listener};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::sync::Arc;

/// One network's sequence, its streams, and the lock between them.
pub(crate) struct Network {
    pub(crate) state: Mutex<State>,
    /// Apart from the state, so that waking thousands of readers does not hold up those that are
    /// already reading. Taken after the state's lock where both are held.
    listeners: RwLock<HashMap<usize, Arc<Listener>>>,
}

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

/// Where a new subscription stands.
pub(crate) struct Joined {
    pub(crate) listener: Arc<Listener>,
    pub(crate) replaced: bool,
    /// The newest sequence when it began.
    pub(crate) head: u64,
    /// Positions in the two lanes, or `None` where what was asked for is gone.
    pub(crate) resumed: Option<(u64, u64)>,
    /// Positions at the end of the two lanes.
    pub(crate) live: (u64, u64),
}

impl Network {
    /// A network of which everything up to `floor` is unknown.
    pub(crate) fn new(floor: u64) -> Self {
        Self {
            state: Mutex::new(State {
                head: floor,
                bytes: 0,
                everyone: Lane::after(floor),
                servers: HashMap::new(),
                forgotten: floor,
                idle_since_ms: None,
                closed: false,
            }),
            listeners: RwLock::default(),
        }
    }

    pub(crate) fn publish(
        &self,
        config: &BusConfig,
        event: &Event,
        now_ms: i64,
    ) -> Result<u64, PublishError> {
        let (sequence, only) = {
            let mut state = self.state.lock();
            let sequence = state.append(config, event, now_ms)?;
            let only = event.target.as_deref().map(|id| {
                let server = state.servers.get(id);
                server.and_then(|server| server.listener.clone())
            });
            (sequence, only)
        };
        match only {
            Some(listener) => listener.iter().for_each(|listener| listener.wake()),
            None => self.listeners.read().values().for_each(|one| one.wake()),
        }
        Ok(sequence)
    }

    /// Adds a subscription that resumes after `last`, if there is such a sequence.
    pub(crate) fn join(
        &self,
        config: &BusConfig,
        server_id: Option<&str>,
        last: Option<u64>,
        now_ms: i64,
    ) -> Joined {
        let listener = Arc::new(Listener::new(server_id.map(Arc::from)));
        let mut state = self.state.lock();
        state.expire_for(config, &listener, now_ms);
        let resumed = last
            .filter(|last| *last <= state.head)
            .and_then(|last| state.positions_after(server_id, last));
        let (pushed, live) = state.ends(server_id);
        listener.start_at(pushed);
        let replaced = if state.closed {
            listener.finish(Some(End::Closed));
            None
        } else {
            let mut listeners = self.listeners.write();
            listeners.insert(Arc::as_ptr(&listener).addr(), Arc::clone(&listener));
            let replaced = state.attach(&listener);
            if let Some(old) = &replaced {
                listeners.remove(&Arc::as_ptr(old).addr());
                old.finish(Some(End::Replaced));
            }
            replaced
        };
        Joined {
            listener,
            replaced: replaced.is_some(),
            head: state.head,
            resumed,
            live,
        }
    }

    /// Ends a subscription; `None` when its reader leaves by itself.
    pub(crate) fn leave(&self, listener: &Arc<Listener>, end: Option<End>) {
        let mut state = self.state.lock();
        state.detach(listener);
        self.listeners.write().remove(&Arc::as_ptr(listener).addr());
        listener.finish(end);
    }

    /// Ends all subscriptions and refuses new ones and new events.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.closed = true;
        for (_, listener) in self.listeners.write().drain() {
            state.detach(&listener);
            listener.finish(Some(End::Closed));
        }
    }

    /// Lets go of what has expired and cuts off who is too far behind: how many.
    pub(crate) fn sweep(&self, config: &BusConfig, now_ms: i64) -> u64 {
        let mut state = self.state.lock();
        let slow: Vec<_> = {
            let listeners = self.listeners.read();
            let slow = listeners
                .values()
                .filter(|one| state.is_too_slow(config, one));
            slow.cloned().collect()
        };
        for listener in &slow {
            state.detach(listener);
            self.listeners.write().remove(&Arc::as_ptr(listener).addr());
            listener.finish(Some(End::TooSlow));
        }
        let listened = !self.listeners.read().is_empty();
        state.expire(config, now_ms, listened);
        slow.len() as u64
    }

    pub(crate) fn subscriptions(&self) -> usize {
        self.listeners.read().len()
    }
}

impl State {
    fn append(
        &mut self,
        config: &BusConfig,
        event: &Event,
        now_ms: i64,
    ) -> Result<u64, PublishError> {
        if self.closed {
            return Err(PublishError::Closed);
        }
        self.head += 1;
        self.idle_since_ms = None;
        let (sequence, horizon) = (self.head, self.horizon(config, now_ms));
        let frame = event.frame(EventId {
            epoch: config.epoch,
            sequence,
        });
        self.bytes += frame.len() as u64;
        let mut bytes = self.bytes;
        let lane = match &event.target {
            Some(id) => &mut self.server(Arc::from(id.as_str())).lane,
            None => &mut self.everyone,
        };
        lane.push(Entry {
            sequence,
            at_ms: now_ms,
            frame,
        });
        bytes -= lane.expire(horizon);
        while bytes > config.retention_bytes && lane.kept().events > 1 {
            bytes -= lane.drop_oldest();
        }
        self.bytes = bytes;
        Ok(sequence)
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

    /// Makes the listener its server's, and returns the one that was.
    fn attach(&mut self, listener: &Arc<Listener>) -> Option<Arc<Listener>> {
        let id = listener.server_id.clone()?;
        self.server(id).listener.replace(Arc::clone(listener))
    }

    fn expire_for(&mut self, config: &BusConfig, listener: &Listener, now_ms: i64) {
        let horizon = self.horizon(config, now_ms);
        let mut freed = self.everyone.expire(horizon);
        if let Some(id) = &listener.server_id {
            freed += self.server(Arc::clone(id)).lane.expire(horizon);
        }
        self.bytes -= freed;
    }

    fn lane_of(&self, server_id: Option<&str>) -> Option<&Lane> {
        Some(&self.servers.get(server_id?)?.lane)
    }

    /// The lane of all streams and the one of this server, to be read side by side.
    pub(crate) fn lanes(&self, server_id: Option<&str>) -> (&Lane, Option<&Lane>) {
        (&self.everyone, self.lane_of(server_id))
    }

    fn positions_after(&self, server_id: Option<&str>, last: u64) -> Option<(u64, u64)> {
        let (everyone, own) = self.lanes(server_id);
        let own = own.map_or(Some(0), |lane| lane.position_after(last));
        Some((everyone.position_after(last)?, own?))
    }

    fn ends(&self, server_id: Option<&str>) -> (Count, (u64, u64)) {
        let (everyone, own) = self.lanes(server_id);
        let (everyone, own) = (everyone.pushed(), own.map(Lane::pushed).unwrap_or_default());
        let both = Count {
            events: everyone.events + own.events,
            bytes: everyone.bytes + own.bytes,
        };
        (both, (everyone.events, own.events))
    }

    pub(crate) fn is_too_slow(&self, config: &BusConfig, listener: &Listener) -> bool {
        let (pushed, _) = self.ends(listener.server_id.as_deref());
        let unread = listener.unread(pushed);
        unread.events > config.max_lag_events || unread.bytes > config.max_lag_bytes
    }

    /// Does nothing to a newer subscription that took this one's place.
    fn detach(&mut self, listener: &Arc<Listener>) {
        let id = listener.server_id.as_deref();
        if let Some(server) = id.and_then(|id| self.servers.get_mut(id))
            && server
                .listener
                .as_ref()
                .is_some_and(|current| Arc::ptr_eq(current, listener))
        {
            server.listener = None;
        }
    }

    /// A server, and the network itself, is remembered for the retention after its last stream
    /// left: until then it may resume from an event far older than that, if it was the newest.
    fn expire(&mut self, config: &BusConfig, now_ms: i64, listened: bool) {
        let horizon = self.horizon(config, now_ms);
        let mut freed = self.everyone.expire(horizon);
        self.everyone.shrink();
        let forgotten = &mut self.forgotten;
        self.servers.retain(|_, server| {
            freed += server.lane.expire(horizon);
            server.lane.shrink();
            let idle = server.listener.is_none() && server.lane.kept().events == 0;
            let keep = !idle_for_long(&mut server.idle_since_ms, idle, horizon, now_ms);
            if !keep {
                *forgotten = server.lane.lost().max(*forgotten);
            }
            keep
        });
        self.bytes -= freed;
        let idle = !listened && self.servers.is_empty() && self.everyone.kept().events == 0;
        self.idle_since_ms = idle.then(|| self.idle_since_ms.unwrap_or(now_ms));
    }

    /// Nothing is kept, nobody reads, and that since the retention or longer.
    pub(crate) fn is_forgettable(&self, config: &BusConfig, now_ms: i64) -> bool {
        let long_ago = now_ms.saturating_sub(config.retention_ms());
        self.idle_since_ms.is_some_and(|since| since <= long_ago)
    }

    pub(crate) fn is_connected(&self, server_id: &str) -> bool {
        let server = self.servers.get(server_id);
        server.is_some_and(|server| server.listener.is_some())
    }

    pub(crate) fn connected_servers(&self) -> Vec<String> {
        self.servers
            .iter()
            .filter(|(_, server)| server.listener.is_some())
            .map(|(id, _)| String::from(&**id))
            .collect()
    }

    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    pub(crate) fn kept(&self) -> Count {
        let servers = self
            .servers
            .values()
            .map(|server| server.lane.kept().events);
        Count {
            events: self.everyone.kept().events + servers.sum::<u64>(),
            bytes: self.bytes,
        }
    }
}

/// Notes when something became idle; whether that is as long ago as the horizon.
fn idle_for_long(since_ms: &mut Option<i64>, idle: bool, horizon: Horizon, now_ms: i64) -> bool {
    *since_ms = idle.then(|| since_ms.unwrap_or(now_ms));
    since_ms.is_some_and(|since| since <= horizon.at_ms)
}
