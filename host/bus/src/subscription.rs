use crate::config::BusConfig;
use crate::event;
use crate::event_log::Positions;
use crate::id::EventId;
use crate::listener::{EndReason, EndWatch, Listener};
use crate::network::{Joined, Network};
use crate::queue::{EventQueue, TooSlow};
use crate::stats::Counters;
use bytes::Bytes;
use std::future::poll_fn;
use std::sync::Arc;

/// One stream's position in its network's events. Dropping it ends the stream.
pub struct Subscription {
    network: Arc<Network>,
    listener: Arc<Listener>,
    config: Arc<BusConfig>,
    counters: Arc<Counters>,
    resync: Option<Bytes>,
    /// The newest sequence when it began. Earlier events were requested by resuming, and are no lag.
    joined_at: u64,
    start: EventId,
    positions: Positions,
    caught_up: bool,
}

impl Subscription {
    pub(crate) fn new(
        network: Arc<Network>,
        config: Arc<BusConfig>,
        counters: Arc<Counters>,
        joined: Joined,
        requested: Option<EventId>,
        resume: bool,
        now_ms: i64,
    ) -> Self {
        let begin = EventId { epoch: network.epoch, sequence: joined.begin };
        let resync = (resume && joined.resumed.is_none()).then(|| event::resync(begin, now_ms));
        let start = requested.filter(|_| joined.resumed.is_some()).unwrap_or(begin);
        Self {
            network,
            listener: joined.listener,
            config,
            counters,
            resync,
            joined_at: joined.head,
            start,
            positions: joined.resumed.unwrap_or(joined.live),
            caught_up: false,
        }
    }

    /// Starting position of the subscription, as an event id. A stream that sends it in a frame of its own (`id:` and
    /// nothing else, which is no event) can be resumed before its first event.
    pub fn start_id(&self) -> String {
        self.start.to_string()
    }

    /// Waits for events, then adds all frames that are ready, up to `max` (at least one), to
    /// `frames`. Where events are missing for good, a `RESYNC` frame comes first. Cancel-safe: what
    /// is not returned is not lost. After the end it returns the end again.
    ///
    /// # Errors
    /// Reason for the end of the subscription.
    pub async fn next_batch(&mut self, frames: &mut Vec<Bytes>, max: usize) -> Result<(), EndReason> {
        let (before, limit) = (frames.len(), frames.len().saturating_add(max.max(1)));
        loop {
            self.read(frames, limit)?;
            if frames.len() > before {
                return Ok(());
            }
            // Also wakes for events published before this call, so the log is locked again only when it has something
            // new.
            poll_fn(|context| self.listener.poll_woken(context)).await;
            self.caught_up = false;
        }
    }

    /// Lets the owner of the connection learn of the end without reading.
    pub fn watch_end(&self) -> EndWatch {
        EndWatch(Arc::clone(&self.listener))
    }

    fn read(&mut self, frames: &mut Vec<Bytes>, limit: usize) -> Result<(), EndReason> {
        if let Some(end) = self.listener.end() {
            return Err(end);
        }
        if self.caught_up {
            return Ok(());
        }
        self.read_log(frames, limit).map_err(|TooSlow| {
            self.network.leave(&self.listener, Some(EndReason::TooSlow));
            self.counters.record_too_slow(1);
            // The subscription may have ended before, for another reason.
            self.listener.end().unwrap_or(EndReason::TooSlow)
        })
    }

    fn read_log(&mut self, frames: &mut Vec<Bytes>, limit: usize) -> Result<(), TooSlow> {
        let log = self.network.log.lock();
        if log.is_too_slow(&self.config, &self.listener) {
            return Err(TooSlow);
        }
        frames.extend(self.resync.take());
        let broadcast = log.broadcast();
        let has_targeted = self.listener.targeted.get().events > self.positions.targeted;
        let server_id = self.listener.server_id.as_deref().filter(|_| has_targeted);
        let targeted = server_id.and_then(|id| log.server_queue(id));
        while frames.len() < limit {
            let for_all = broadcast.get(self.positions.broadcast)?;
            let for_one = targeted.map_or(Ok(None), |queue: &EventQueue| queue.get(self.positions.targeted))?;
            let (event, position) = match (for_all, for_one) {
                (Some(all), Some(one)) if one.sequence < all.sequence => (one, &mut self.positions.targeted),
                (None, Some(one)) => (one, &mut self.positions.targeted),
                (Some(all), _) => (all, &mut self.positions.broadcast),
                (None, None) => {
                    self.caught_up = true;
                    break;
                }
            };
            *position += 1;
            if event.sequence > self.joined_at {
                self.listener.read.add(event.frame.len());
            }
            frames.push(event.frame.clone());
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
