//! Background work: leases that ran out, worlds without players, and leases that wait for a node.

use std::time::Duration;

use hub_db::with_tenant;

use crate::app::App;
use crate::background::every;
use crate::clock::millis;
use crate::cluster::ShardRegistry;
use crate::worlds::{service, store};

const MAINTAIN_EVERY: Duration = Duration::from_secs(1);
/// How long a world may be without players before it is unloaded.
const IDLE_AFTER: Duration = Duration::from_mins(5);
/// How long a lease that has ended is known as one.
const KEPT_FOR: Duration = Duration::from_hours(7 * 24);
const PURGE_EVERY: Duration = Duration::from_mins(10);
/// Rows of one run.
const BATCH: i64 = 200;

pub(crate) fn start(app: &App) {
    every(app, MAINTAIN_EVERY, "maintain the worlds' leases", async |app| maintain_leases(&app).await);
    every(app, PURGE_EVERY, "delete old leases", purge);
}

/// Does now what is due.
pub async fn maintain_leases(app: &App) -> Result<(), hub_db::Error> {
    let now = app.clock.now();
    // Looked at first: a write per second for nothing would keep the disk awake.
    if store::sweep::is_any_lost(&app.db, now).await? {
        while let lost @ 1.. = service::mark_lost(app, now, BATCH).await? {
            tracing::info!(lost, "leases of worlds ran out");
        }
    }
    let idle_since = now.saturating_sub(millis(IDLE_AFTER));
    for (network, id) in store::sweep::idle(&app.db, idle_since, now, BATCH).await? {
        // Who is online is known at the network's shard owner.
        if !app.state::<ShardRegistry>().owns(network) {
            continue;
        }
        with_tenant(network.0, service::drain_idle(app, network, id, idle_since)).await?;
    }
    for (network, world) in store::sweep::waiting(&app.db, now, BATCH).await? {
        if !app.state::<ShardRegistry>().owns(network) {
            continue;
        }
        if let Err(error) = with_tenant(network.0, service::boot_waiting(app, network, world)).await {
            tracing::warn!(%error, %network, world, "could not boot a world that waited");
        }
    }
    Ok(())
}

async fn purge(app: App) -> Result<(), hub_db::Error> {
    let before = app.clock.now().saturating_sub(millis(KEPT_FOR));
    while store::sweep::purge(&app.db, before, BATCH).await? == BATCH as u64 {}
    Ok(())
}
