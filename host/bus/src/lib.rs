//! Events and replies between the hub's components and nodes.
//!
//! [`Bus`] keeps one sequence of events per network. An event is written once, as the complete
//! server-sent-events frame that every stream sends, and all streams share its bytes. Recent events
//! are retained, so that an interrupted stream resumes where it stopped ([`Bus::subscribe`] with the
//! last event id). A [`Subscription`] has no queue of its own: it is a position in what the network
//! retains, so a slow reader costs the others nothing, and one that lags too far is disconnected.
//!
//! [`PendingReplies`] matches a request that was sent as an event with the reply that arrives by
//! another route.
//!
//! The bus has no clock: callers pass the time, in milliseconds since the Unix epoch.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

// Functions that talk to NATS return boxed futures: the body of an `async fn` is compiled again in every crate that
// awaits it.
mod bus;
mod cluster;
mod config;
mod count;
mod event;
mod event_log;
mod id;
mod listener;
mod network;
mod pending;
mod queue;
mod registry;
mod stats;
mod subscription;

pub use bus::Bus;
pub use cluster::{Cluster, ClusterConfig, ClusterError, Inbox};
pub use config::BusConfig;
pub use event::{Event, EventRef, PublishError, StoredEvent};
pub use listener::{EndReason, EndWatch};
pub use pending::{PendingReplies, PendingReply};
pub use stats::Stats;
pub use subscription::Subscription;
