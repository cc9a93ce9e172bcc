//! Publishes events to the stream, and reads them back from its messages.

use super::connection::Cluster;
use super::settings::ClusterError;
use super::watch::StreamWatch;
use crate::event::{EventRef, NumberedEvent, PublishError};
use async_nats::HeaderMap;
use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::publish::PublishAck;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::error::Error as _;
use std::time::Duration;
use tokio::time::Instant;

const NAME: &str = "Hub-Event";
const TARGET: &str = "Hub-Target";
const AT: &str = "Hub-At";
const DROPPED: &str = "Hub-Dropped";
/// Includes reconnecting and retrying.
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
            let message = encode(event, now_ms);
            let sending = self.send_until_stored(network, &message, message_id);
            let sent = tokio::time::timeout(PUBLISH_TIMEOUT, sending).await;
            let sequence = sent.unwrap_or(Err(PublishError::Unreachable))?;
            self.bound_history(network, sequence, event.data.len()).await;
            Ok(sequence)
        })
    }

    async fn send_until_stored(
        &self,
        network: u128,
        message: &PublishMessage,
        given_id: Option<&str>,
    ) -> Result<u64, PublishError> {
        let own_id = given_id.map_or_else(|| self.cluster.new_message_id(), str::to_owned);
        let mut message_id = own_id.clone();
        let first = self.position();
        loop {
            let (epoch, head) = self.position();
            match self.cluster.send(network, message.clone().message_id(&message_id)).await {
                Ok(stored) => {
                    // An earlier attempt of this call was stored after `first`, one of an earlier process at any time.
                    let taken = match (stored.duplicate, given_id) {
                        (false, _) => head,
                        (true, None) if epoch == first.0 => first.1,
                        (true, _) => 0,
                    };
                    let is_taken = stored.sequence <= taken;
                    if is_taken {
                        // Its epoch ends now, or the stream was replaced.
                        let _ = self.check(Instant::now(), Some(epoch.number)).await;
                    }
                    let (current, _) = self.position();
                    if stored.sequence <= current.begin {
                        // An event stored before the epoch began is not announced.
                        message_id = format!("{own_id}-{}-{}", current.number, current.begin);
                    } else if current.number == epoch.number {
                        // A number that is still taken could not be checked.
                        if is_taken {
                            return Err(PublishError::Unreachable);
                        }
                        self.note(epoch.number, stored.sequence, &message_id);
                        return Ok(stored.sequence);
                    }
                    // Else the stream may have been replaced, with this event; sent again, it is stored once.
                }
                Err(error) => {
                    tracing::debug!(%error, "an event was not acknowledged; retrying");
                    if is_store_failure(&error)
                        && let Err(error) = self.cluster.replace_unusable(epoch).await
                    {
                        tracing::debug!(%error, "the stream that stores nothing was not replaced");
                    }
                    // The stream may be gone.
                    let _ = self.check(Instant::now(), None).await;
                }
            }
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    /// Drops the older half of a network's stored events if they exceed their limit in bytes.
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

    /// Drops a network's events up to a number from the stream. Mirrors that lack some of them find a message that says
    /// so.
    async fn drop_stored(&self, network: u128, up_to: u64) -> Result<(), ClusterError> {
        let notice = PublishMessage::build().header(DROPPED, up_to.to_string().as_str());
        self.send(network, notice).await.map_err(|error| ClusterError::Stream(error.to_string()))?;
        let stream = self.event_stream().await?;
        let purging = stream.purge().filter(self.subject_in(network)).sequence(up_to + 1).await;
        purging.map(drop).map_err(|error| ClusterError::Stream(error.to_string()))
    }
}

/// True if the stream answered that its store takes nothing.
fn is_store_failure(error: &async_nats::jetstream::context::PublishError) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<async_nats::jetstream::Error>());
    source.is_some_and(|source| source.error_code() == ErrorCode::STREAM_STORE_FAILED)
}

/// Number up to which a network's events were dropped early, in a message that says so.
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

/// Event in a stream's message; `None` if it was not written by the hub.
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
