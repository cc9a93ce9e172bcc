//! Events and replies between the hub's parts.
//!
//! [`Bus`] keeps one sequence of events per network. An event is written once, as the complete
//! server-sent-events frame that every stream sends, and all streams share its bytes. What was
//! published lately stays readable, so that a stream that broke goes on where it stopped
//! ([`Bus::subscribe`] with the last event id). A [`Subscription`] has no queue of its own: it is
//! a position in what the network keeps, so a slow reader costs nobody anything, and one that
//! stays too far behind is cut off.
//!
//! [`Rendezvous`] joins a request that was sent as an event with the answer that comes back later
//! by another way.
//!
//! The bus knows no clock: whoever calls passes the time, in milliseconds since the Unix epoch.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod bus;
mod cluster;
mod config;
mod count;
mod event;
mod id;
mod lane;
mod listener;
mod network;
mod nodes;
mod rendezvous;
mod state;
mod stats;
mod subscription;

pub use bus::Bus;
pub use cluster::{Cluster, ClusterConfig, ClusterError, Inbox};
pub use config::BusConfig;
pub use event::{Event, PublishError};
pub use listener::{End, Ended};
pub use rendezvous::{Rendezvous, Waiter};
pub use stats::Stats;
pub use subscription::{Next, Subscription};
