//! Metrics for Prometheus, at a separate address.
//!
//! Nothing is recorded unless `--metrics` names an address. Gauges are read at each scrape; only events that have ended
//! by then, such as requests, are recorded as they happen.

mod collect;
mod process;
mod server;

pub use crate::metric_recorder::{METRICS, Metric, document};
pub use server::start;

use std::net::SocketAddr;
use std::sync::OnceLock;

/// Address that serves the metrics, once it is bound.
#[derive(Debug, Default)]
pub struct Monitoring {
    address: OnceLock<SocketAddr>,
}

impl Monitoring {
    /// The address, once it is bound.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address.get().copied()
    }
}
