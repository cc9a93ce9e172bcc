use async_nats::jetstream;
use async_nats::jetstream::stream::{Config, DiscardPolicy, Republish, StorageType, Stream};
use async_nats::{Client, ConnectOptions, Event, Subscriber};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

const PING_EVERY: Duration = Duration::from_secs(2);
/// After how long a connection that is silently dead is noticed.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);
const ALIVE_EVERY: Duration = Duration::from_secs(1);
const STOOD_STILL: Duration = Duration::from_secs(4);

/// How nodes find each other: those with the same bus and prefix are one hub.
#[derive(Clone, Debug)]
pub struct ClusterConfig {
    /// `nats://host:port`, several with commas, with `user:password@` or `token@` where the server asks for it.
    pub url: String,
    /// Begins the names of the hub's subjects and of its stream, so that several hubs can share a bus.
    pub prefix: String,
    /// This node's name, of letters, digits and hyphens: its own among all nodes that ever live at the same time.
    pub node: String,
    /// How long an event can be resumed from.
    pub retention: Duration,
    /// The most bytes kept for all networks together; beyond it the oldest go early.
    pub max_bytes: u64,
    /// Copies of the events where the bus is a cluster of servers itself.
    pub replicas: usize,
}

impl ClusterConfig {
    /// The usual limits: 2 minutes or 1 GiB, one copy.
    pub fn new(url: &str, node: &str) -> Self {
        Self {
            url: url.to_owned(),
            prefix: "hub".to_owned(),
            node: node.to_owned(),
            retention: Duration::from_mins(2),
            max_bytes: 1 << 30,
            replicas: 1,
        }
    }
}

/// The bus between nodes could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// There is no bus at the address, or it refuses this hub.
    #[error("the bus at {0} can't be reached: {1}")]
    Connect(String, async_nats::ConnectError),
    /// It has no JetStream, or refuses the stream of events.
    #[error("the bus does not keep events (is JetStream on?): {0}")]
    Stream(String),
    /// It takes no subscription.
    #[error("the bus took no subscription: {0}")]
    Subscribe(String),
}

/// The connection to the bus between nodes. Clones are the same connection; it comes back by itself.
#[derive(Clone)]
pub struct Cluster(Arc<Inner>);

struct Inner {
    config: ClusterConfig,
    client: Client,
    jetstream: jetstream::Context,
    link: watch::Receiver<Link>,
    sent: AtomicU64,
}

/// The state of the connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) connected: bool,
    /// When it was last known to be good before it was lost.
    pub(crate) away_since: Instant,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cluster").field("node", &self.0.config.node).finish_non_exhaustive()
    }
}

impl Cluster {
    /// Connects, and makes the stream of events where it is missing.
    ///
    /// # Errors
    /// See [`ClusterError`].
    pub async fn connect(config: ClusterConfig) -> Result<Self, ClusterError> {
        let (sender, link) = watch::channel(Link { connected: false, away_since: Instant::now() });
        let sender = Arc::new(sender);
        let on_event = Arc::clone(&sender);
        let options = ConnectOptions::new()
            .name(format!("{}-{}", config.prefix, config.node))
            .ping_interval(PING_EVERY)
            .request_timeout(Some(Duration::from_secs(2)))
            .connection_timeout(Duration::from_secs(2))
            .reconnect_delay_callback(|attempts| Duration::from_millis(50 * attempts.min(10) as u64))
            .max_reconnects(None)
            .event_callback(move |event| {
                match event {
                    Event::Connected => on_event.send_modify(|link| link.connected = true),
                    Event::Disconnected | Event::Closed => on_event.send_modify(|link| link.connected = false),
                    other => tracing::warn!(event = %other, "from the bus between nodes"),
                }
                std::future::ready(())
            });
        let servers: Vec<_> = config.url.split(',').map(str::trim).collect();
        let client = options.connect(servers).await;
        let client = client.map_err(|error| ClusterError::Connect(config.url.clone(), error))?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(Duration::from_secs(2));
        let cluster = Self(Arc::new(Inner { config, client, jetstream, link, sent: AtomicU64::new(0) }));
        tokio::spawn(note_life(cluster.0.client.clone(), sender));
        cluster.events().await?;
        Ok(cluster)
    }

