//! The bus between nodes: NATS orders events and carries events and messages to every node.
//!
//! One JetStream stream stores the events of all networks, a subject per network. The stream's sequence is the events'
//! number, so all nodes agree on it. The stream republishes what it has stored on a plain subject: a node subscribes to
//! the networks it has streams of, at the cost of one subscription each ([`mirror`]).

mod access;
mod connection;
mod events;
mod messages;
pub(crate) mod mirror;
pub(crate) mod peers;
mod roster;
mod settings;
mod stored;
mod stream;
pub(crate) mod watch;

pub use connection::Cluster;
pub use messages::Inbox;
pub use settings::{ClusterConfig, ClusterError};
