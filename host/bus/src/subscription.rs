use crate::config::BusConfig;
use crate::event;
use crate::id::EventId;
use crate::lane::{Lane, Lost};
use crate::listener::{End, Ended, Listener};
use crate::network::{Joined, Network};
use crate::state::Positions;
use crate::stats::Counters;
use bytes::Bytes;
use std::future::poll_fn;
use std::sync::Arc;

/// One stream's reading of its network's events. Dropping it ends it.
pub struct Subscription {
    network: Arc<Network>,
    listener: Arc<Listener>,
    config: Arc<BusConfig>,
    counters: Arc<Counters>,
    resync: Option<Bytes>,
    /// The newest sequence when it began; what came before is its own wish, not its lag.
    joined_at: u64,
    start: EventId,
    at: Positions,
    caught_up: bool,
    /// Room for `next`, so that it need not allocate.
    one: Vec<Bytes>,
}

/// What a subscription has to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// An event.
    Frame(Bytes),
    /// Events are missing before this point, for good: this frame tells the client so.
    Resync(Bytes),
    /// The end: see [`End::Replaced`].
    Replaced,
    /// The end: see [`End::TooSlow`].
    TooSlow,
    /// The end: see [`End::Closed`].
    Closed,
}

impl From<End> for Next {
    fn from(end: End) -> Self {
        match end {
            End::Replaced => Self::Replaced,
            End::TooSlow => Self::TooSlow,
            End::Closed => Self::Closed,
        }
    }
}

impl Subscription {
    pub(crate) fn new(
        network: Arc<Network>,
        config: Arc<BusConfig>,
        counters: Arc<Counters>,
        joined: Joined,
        asked: Option<EventId>,
        resume: bool,
        now_ms: i64,
    ) -> Self {
        let head = EventId { epoch: network.epoch, sequence: joined.head };
        let resync = (resume && joined.resumed.is_none()).then(|| event::resync(head, now_ms));
        let start = asked.filter(|_| joined.resumed.is_some()).unwrap_or(head);
        Self {
            network,
            listener: joined.listener,
            config,
            counters,
            resync,
            joined_at: joined.head,
            start,
            at: joined.resumed.unwrap_or(joined.live),
            caught_up: false,
            one: Vec::new(),
        }
    }

    /// Where the subscription began, as an event id. A stream that sends it in a frame of its own
    /// (`id:` and nothing else, which is no event) can be resumed before its first event.
    pub fn start_id(&self) -> String {
        self.start.to_string()
    }

    /// Waits for the next event or the end. Cancel-safe: what is not returned is not lost. After
    /// the end it returns the end again.
    pub async fn next(&mut self) -> Next {
        let resync = self.resync.is_some();
        loop {
            let mut frames = std::mem::take(&mut self.one);
            let read = self.read(&mut frames, 1);
            let frame = frames.pop();
            self.one = frames;
            match (read, frame) {
                (Err(end), _) => return end.into(),
                (Ok(()), Some(frame)) if resync => return Next::Resync(frame),
                (Ok(()), Some(frame)) => return Next::Frame(frame),
                (Ok(()), None) => self.news().await,
            }
        }
    }

    /// Waits as [`next`](Self::next) does, then adds all frames that are there, up to `max` (at
    /// least one), to `frames`: cheaper where several are. Cancel-safe.
    pub async fn next_batch(&mut self, frames: &mut Vec<Bytes>, max: usize) -> Result<(), End> {
        let (before, most) = (frames.len(), frames.len().saturating_add(max.max(1)));
        loop {
            self.read(frames, most)?;
            if frames.len() > before {
                return Ok(());
            }
            self.news().await;
        }
    }

    /// What is published after a reading that found nothing more is announced, also if nobody
    /// waits at that moment; so the lock is not taken again just to find nothing.
    async fn news(&mut self) {
        poll_fn(|context| self.listener.poll_news(context)).await;
        self.caught_up = false;
    }

    /// Tells of the end to whoever does not read the subscription itself.
    pub fn ended(&self) -> Ended {
        Ended(Arc::clone(&self.listener))
    }

    fn read(&mut self, frames: &mut Vec<Bytes>, most: usize) -> Result<(), End> {
        if let Some(end) = self.listener.end() {
            return Err(end);
        }
        if self.caught_up {
            return Ok(());
        }
        let in_time = self.read_kept(frames, most);
        in_time.map_err(|Lost| {
            self.network.leave(&self.listener, Some(End::TooSlow));
            self.counters.too_slow(1);
            // Something else may have ended it first.
            self.listener.end().unwrap_or(End::TooSlow)
        })
    }

    fn read_kept(&mut self, frames: &mut Vec<Bytes>, most: usize) -> Result<(), Lost> {
        let state = self.network.state.lock();
        if state.is_too_slow(&self.config, &self.listener) {
            return Err(Lost);
        }
        frames.extend(self.resync.take());
        let everyone = state.everyone();
        let has_own = self.listener.own.get().events > self.at.own;
        let own = self.listener.server_id.as_deref().filter(|_| has_own);
        let own = own.and_then(|id| state.lane_of(id));
        while frames.len() < most {
            let all = everyone.get(self.at.everyone)?;
            let one = own.map_or(Ok(None), |lane: &Lane| lane.get(self.at.own))?;
            let (entry, position) = match (all, one) {
                (Some(all), Some(one)) if one.sequence < all.sequence => (one, &mut self.at.own),
                (None, Some(one)) => (one, &mut self.at.own),
                (Some(all), _) => (all, &mut self.at.everyone),
                (None, None) => {
                    self.caught_up = true;
                    break;
                }
            };
            *position += 1;
            if entry.sequence > self.joined_at {
                self.listener.read.add(entry.frame.len());
            }
            frames.push(entry.frame.clone());
        }
        Ok(())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if self.listener.end().is_none() {
            self.network.leave(&self.listener, None);
        }
    }
}
