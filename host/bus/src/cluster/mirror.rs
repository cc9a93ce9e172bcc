//! One network's events on this node: first the stored ones of the stream, in its order, then all new ones.

use super::events::{decode, dropped_up_to};
use super::settings::ClusterError;
use super::stream::Epoch;
use super::watch::StreamWatch;
use crate::config::BusConfig;
use crate::network::Network;
use async_nats::Subscriber;
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

/// Set by NATS on republished messages.
const SEQUENCE: &str = "Nats-Sequence";
/// The sequence of the previous event of the same network.
const PREVIOUS_SEQUENCE: &str = "Nats-Last-Sequence";
const BATCH_SIZE: usize = 500;
/// Time for which NATS keeps a consumer that stopped reading.
const CONSUMER_TTL: Duration = Duration::from_secs(10);
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// Maximum time from one stored event to the next. Their connection may be gone, and NATS does not know who waits.
const READ_TIMEOUT: Duration = Duration::from_secs(2);
/// Time for which streams stay open although the missed events cannot be read over a working connection.
const STUCK_AFTER: Duration = Duration::from_secs(10);

/// Keeps one network in step with the stream, as long as both live.
pub(crate) struct StreamMirror {
    follower: Follower,
    task: AbortHandle,
}

impl Drop for StreamMirror {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Clone)]
struct Follower {
    watch: Arc<StreamWatch>,
    id: u128,
    network: Weak<Network>,
    config: Arc<BusConfig>,
    /// The connection on which it was last complete. Locked while stored events are read, so that they are read once
    /// for all waiting callers.
    in_step_on: Arc<tokio::sync::Mutex<Option<u64>>>,
    /// True after its streams were ended because it could not read missed events for too long.
    is_stuck: Arc<AtomicBool>,
}

impl StreamMirror {
    /// Reads the network's stored events into `network`, then follows the stream.
    pub(crate) async fn open(
        watch: Arc<StreamWatch>,
        id: u128,
        network: &Arc<Network>,
        config: Arc<BusConfig>,
    ) -> Result<Self, ClusterError> {
        let live = watch.cluster.subscribe(watch.cluster.subject_out(id)).await?;
        let network = Arc::downgrade(network);
        let follower = Follower { watch, id, network, config, in_step_on: Arc::default(), is_stuck: Arc::default() };
        // After the subscription, so that no event falls between the stored and the live ones.
        follower.catch_up(true).await?;
        let task = tokio::spawn(follower.clone().follow(live)).abort_handle();
        Ok(Self { follower, task })
    }

    /// Makes sure that all events up to `sequence` are here, if it was ever assigned.
    pub(crate) async fn reach(&self, sequence: u64) -> Result<(), ClusterError> {
        let is_here = self.follower.network.upgrade().is_none_or(|network| network.head() >= sequence);
        let is_stuck = self.follower.is_stuck.load(Relaxed);
        if is_here && !is_stuck { Ok(()) } else { self.follower.catch_up(true).await }
    }
}

