//! Metrics for Prometheus, at a separate address.
//!
//! Nothing is recorded unless `--metrics` names an address. Gauges are read at each scrape; only events that have ended
//! by then, such as requests, are recorded as they happen.

mod collect;
mod process;
mod recording;
mod server;
mod table;

pub use recording::Monitoring;
pub use server::start;
pub use table::{METRICS, Metric, document};
