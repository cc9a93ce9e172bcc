//! Messages from one node to all. They are never stored: an absent node misses them.

use super::connection::Cluster;
use super::settings::ClusterError;
use async_nats::RequestErrorKind;
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;

/// The messages a node receives on a topic.
pub struct Inbox(async_nats::Subscriber);

impl Inbox {
    /// The next message; `None` when the connection is closed for good.
    pub async fn next(&mut self) -> Option<Bytes> {
        Some(self.0.next().await?.payload)
    }
}

impl Cluster {
    /// Sends a message to every node that listens to the topic, this one included.
    ///
    /// # Errors
    /// The bus can't be reached.
    pub fn broadcast(&self, topic: &str, payload: Bytes) -> BoxFuture<'_, Result<(), ClusterError>> {
        let topic = self.topic(topic);
        Box::pin(async move {
            let sent = self.client().publish(topic, payload).await;
            sent.map_err(|error| ClusterError::Subscribe(error.to_string()))
        })
    }

    /// Receives everything that is broadcast on a topic from now on.
    ///
    /// # Errors
    /// The bus can't be reached.
    pub fn listen(&self, topic: &str) -> BoxFuture<'_, Result<Inbox, ClusterError>> {
        let topic = self.topic(topic);
        Box::pin(async move {
            let inbox = Inbox(self.subscribe(topic).await?);
            self.round_trip().await?;
            Ok(inbox)
        })
    }

    /// The server handles one connection's commands in order: an answer proves that it has the subscription.
    async fn round_trip(&self) -> Result<(), ClusterError> {
        let nobody = format!("{}.nobody", self.prefix());
        match self.client().request(nobody, Bytes::new()).await {
            Err(error) if error.kind() != RequestErrorKind::NoResponders => {
                Err(ClusterError::Subscribe(error.to_string()))
            }
            _ => Ok(()),
        }
    }

    fn topic(&self, topic: &str) -> String {
        format!("{}.all.{topic}", self.prefix())
    }
}
