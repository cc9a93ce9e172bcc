//! Publishes events to the stream, and reads them back from its messages.

use super::connection::Cluster;
use crate::event::{EventRef, NumberedEvent, PublishError};
use async_nats::HeaderMap;
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::time::Duration;

const NAME: &str = "Hub-Event";
const TARGET: &str = "Hub-Target";
const AT: &str = "Hub-At";
/// Reconnecting and retrying included.
const PUBLISH_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_DELAY: Duration = Duration::from_millis(100);

impl Cluster {
    /// Appends an event to its network's sequence and returns its number. Retries until the stream acknowledges it; the
    /// message id, a new one where none is given, makes it stored once.
    pub(crate) fn publish<'a>(
        &'a self,
        network: u128,
        event: EventRef<'a>,
        message_id: Option<&'a str>,
        now_ms: i64,
    ) -> BoxFuture<'a, Result<u64, PublishError>> {
        Box::pin(self.publish_unboxed(network, event, message_id, now_ms))
    }

    async fn publish_unboxed(
        &self,
        network: u128,
        event: EventRef<'_>,
        message_id: Option<&str>,
        now_ms: i64,
    ) -> Result<u64, PublishError> {
        if event.data.len() > self.max_event_bytes() {
            return Err(PublishError::TooLarge);
        }
        let message_id = message_id.map_or_else(|| self.new_message_id(), str::to_owned);
        let message = encode(event, now_ms).message_id(message_id);
        let sending = async {
            loop {
                match self.send(network, message.clone()).await {
                    Ok(sequence) => return sequence,
                    Err(error) => tracing::debug!(%error, "an event was not acknowledged; retrying"),
                }
                tokio::time::sleep(RETRY_DELAY).await;
            }
        };
        tokio::time::timeout(PUBLISH_TIMEOUT, sending).await.map_err(|_| PublishError::Unreachable)
    }

    async fn send(
        &self,
        network: u128,
        message: PublishMessage,
    ) -> Result<u64, async_nats::jetstream::context::PublishError> {
        let acknowledgement = self.jetstream().send_publish(self.subject_in(network), message).await?;
        Ok(acknowledgement.await?.sequence)
    }
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
