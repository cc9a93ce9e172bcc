//! Usage of networks, by hour: counted in memory, added to the database each second, listed, and reported for billing.
//!
//! Invariants: an hour's counts are exact over all nodes and restarts. A killed process loses the counts since its last
//! batch, a second at most; a batch whose commit is uncertain is sent again under its number and counts once. Rows of a
//! closed hour never change: late counts are added to the next open hour. So each row is reported once, equal to its
//! listing.
//! Counting costs a request an atomic add: it waits for no lock and allocates nothing.
//! Tables: `usage_hours`, `usage_nodes`, `usage_streams`, `usage_progress`.

mod amounts;
mod close;
mod flush;
mod peaks;
mod report;
mod retention;
mod routes;
pub mod service;
mod state;
mod storage;
mod store;

pub use routes::UsageHour;
pub use state::Metering;
pub use state::OnlinePeaks;

use std::time::Duration;

use crate::app::App;
use crate::background::every;
use crate::clock::Millis;
use crate::component::{Component, TableRule, Tag};
use crate::usage_counters::UsageCounters;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "counts what networks use, by hour ([usage and billing](../operate/usage.md))",
    tags: &[Tag("Usage", "Hourly resource usage of the network.")],
    routes: || routes::router().database_only(),
    tables: &[
        TableRule::hub("usage_hours"),
        TableRule::hub("usage_nodes").not_backed_up("nodes register themselves"),
        // A network's hourly usage stays, so that the last hours can be billed.
        TableRule::left("usage_streams").not_backed_up("open streams"),
        TableRule::hub("usage_progress"),
    ],
    register: |states, _| {
        states.insert(UsageCounters::default());
        Ok(())
    },
    start: |app| Box::pin(async move { start(app) }),
    stop: |app| Box::pin(flush::stop(app)),
    ..Component::new(module_path!())
};

/// Interval of batches, and so the most that a killed process loses.
const FLUSH_INTERVAL: Duration = Duration::from_secs(1);
const CLOSE_INTERVAL: Duration = Duration::from_secs(5);
const HOUR: Millis = 60 * 60 * 1000;

/// Starts the background work.
fn start(app: &App) -> anyhow::Result<()> {
    every(app, FLUSH_INTERVAL, "store usage", async |app: App| flush::run(&app).await);
    every(app, CLOSE_INTERVAL, "close an hour of usage", async |app: App| close::run(&app).await);
    retention::start(app);
    report::start(app)
}

/// Beginning of the hour of `at`.
fn hour_of(at: Millis) -> Millis {
    at.div_euclid(HOUR).saturating_mul(HOUR)
}
