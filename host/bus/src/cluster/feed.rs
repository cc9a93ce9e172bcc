//! One network's events on this node: a copy of what the stream keeps, in its order, and then all that comes.

use super::Stored;
use super::connection::{Cluster, ClusterError};
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

/// Of the server's own making, on what it publishes once more.
const SEQUENCE: &str = "Nats-Sequence";
/// The sequence of the event before it in the same network.
const LAST_SEQUENCE: &str = "Nats-Last-Sequence";
const BATCH: usize = 500;
/// How long the server remembers a reader of the past that is gone.
const READER_GONE_AFTER: Duration = Duration::from_secs(10);
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(200);

/// Keeps one network's copy going for as long as both live.
pub(crate) struct Feed {
    source: Source,
    task: AbortHandle,
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Clone)]
struct Source {
    cluster: Cluster,
    id: u128,
    network: Weak<Network>,
    config: Arc<BusConfig>,
    /// Held while the past is read, so that it is read once for all who wait.
    reading: Arc<tokio::sync::Mutex<()>>,
}

impl Feed {
    /// Reads what the stream has of the network into `network`, and goes on with what comes.
    pub(crate) async fn open(
        cluster: Cluster,
        id: u128,
        network: &Arc<Network>,
        config: Arc<BusConfig>,
    ) -> Result<Self, ClusterError> {
        let live = cluster.subscribe(cluster.subject_out(id)).await?;
        let source = Source { cluster, id, network: Arc::downgrade(network), config, reading: Arc::default() };
        // After the subscription, so that nothing falls between the past and what comes.
        source.catch_up(None).await?;
        let task = tokio::spawn(source.clone().follow(live)).abort_handle();
        Ok(Self { source, task })
    }

    /// Has everything up to `sequence`, where that was ever given out.
    pub(crate) async fn reach(&self, sequence: u64) -> Result<(), ClusterError> {
        let here = self.source.network.upgrade().is_none_or(|network| network.head() >= sequence);
        if here { Ok(()) } else { self.source.catch_up(Some(Instant::now())).await }
    }
}

impl Source {
    /// Goes on with what comes, and reads again what was missed on the way.
    async fn follow(self, mut live: Subscriber) {
        let mut link = self.cluster.link();
        link.mark_unchanged();
        loop {
            let missed_since = tokio::select! {
                message = live.next() => match message {
                    Some(message) if self.take(&message) => continue,
                    // The connection is there: what did not come is still in the stream.
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
                    link.away_since
                }
            };
            while let Err(error) = self.catch_up(Some(missed_since)).await {
                tracing::debug!(%error, "what a network missed can't be read yet");
                tokio::time::sleep(TRY_AGAIN_AFTER).await;
            }
            if self.network.strong_count() == 0 {
                return;
            }
        }
    }

    /// Appends an event that was just stored; false where the one before it did not come.
    fn take(&self, message: &async_nats::Message) -> bool {
        let Some(network) = self.network.upgrade() else { return true };
        let headers = message.headers.as_ref();
        let number = |name| headers.and_then(|all| all.get(name)).and_then(|text| text.as_str().parse::<u64>().ok());
        let (Some(sequence), Some(before)) = (number(SEQUENCE), number(LAST_SEQUENCE)) else { return false };
        if before > network.head() {
            return false;
        }
        if let Some(stored) = Stored::read(headers, message.payload.clone()) {
            network.take_in(&self.config, sequence, &stored);
        }
        true
    }

    /// Reads everything the stream has that the copy does not. The copy was complete at `complete_at`; none: never.
    async fn catch_up(&self, complete_at: Option<Instant>) -> Result<(), ClusterError> {
        let Some(network) = self.network.upgrade() else { return Ok(()) };
        let _turn = self.reading.lock().await;
        let stream = self.cluster.events().await?;
        let state = &stream.cached_info().state;
        let gone = state.first_sequence.saturating_sub(1).min(state.last_sequence);
        let may_lack = complete_at.is_none_or(|at| at.elapsed() >= self.cluster.retention());
        if network.head() < gone && may_lack {
            network.lose_up_to(gone);
        }
        let from = network.head() + 1;
        if state.messages > 0 && from <= state.last_sequence {
            self.read(&network, &stream, from).await.map_err(ClusterError::Stream)?;
        }
        // The network has nothing between its last event and the stream's last of then.
        network.raise_head(state.last_sequence);
        Ok(())
    }

    async fn read(&self, network: &Network, stream: &Stream, from: u64) -> Result<(), String> {
        let reader = pull::Config {
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: from },
            ack_policy: AckPolicy::None,
            filter_subject: self.cluster.subject_in(self.id),
            inactive_threshold: READER_GONE_AFTER,
            memory_storage: true,
            ..pull::Config::default()
        };
        let reader = stream.create_consumer(reader).await.map_err(|error| error.to_string())?;
        let mut left = reader.cached_info().num_pending;
        while left > 0 {
            let batch = reader.fetch().max_messages(BATCH).messages().await;
            let mut batch = batch.map_err(|error| error.to_string())?;
            let mut came = 0;
            while let Some(message) = batch.next().await {
                let message = message.map_err(|error| error.to_string())?;
                let sequence = message.info().map_err(|error| error.to_string())?.stream_sequence;
                if let Some(stored) = Stored::read(message.headers.as_ref(), message.payload.clone()) {
                    network.take_in(&self.config, sequence, &stored);
                }
                came += 1;
            }
            // Some may have expired since they were counted.
            left = if came == 0 { 0 } else { left.saturating_sub(came) };
        }
        Ok(())
    }
}
