//! What the operator watches: metrics for Prometheus, at an address of their own.
//!
//! Nothing is recorded unless `--metrics` names an address. Gauges are read when somebody asks; only what has ended by
//! then, such as requests, is recorded while it happens.

mod collect;
mod process;
mod recording;
mod server;
mod table;

pub use recording::Monitoring;
pub use server::start;
pub use table::{METRICS, Metric, document};
