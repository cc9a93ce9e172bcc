//! One network's events on this node: first what the stream has stored, in its order, then everything new.

use super::connection::{Cluster, ClusterError};
use super::events::decode;
use crate::config::BusConfig;
use crate::network::Network;
use async_nats::Subscriber;
use async_nats::jetstream::consumer::{AckPolicy, DeliverPolicy, pull};
use async_nats::jetstream::stream::Stream;
use futures_util::StreamExt;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Set by NATS on what it republishes.
const SEQUENCE: &str = "Nats-Sequence";
/// The sequence of the previous event of the same network.
const PREVIOUS_SEQUENCE: &str = "Nats-Last-Sequence";
const BATCH_SIZE: usize = 500;
/// How long NATS keeps a consumer that stopped reading.
const CONSUMER_TTL: Duration = Duration::from_secs(10);
const RETRY_DELAY: Duration = Duration::from_millis(200);

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
    cluster: Cluster,
    id: u128,
    network: Weak<Network>,
    config: Arc<BusConfig>,
    /// Held while stored events are read, so that they are read once for all who wait.
    catch_up_lock: Arc<tokio::sync::Mutex<()>>,
}

impl StreamMirror {
    /// Reads the network's stored events into `network`, then follows the stream.
    pub(crate) async fn open(
        cluster: Cluster,
        id: u128,
        network: &Arc<Network>,
        config: Arc<BusConfig>,
    ) -> Result<Self, ClusterError> {
        let live = cluster.subscribe(cluster.subject_out(id)).await?;
        let follower =
            Follower { cluster, id, network: Arc::downgrade(network), config, catch_up_lock: Arc::default() };
        // After the subscription, so that no event falls between the stored and the live ones.
        follower.catch_up(None).await?;
        let task = tokio::spawn(follower.clone().follow(live)).abort_handle();
        Ok(Self { follower, task })
    }

    /// Makes sure that everything up to `sequence` is here, where that was ever assigned.
    pub(crate) async fn reach(&self, sequence: u64) -> Result<(), ClusterError> {
        let is_here = self.follower.network.upgrade().is_none_or(|network| network.head() >= sequence);
        if is_here { Ok(()) } else { self.follower.catch_up(Some(Instant::now())).await }
    }
}

impl Follower {
    /// Applies live events, and reads from the stream what it missed.
    async fn follow(self, mut live: Subscriber) {
        let mut link = self.cluster.link();
        link.mark_unchanged();
        loop {
            let complete_at = tokio::select! {
                message = live.next() => match message {
                    Some(message) if self.apply(&message) => continue,
                    // The connection works: what was missed is still in the stream.
                    Some(_) => Instant::now(),
                    None => return,
                },
                changed = link.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let link = *link.borrow_and_update();
                    if !link.connected {
                        continue;
                    }
                    link.last_good
                }
            };
            while let Err(error) = self.catch_up(Some(complete_at)).await {
                tracing::debug!(%error, "a network's missed events can't be read yet");
                tokio::time::sleep(RETRY_DELAY).await;
            }
            if self.network.strong_count() == 0 {
                return;
            }
        }
    }

    /// Applies an event that was just stored; false where the previous one is missing.
    fn apply(&self, message: &async_nats::Message) -> bool {
        let Some(network) = self.network.upgrade() else { return true };
        let headers = message.headers.as_ref();
        let number = |name| headers.and_then(|all| all.get(name)).and_then(|text| text.as_str().parse::<u64>().ok());
        let (Some(sequence), Some(previous)) = (number(SEQUENCE), number(PREVIOUS_SEQUENCE)) else { return false };
        if previous > network.head() {
            return false;
        }
        if let Some(event) = decode(sequence, message) {
            network.apply(&self.config, &event);
        }
        true
    }

    /// Reads everything the stream has that the mirror lacks. `complete_at` is when the mirror last lacked nothing;
    /// `None`: never.
    async fn catch_up(&self, complete_at: Option<Instant>) -> Result<(), ClusterError> {
        let Some(network) = self.network.upgrade() else { return Ok(()) };
        let _guard = self.catch_up_lock.lock().await;
        let stream = self.cluster.event_stream().await?;
        let state = &stream.cached_info().state;
        let expired = state.first_sequence.saturating_sub(1).min(state.last_sequence);
        let may_lack = complete_at.is_none_or(|at| at.elapsed() >= self.cluster.retention());
        if network.head() < expired && may_lack {
            network.drop_up_to(expired);
        }
        let from = network.head() + 1;
        if state.messages > 0 && from <= state.last_sequence {
            self.read(&network, &stream, from).await.map_err(ClusterError::Stream)?;
        }
        // Whatever lies between the network's last event and the stream's is other networks'.
        network.raise_head(state.last_sequence);
        Ok(())
    }

    async fn read(&self, network: &Network, stream: &Stream, from: u64) -> Result<(), String> {
        let consumer = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: from },
            ack_policy: AckPolicy::None,
            filter_subject: self.cluster.subject_in(self.id),
            inactive_threshold: CONSUMER_TTL,
            memory_storage: true,
            ..pull::Config::default()
        };
        let consumer = stream.create_consumer(consumer).await.map_err(|error| error.to_string())?;
        let mut pending = consumer.cached_info().num_pending;
        while pending > 0 {
            let batch = consumer.fetch().max_messages(BATCH_SIZE).messages().await;
            let mut batch = batch.map_err(|error| error.to_string())?;
            let mut received = 0;
            while let Some(message) = batch.next().await {
                let message = message.map_err(|error| error.to_string())?;
                let sequence = message.info().map_err(|error| error.to_string())?.stream_sequence;
                if let Some(event) = decode(sequence, &message) {
                    network.apply(&self.config, &event);
                }
                received += 1;
            }
            // Some may have expired since they were counted.
            pending = if received == 0 { 0 } else { pending.saturating_sub(received) };
        }
        Ok(())
    }
}
