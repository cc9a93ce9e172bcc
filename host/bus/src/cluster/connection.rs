use async_nats::jetstream;
use async_nats::{Client, ConnectOptions, Event, Subscriber};
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

use super::access::Access;
use super::settings::{ClusterConfig, ClusterError};

const PING_INTERVAL: Duration = Duration::from_secs(2);
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Delay of a check that means that the process was suspended.
const SUSPENDED_AFTER: Duration = Duration::from_secs(4);

/// The connection to the bus between nodes. Clones share it; it reconnects by itself.
#[derive(Clone)]
pub struct Cluster(Arc<Inner>);

struct Inner {
    config: ClusterConfig,
    client: Client,
    jetstream: jetstream::Context,
    /// True while it is connected.
    link: watch::Receiver<bool>,
    message_count: AtomicU64,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("node", &self.0.config.node).finish_non_exhaustive()
    }
}

impl Cluster {
    /// Connects, and creates the stream of events where it is missing.
    ///
    /// # Errors
    /// See [`ClusterError`].
    pub fn connect(config: ClusterConfig) -> BoxFuture<'static, Result<Self, ClusterError>> {
        Box::pin(async {
            let cluster = Self::open(config).await?;
            cluster.event_stream().await?;
            Ok(cluster)
        })
    }

    /// Connects, and asks JetStream for the stream of events. It creates nothing. Returns the maximum bytes of the stream of
    /// events, if there is one.
    ///
    /// # Errors
    /// See [`ClusterError`].
    pub fn probe(config: ClusterConfig) -> BoxFuture<'static, Result<Option<u64>, ClusterError>> {
        Box::pin(async {
            let cluster = Self::open(config).await?;
            let stream = cluster.find_stream(&cluster.config().stream_name()).await?;
            Ok(stream.and_then(|stream| u64::try_from(stream.cached_info().config.max_bytes).ok()))
        })
    }

    async fn open(config: ClusterConfig) -> Result<Self, ClusterError> {
        let (sender, link) = watch::channel(false);
        let sender = Arc::new(sender);
        let on_event = Arc::clone(&sender);
        let options = ConnectOptions::new()
            .name(format!("{}-{}", config.prefix, config.node))
            .ping_interval(PING_INTERVAL)
            .request_timeout(Some(Duration::from_secs(2)))
            .connection_timeout(Duration::from_secs(2))
            .reconnect_delay_callback(|attempts| Duration::from_millis(50 * attempts.min(10) as u64))
            .max_reconnects(None)
            .event_callback(move |event| {
                match event {
                    // Also after a loss that was not observed.
                    Event::Connected => drop(on_event.send_replace(true)),
                    Event::Disconnected | Event::Closed => drop(on_event.send_replace(false)),
                    other => tracing::warn!(event = %other, "from the bus between nodes"),
                }
                std::future::ready(())
            });
        let mut access = Access::parse(&config.url)?;
        let options = access.apply(options, &config).await?;
        let client = options.connect(access.servers.as_slice()).await;
        let client = client.map_err(|error| ClusterError::Connect(access.describe(), error))?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(Duration::from_secs(2));
        let cluster = Self(Arc::new(Inner { config, client, jetstream, link, message_count: AtomicU64::new(0) }));
        tokio::spawn(reconnect_after_suspension(cluster.0.client.clone(), sender));
        Ok(cluster)
    }

    pub(super) fn config(&self) -> &ClusterConfig {
        &self.0.config
    }

    /// This node's name.
    pub fn node(&self) -> &str {
        &self.0.config.node
    }

    /// True if the bus can be reached now, as far as this node knows.
    pub fn is_connected(&self) -> bool {
        *self.0.link.borrow()
    }

    /// Number of the current connection: they are counted. Messages of an earlier one may still wait to be read.
    pub(super) fn connection(&self) -> u64 {
        self.0.client.statistics().connects.load(Relaxed)
    }

    /// Changes whenever the connection is lost or restored.
    pub(crate) fn link(&self) -> watch::Receiver<bool> {
        self.0.link.clone()
    }

    pub(super) async fn subscribe(&self, subject: String) -> Result<Subscriber, ClusterError> {
        let subscribed = self.0.client.subscribe(subject).await;
        subscribed.map_err(|error| ClusterError::Subscribe(error.to_string()))
    }

    pub(crate) fn client(&self) -> &Client {
        &self.0.client
    }

    pub(crate) fn jetstream(&self) -> &jetstream::Context {
        &self.0.jetstream
    }

    pub(crate) fn prefix(&self) -> &str {
        &self.0.config.prefix
    }

    /// Subject to which a network's events are published.
    pub(super) fn subject_in(&self, network: u128) -> String {
        format!("{}.in.{network:032x}", self.0.config.prefix)
    }

    /// Subject to which the stream republishes them, numbered.
    pub(super) fn subject_out(&self, network: u128) -> String {
        format!("{}.out.{network:032x}", self.0.config.prefix)
    }

    /// Maximum size of an event, with room for the headers.
    pub(super) fn max_event_bytes(&self) -> usize {
        self.0.client.server_info().max_payload.saturating_sub(4096)
    }

    /// Id of a message, so that one sent twice is stored once.
    pub(super) fn new_message_id(&self) -> String {
        format!("{}-{}", self.0.client.new_inbox(), self.0.message_count.fetch_add(1, Relaxed))
    }
}

/// Reconnects after the process was suspended (stopped, or the machine asleep), regardless of the socket's state.
async fn reconnect_after_suspension(client: Client, link: Arc<watch::Sender<bool>>) {
    let mut checked = Instant::now();
    while !link.is_closed() {
        tokio::time::sleep(CHECK_INTERVAL).await;
        if checked.elapsed() > CHECK_INTERVAL + SUSPENDED_AFTER {
            let reconnecting = client.force_reconnect().await;
            reconnecting.unwrap_or_else(|error| tracing::debug!(%error, "the bus was not reconnected"));
        }
        checked = Instant::now();
    }
}