impl Follower {
    /// Applies live events, and reads missed ones from the stream.
    async fn follow(self, mut live: Subscriber) {
        let mut link = self.watch.cluster.link();
        link.mark_unchanged();
        loop {
            let is_in_order = tokio::select! {
                biased;
                message = live.next() => match message {
                    Some(message) if self.apply(&message) => continue,
                    Some(_) => false,
                    None => return,
                },
                changed = link.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    if !*link.borrow_and_update() {
                        continue;
                    }
                    true
                }
            };
            self.catch_up_at_last(is_in_order).await;
            if self.network.strong_count() == 0 {
                return;
            }
        }
    }

    /// Tries until it succeeds. After a while it ends the streams, so that their clients learn of the trouble.
    async fn catch_up_at_last(&self, is_in_order: bool) {
        let mut began = Instant::now();
        while let Err(error) = self.catch_up(is_in_order).await {
            tracing::debug!(%error, "a network's missed events can't be read yet");
            let Some(network) = self.network.upgrade() else { return };
            if !self.watch.cluster.is_connected() {
                began = Instant::now();
            } else if began.elapsed() >= STUCK_AFTER && !self.is_stuck.swap(true, Relaxed) {
                tracing::warn!(%error, "a network's missed events can't be read; its streams end");
                network.end_streams();
            }
            drop(network);
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    /// Applies an event that was just stored; false if the previous one is missing.
    fn apply(&self, message: &async_nats::Message) -> bool {
        let Some(network) = self.network.upgrade() else { return true };
        let headers = message.headers.as_ref();
        let number = |name| headers.and_then(|all| all.get(name)).and_then(|text| text.as_str().parse::<u64>().ok());
        let (Some(sequence), Some(previous)) = (number(SEQUENCE), number(PREVIOUS_SEQUENCE)) else { return false };
        if previous > network.head() {
            return false;
        }
        if sequence <= network.head() {
            // It was just read from the stream, or its number was given before.
            self.watch.request_check();
        }
        self.note(&network, sequence, message);
        match decode(sequence, message) {
            Some(event) => network.apply(&self.config, &event),
            None => network.raise_head(sequence),
        }
        true
    }

    fn note(&self, network: &Network, sequence: u64, message: &async_nats::Message) {
        if let Some(id) = message.headers.as_ref().and_then(|all| all.get(NATS_MESSAGE_ID)) {
            self.watch.note(network.epoch, sequence, id.as_str());
        }
    }

    /// Reads all events of the stream that the mirror lacks, or drops all of its own if the stream no longer has them.
    /// `is_in_order`: no live event is missing except for those that a lost connection did not bring.
    async fn catch_up(&self, is_in_order: bool) -> Result<(), ClusterError> {
        let mut in_step_on = self.in_step_on.lock().await;
        let Some(network) = self.network.upgrade() else { return Ok(()) };
        let connection = self.watch.cluster.connection();
        self.watch.check_on(connection).await?;
        let stream = self.watch.cluster.event_stream().await?;
        let (epoch, state) = (Epoch::of(stream.cached_info()), &stream.cached_info().state);
        if epoch.number != network.epoch || state.last_sequence < network.head() {
            self.watch.note_head(network.epoch, network.head());
            self.watch.request_check();
            return Err(ClusterError::Stream("its events begin anew".to_owned()));
        }
        let arrived = in_step_on.filter(|_| is_in_order).map_or(0, |connection| self.watch.arrived_on(connection));
        let complete_to = network.head().max(arrived);
        let removed = state.first_sequence.saturating_sub(1).min(state.last_sequence);
        if removed > complete_to {
            network.drop_up_to(removed);
        }
        if state.messages > 0 && network.head() < state.last_sequence {
            self.read(&network, &stream, complete_to).await.map_err(ClusterError::Stream)?;
        }
        // All events between the network's last one and the stream's belong to other networks.
        network.raise_head(state.last_sequence);
        network.set_begin(epoch.begin);
        *in_step_on = Some(connection);
        self.is_stuck.store(false, Relaxed);
        Ok(())
    }

    async fn read(&self, network: &Network, stream: &Stream, complete_to: u64) -> Result<(), String> {
        let consumer = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: network.head() + 1 },
            ack_policy: AckPolicy::None,
            filter_subject: self.watch.cluster.subject_in(self.id),
            inactive_threshold: CONSUMER_TTL,
            memory_storage: true,
            ..pull::Config::default()
        };
        let consumer = stream.create_consumer(consumer).await.map_err(|error| error.to_string())?;
        let mut pending = consumer.cached_info().num_pending;
        // The stream keeps no more events per network, so there may have been others.
        let mut may_lack =
            i64::try_from(pending).is_ok_and(|all| all >= stream.cached_info().config.max_messages_per_subject);
        while pending > 0 {
            let mut received = 0;
            let mut batch = read_batch(&consumer).await?;
            while let Some(message) = timeout(READ_TIMEOUT, batch.next()).await.map_err(|_| "no answer in time")? {
                let message = message.map_err(|error| error.to_string())?;
                let sequence = message.info().map_err(|error| error.to_string())?.stream_sequence;
                if std::mem::take(&mut may_lack) && sequence > complete_to + 1 {
                    network.drop_up_to(sequence - 1);
                }
                self.note(network, sequence, &message);
                match (decode(sequence, &message), dropped_up_to(&message)) {
                    (Some(event), _) => network.apply(&self.config, &event),
                    (None, Some(dropped)) if dropped > complete_to => network.drop_up_to(sequence),
                    (None, _) => network.raise_head(sequence),
                }
                received += 1;
            }
            // Some may have expired since they were counted.
            pending = if received == 0 { 0 } else { pending.saturating_sub(received) };
        }
        Ok(())
    }
}

async fn read_batch(consumer: &PullConsumer) -> Result<pull::Batch, String> {
    let batch = timeout(READ_TIMEOUT, consumer.fetch().max_messages(BATCH_SIZE).messages()).await;
    batch.map_err(|_| "no answer in time")?.map_err(|error| error.to_string())
}
