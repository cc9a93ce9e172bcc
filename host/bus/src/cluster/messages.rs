//! Messages between nodes: to all of them, or a question to one of them. Never stored: whoever is away misses them.

use super::connection::{Cluster, ClusterError};
use bytes::Bytes;
use futures_util::StreamExt;
use std::time::Duration;

/// What a node is sent on a topic.
pub struct Inbox(async_nats::Subscriber);

/// One message.
#[derive(Debug)]
pub struct Message {
    /// Its content.
    pub payload: Bytes,
    reply: Option<async_nats::Subject>,
}

impl Inbox {
    /// The next message; none when the connection is closed for good.
    pub async fn next(&mut self) -> Option<Message> {
        let message = self.0.next().await?;
        Some(Message { payload: message.payload, reply: message.reply })
    }
}

impl Cluster {
    /// Sends a message to every node that listens to the topic, this one included.
    ///
    /// # Errors
    /// Where the bus can't be reached.
    pub async fn tell(&self, topic: &str, payload: Bytes) -> Result<(), ClusterError> {
        let sent = self.client().publish(self.topic(topic), payload).await;
        sent.map_err(|error| ClusterError::Subscribe(error.to_string()))
    }

    /// Listens to what all nodes are told on a topic.
    ///
    /// # Errors
    /// Where the bus can't be reached.
    pub async fn listen(&self, topic: &str) -> Result<Inbox, ClusterError> {
        self.inbox(self.topic(topic)).await
    }

    /// Listens to what this node alone is asked on a topic.
    ///
    /// # Errors
    /// Where the bus can't be reached.
    pub async fn serve(&self, topic: &str) -> Result<Inbox, ClusterError> {
        self.inbox(self.topic_of(self.node(), topic)).await
    }

    /// Asks a node on a topic; none where it does not answer in time, or is not there.
    pub async fn ask(&self, node: &str, topic: &str, payload: Bytes, within: Duration) -> Option<Bytes> {
        let request = async_nats::Request::new().payload(payload).timeout(Some(within));
        Some(self.client().send_request(self.topic_of(node, topic), request).await.ok()?.payload)
    }

    /// Answers a message that was asked.
    pub async fn answer(&self, message: Message, payload: Bytes) {
        let Some(reply) = message.reply else { return };
        if let Err(error) = self.client().publish(reply, payload).await {
            tracing::debug!(%error, "a node was not answered");
        }
    }

    async fn inbox(&self, subject: String) -> Result<Inbox, ClusterError> {
        Ok(Inbox(self.subscribe(subject).await?))
    }

    fn topic(&self, topic: &str) -> String {
        format!("{}.all.{topic}", self.prefix())
    }

    fn topic_of(&self, node: &str, topic: &str) -> String {
        format!("{}.node.{node}.{topic}", self.prefix())
    }
}
