//! What the operator watches: metrics for Prometheus, at an address of their own.
//!
//! Nothing is recorded unless `--metrics` names an address. What the hub knows anyway is read when it is asked for; only what
//! is over by then, such as requests, is recorded while it happens.

mod collect;
mod process;
mod recording;
mod server;
mod table;

pub use recording::Monitoring;
pub use server::start;
pub use table::{METRICS, Metric, document};
