//! Retention of entries by age and number.

use std::time::Duration;

use hub_db::Error;

use crate::app::App;
use crate::audit::store;
use crate::background::every_settled;
use crate::clock::{Millis, Settled};
use crate::limits::{self, Limit};
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

const WHAT: &str = "delete old entries of the audit logs";
const INTERVAL: Duration = Duration::from_hours(1);
const DAY: Millis = 24 * 60 * 60 * 1000;
/// Networks read at a time, and entries deleted per statement.
const NETWORKS: i64 = 500;
const BATCH: i64 = 500;

/// Deletes entries older than the network's plan allows, and the oldest ones above the maximum number.
pub(super) fn start(app: &App) {
    every_settled(app, INTERVAL, WHAT, async |app: App, settled| run(&app, settled).await);
}

async fn run(app: &App, settled: Settled) -> Result<(), Error> {
    let mut last = NetworkId(uuid::Uuid::nil());
    delete_old(app, last, settled).await?;
    loop {
        let networks = store::networks(&app.db, last, NETWORKS).await?;
        let Some(next) = networks.last() else { return Ok(()) };
        last = *next;
        let networks = networks.into_iter().map(|network| (network, ()));
        for_each_network(networks, WHAT, |network, ()| delete_old(app, network, settled)).await;
    }
}

async fn delete_old(app: &App, network: NetworkId, settled: Settled) -> Result<(), Error> {
    let limits = limits::of(app, network).await?;
    let kept_since = settled.before(limits.audit_days().saturating_mul(DAY)).at();
    // Ids begin with the entry's time in microseconds.
    let too_old = format!("{:015x}", kept_since.saturating_mul(1000).max(0));
    delete_until(app, network, &too_old).await?;
    let most = limits.value(Limit::AuditEntries);
    match store::first_over(&app.db, network, most).await? {
        Some(id) => delete_until(app, network, &id).await,
        None => Ok(()),
    }
}

async fn delete_until(app: &App, network: NetworkId, id: &str) -> Result<(), Error> {
    loop {
        let began = app.clock.moment();
        if store::delete_until(&app.db, network, id, BATCH).await? < BATCH as u64 {
            return Ok(());
        }
        // Pauses as long as this took, so that other work gets half of the time.
        app.clock.sleep(app.clock.moment().saturating_since(began)).await;
    }
}
