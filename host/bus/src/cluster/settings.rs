//! Settings of a node's connection to its bus, and reasons for failing to connect.

use std::path::PathBuf;
use std::time::Duration;

/// Membership of a cluster: nodes with the same bus and prefix form one hub.
#[derive(Clone)]
pub struct ClusterConfig {
    /// `nats://host:port` or `tls://host:port`, comma-separated if there are several, with `user:password@` or `token@`
    /// (percent-encoded) if the server requires it.
    pub url: String,
    /// The authority that signed the servers' certificates, in PEM; by default the system's authorities. With it, the
    /// connection uses TLS or fails.
    pub ca: Option<PathBuf>,
    /// NATS credentials or the seed of an nkey.
    pub credentials: Option<PathBuf>,
    /// Prefixes the hub's subjects and its stream, so that several hubs can share a bus.
    pub prefix: String,
    /// This node's name, of letters, digits and hyphens: unique among the nodes that run at the same time.
    pub node: String,
    /// Time for which a stream can be resumed after an event.
    pub retention: Duration,
    /// Maximum bytes stored for all networks together, or the half, quarter … of it that NATS has room for; beyond it
    /// the oldest events are dropped early.
    pub max_bytes: u64,
    /// Maximum number of events stored for one network.
    pub network_events: u64,
    /// Maximum bytes stored for one network; beyond it, half of them are dropped early.
    pub network_bytes: u64,
    /// Copies of the events if the bus is itself a cluster of servers.
    pub replicas: usize,
}

impl ClusterConfig {
    /// Defaults: 2 minutes or 1 GiB, of one network 10,000 events or 64 MiB; one copy.
    pub fn new(url: &str, node: &str) -> Self {
        Self {
            url: url.to_owned(),
            ca: None,
            credentials: None,
            prefix: "hub".to_owned(),
            node: node.to_owned(),
            retention: Duration::from_mins(2),
            max_bytes: 1 << 30,
            network_events: 10_000,
            network_bytes: 64 << 20,
            replicas: 1,
        }
    }
}

impl ClusterConfig {
    /// Name of the stream of events. NATS allows no dots in it.
    pub(crate) fn stream_name(&self) -> String {
        format!("{}-events", self.prefix.replace('.', "-"))
    }
}

/// The bus between nodes could not be set up. No message shows its password.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Invalid address.
    #[error("invalid address of the bus: {0}")]
    Address(&'static str),
    /// A file that its connection needs can't be used.
    #[error("the bus can't be reached: {0}: {1}")]
    File(String, std::io::Error),
    /// No bus at the address, or it refuses this hub.
    #[error("the bus at {0} can't be reached: {1}")]
    Connect(String, async_nats::ConnectError),
    /// It has no JetStream, or refuses the stream of events.
    #[error("the bus does not keep events (is JetStream on?): {0}")]
    Stream(String),
    /// It has no room for the stream of events.
    #[error(
        "the bus has less than {mib} MiB of storage for events; raise `max_file_store` of NATS, or the limit of its \
         account, or delete other streams"
    )]
    Storage {
        /// Smallest history that the hub accepts, in MiB.
        mib: i64,
    },
    /// The bus refused a subscription.
    #[error("the bus refused a subscription: {0}")]
    Subscribe(String),
}

impl ClusterError {
    /// True if the bus may be there later; false if it refuses this hub, or its address is wrong.
    pub fn is_unavailable(&self) -> bool {
        use async_nats::ConnectErrorKind::{Dns, Io, TimedOut};
        match self {
            Self::Connect(_, error) => matches!(error.kind(), Dns | Io | TimedOut),
            Self::Stream(_) | Self::Storage { .. } | Self::Subscribe(_) => true,
            Self::Address(_) | Self::File(..) => false,
        }
    }
}
