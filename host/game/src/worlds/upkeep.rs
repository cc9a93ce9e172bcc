//! Background work: expired leases, worlds without players, and leases that wait for a node.

use std::time::Duration;

use crate::app::App;
use crate::background::{every, every_settled};
use crate::clock::{Settled, millis};
use crate::cluster::ShardRegistry;
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;
use crate::worlds::{service, store};

const MAINTAIN_INTERVAL: Duration = Duration::from_secs(1);
/// Time without players after which a world is unloaded.
const IDLE_AFTER: Duration = Duration::from_mins(5);
/// Retention of ended leases.
const RETENTION: Duration = Duration::from_hours(7 * 24);
const PURGE_INTERVAL: Duration = Duration::from_mins(10);
/// Maximum number of rows of one run.
const BATCH: i64 = 200;

pub(super) fn start(app: &App) {
    every(app, MAINTAIN_INTERVAL, "maintain the worlds' leases", async |app| maintain_leases(&app).await);
    every_settled(app, PURGE_INTERVAL, "delete old leases", purge);
}

/// Runs the due work now.
pub async fn maintain_leases(app: &App) -> Result<(), hub_db::Error> {
    let now = app.clock.now();
    // Checked first: a write per second without a change would keep the disk awake.
    if store::sweep::is_any_lost(&app.db, now).await? {
        while let lost @ 1.. = service::mark_lost(app, now, BATCH).await? {
            tracing::info!(lost, "leases of worlds expired");
        }
    }
    let idle_since = now.saturating_sub(millis(IDLE_AFTER));
    // Presence is known at the network's shard owner.
    let is_own = |(network, _): &(NetworkId, i64)| app.state::<ShardRegistry>().owns(*network);
    let idle = store::sweep::idle(&app.db, idle_since, now, BATCH).await?.into_iter().filter(is_own);
    for_each_network(idle, "unload an idle world", |network, id| service::drain_idle(app, network, id, idle_since))
        .await;
    let waiting = store::sweep::waiting(&app.db, now, BATCH).await?.into_iter().filter(is_own);
    for_each_network(waiting, "boot a waiting world", |network, world| service::boot_waiting(app, network, world))
        .await;
    Ok(())
}

async fn purge(app: App, settled: Settled) -> Result<(), hub_db::Error> {
    let before = settled.before(millis(RETENTION));
    while store::sweep::purge(&app.db, before, BATCH).await? == BATCH as u64 {}
    Ok(())
}
