//! Metrics for Prometheus, at a separate address.
//!
//! Nothing is recorded unless `--metrics` names an address. Gauges are read at each scrape; only events that have ended
//! by then, such as requests, are recorded as they happen.

mod collect;
mod process;
mod server;

use crate::component::Component;
use crate::metric_recorder::MetricRecorder;

pub use crate::metric_recorder::{METRICS, Metric, document};

use std::net::SocketAddr;
use std::sync::OnceLock;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "metrics for Prometheus at an address of their own ([metrics](../operate/metrics.md))",
    register: |states, opening| {
        states.insert(MetricRecorder::new(opening.settings.metrics.is_some())?);
        states.insert(Monitoring::default());
        Ok(())
    },
    start: |app| Box::pin(server::start(app)),
    ..Component::new(module_path!())
};

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
