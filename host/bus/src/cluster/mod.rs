//! The bus between nodes: NATS gives the order and carries events and messages to every node.
//!
//! Events are kept in one JetStream stream, a subject per network. The stream's sequence is the events' number, so all
//! nodes agree on it, and it publishes what it has stored once more on a plain subject: a node listens to the networks
//! it has streams of, at the cost of one subscription each ([`feed`]).

mod connection;
pub(crate) mod feed;
mod messages;
pub(crate) mod roster;

pub use connection::{Cluster, ClusterConfig, ClusterError};
pub use messages::Inbox;

use crate::event::{Event, PublishError};
use async_nats::HeaderMap;
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use std::time::Duration;

/// Headers an event travels with.
const NAME: &str = "Hub-Event";
const TARGET: &str = "Hub-Target";
const AT: &str = "Hub-At";
/// How long a publish waits for the stream's word, reconnecting and sending again included.
const PUBLISH_WITHIN: Duration = Duration::from_secs(5);
const TRY_AGAIN_AFTER: Duration = Duration::from_millis(100);

impl Cluster {
    /// Appends an event to its network's sequence; its number. Sent again until the stream says that it is there, which
    /// it then is once.
    pub(crate) async fn publish(&self, network: u128, event: &Event, now_ms: i64) -> Result<u64, PublishError> {
        if event.data.len() > self.max_event_bytes() {
            return Err(PublishError::TooLarge);
        }
        let message = message(event, now_ms).message_id(self.new_id());
        let sending = async {
            loop {
                match self.send(network, message.clone()).await {
                    Ok(sequence) => return sequence,
                    Err(error) => tracing::debug!(%error, "an event was not taken; it is sent again"),
                }
                tokio::time::sleep(TRY_AGAIN_AFTER).await;
            }
        };
        tokio::time::timeout(PUBLISH_WITHIN, sending).await.map_err(|_| PublishError::Unreachable)
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

fn message(event: &Event, now_ms: i64) -> PublishMessage {
    let message = PublishMessage::build()
        .payload(Bytes::from(event.data.clone()))
        .header(NAME, event.name)
        .header(AT, now_ms.to_string().as_str());
    match &event.target {
        Some(target) => message.header(TARGET, target.as_str()),
        None => message,
    }
}

/// An event as it came out of the stream.
pub(crate) struct Stored {
    pub(crate) name: String,
    pub(crate) target: Option<String>,
    pub(crate) at_ms: i64,
    pub(crate) data: Bytes,
}

impl Stored {
    /// What a message holds; none where it is nobody's of the hub.
    fn read(headers: Option<&HeaderMap>, data: Bytes) -> Option<Self> {
        let headers = headers?;
        let text = |name| headers.get(name).map(async_nats::HeaderValue::as_str);
        Some(Self {
            name: text(NAME)?.to_owned(),
            target: text(TARGET).map(str::to_owned),
            at_ms: text(AT)?.parse().ok()?,
            data,
        })
    }
}