    /// The stream of events, made where it is missing.
    pub(crate) async fn events(&self) -> Result<Stream, ClusterError> {
        let config = &self.0.config;
        let stream = Config {
            name: self.stream_name(),
            subjects: vec![format!("{}.in.*", config.prefix)],
            republish: Some(Republish {
                source: format!("{}.in.*", config.prefix),
                destination: format!("{}.out.{{{{wildcard(1)}}}}", config.prefix),
                headers_only: false,
            }),
            // On disk, so that a restart of the bus neither loses what may be resumed from nor begins to count anew.
            storage: StorageType::File,
            max_age: config.retention,
            max_bytes: i64::try_from(config.max_bytes).unwrap_or(i64::MAX),
            discard: DiscardPolicy::Old,
            duplicate_window: config.retention,
            num_replicas: config.replicas,
            ..Config::default()
        };
        let made = self.0.jetstream.get_or_create_stream(stream).await;
        made.map_err(|error| ClusterError::Stream(error.to_string()))
    }

    /// What tells this stream of events from one that takes its place, and the newest sequence in it.
    pub(crate) async fn epoch(&self) -> Result<u64, ClusterError> {
        let stream = self.events().await?;
        let created = stream.cached_info().created;
        Ok(u64::try_from(created.unix_timestamp_nanos() / 1_000).unwrap_or(0))
    }

    /// This node's name.
    pub fn node(&self) -> &str {
        &self.0.config.node
    }

    /// Whether the bus can be reached now, as far as this node knows.
    pub fn is_connected(&self) -> bool {
        self.0.link.borrow().connected
    }

    /// Changes whenever the connection is lost or made again.
    pub(crate) fn link(&self) -> watch::Receiver<Link> {
        self.0.link.clone()
    }

    pub(crate) fn retention(&self) -> Duration {
        self.0.config.retention
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

    fn stream_name(&self) -> String {
        format!("{}-events", self.0.config.prefix)
    }

    /// Where a network's events go in.
    pub(super) fn subject_in(&self, network: u128) -> String {
        format!("{}.in.{network:032x}", self.0.config.prefix)
    }

    /// Where they come out, numbered.
    pub(super) fn subject_out(&self, network: u128) -> String {
        format!("{}.out.{network:032x}", self.0.config.prefix)
    }

    /// Leaves room for the headers.
    pub(super) fn max_event_bytes(&self) -> usize {
        self.0.client.server_info().max_payload.saturating_sub(4096)
    }

    /// Names a message, so that one sent twice is stored once.
    pub(super) fn new_id(&self) -> String {
        format!("{}-{}", self.0.client.new_inbox(), self.0.sent.fetch_add(1, Relaxed))
    }
}

/// Notes every second that the connection is good. A process that stood still in between (stopped, or the machine
/// asleep) takes the connection for lost, whatever its socket says.
async fn note_life(client: Client, link: Arc<watch::Sender<Link>>) {
    let mut noted = Instant::now();
    while !link.is_closed() {
        tokio::time::sleep(ALIVE_EVERY).await;
        if noted.elapsed() > ALIVE_EVERY + STOOD_STILL {
            let reconnecting = client.force_reconnect().await;
            reconnecting.unwrap_or_else(|error| tracing::debug!(%error, "the bus was not reconnected"));
        } else if link.borrow().connected {
            // Followers look at it when they are connected again, not now.
            link.send_if_modified(|link| {
                link.away_since = noted - NOTICED_WITHIN;
                false
            });
        }
        noted = Instant::now();
    }
}
