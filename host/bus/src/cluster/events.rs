//! Publishes events to the stream, and reads them back from its messages.

use super::connection::{Cluster, ClusterError};
use super::watch::StreamWatch;
use crate::event::{EventRef, NumberedEvent, PublishError};
use async_nats::HeaderMap;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::publish::PublishAck;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::time::Duration;
use tokio::time::Instant;

const NAME: &str = "Hub-Event";
const TARGET: &str = "Hub-Target";
const AT: &str = "Hub-At";
const DROPPED: &str = "Hub-Dropped";
/// Reconnecting and retrying included.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_DELAY: Duration = Duration::from_millis(100);

impl StreamWatch {
    /// Appends an event to its network's sequence and returns its number. Retries until the stream acknowledges it; the
    /// message id, a new one where none is given, makes it stored once.
    pub(crate) fn publish<'a>(
        &'a self,
        network: u128,
        event: EventRef<'a>,
        message_id: Option<&'a str>,
        now_ms: i64,
    ) -> BoxFuture<'a, Result<u64, PublishError>> {
        Box::pin(async move {
            if event.data.len() > self.cluster.max_event_bytes() {
                return Err(PublishError::TooLarge);
            }
            let message_id = message_id.map_or_else(|| self.cluster.new_message_id(), str::to_owned);
            let sending = self.send_until_stored(network, encode(event, now_ms), message_id);
            let sent = tokio::time::timeout(PUBLISH_TIMEOUT, sending).await;
            let sequence = sent.unwrap_or(Err(PublishError::Unreachable))?;
            self.bound_history(network, sequence, event.data.len()).await;
            Ok(sequence)
        })
    }

    async fn send_until_stored(
        &self,
        network: u128,
        message: PublishMessage,
        message_id: String,
    ) -> Result<u64, PublishError> {
        let message = message.message_id(&message_id);
        loop {
            let (epoch, head) = self.position();
            match self.cluster.send(network, message.clone()).await {
                Ok(stored) if stored.duplicate || stored.sequence > head => {
                    self.note(epoch, stored.sequence, &message_id);
                    return Ok(stored.sequence);
                }
                // A number that was given before: it is of the epoch that ends now, or in a stream that is replaced.
                Ok(_) => {
                    let _ = self.look(Instant::now(), Some(epoch)).await;
                    return Err(PublishError::Unreachable);
                }
                Err(error) => {
                    tracing::debug!(%error, "an event was not acknowledged; retrying");
                    // It may be gone.
                    let _ = self.look(Instant::now(), None).await;
                }
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    /// Drops the older half of a network's stored events where they have too many bytes.
    async fn bound_history(&self, network: u128, sequence: u64, bytes: usize) {
        let config = self.cluster.config();
        let Some(up_to) = self.stored.add(network, sequence, bytes, config.network_bytes) else { return };
        tracing::info!(network = %format_args!("{network:032x}"), "the network's recent events are too many bytes");
        if let Err(error) = self.cluster.drop_stored(network, up_to).await {
            tracing::warn!(%error, "a network's events could not be dropped");
        }
    }
}

impl Cluster {
    async fn send(
        &self,
        network: u128,
        message: PublishMessage,
    ) -> Result<PublishAck, async_nats::jetstream::context::PublishError> {
        self.jetstream().send_publish(self.subject_in(network), message).await?.await
    }

    /// Drops a network's events up to a number from the stream. Mirrors that lack some of them find a message that says so.
    async fn drop_stored(&self, network: u128, up_to: u64) -> Result<(), ClusterError> {
        let notice = PublishMessage::build().header(DROPPED, up_to.to_string().as_str());
        self.send(network, notice).await.map_err(|error| ClusterError::Stream(error.to_string()))?;
        let stream = self.event_stream().await?;
        let purging = stream.purge().filter(self.subject_in(network)).sequence(up_to + 1).await;
        purging.map(drop).map_err(|error| ClusterError::Stream(error.to_string()))
    }
}

/// The number up to which a network's events were dropped early, in a message that says so.
pub(super) fn dropped_up_to(message: &async_nats::Message) -> Option<u64> {
    message.headers.as_ref()?.get(DROPPED)?.as_str().parse().ok()
}

fn encode(event: EventRef<'_>, now_ms: i64) -> PublishMessage {
    let message = PublishMessage::build()
        .payload(Bytes::copy_from_slice(event.data.as_bytes()))
        .header(NAME, event.name)
        .header(AT, now_ms.to_string().as_str());
    match event.target {
        Some(target) => message.header(TARGET, target),
        None => message,
    }
}

/// The event in a stream's message; `None` where the hub did not write it.
pub(super) fn decode(sequence: u64, message: &async_nats::Message) -> Option<NumberedEvent> {
    let headers: &HeaderMap = message.headers.as_ref()?;
    let text = |name| headers.get(name).map(async_nats::HeaderValue::as_str);
    Some(NumberedEvent {
        sequence,
        name: text(NAME)?.to_owned(),
        target: text(TARGET).map(str::to_owned),
        at_ms: text(AT)?.parse().ok()?,
        data: message.payload.clone(),
    })
}
