//! Background work: expired leases, worlds without players, and leases that wait for a node.

use std::time::Duration;

use hub_db::Error;

use crate::app::App;
use crate::background::{every, every_settled};
use crate::clock::{Millis, Settled, millis};
use crate::cluster::ShardRegistry;
use crate::side_by_side::SideBySide;
use crate::values::NetworkId;
use crate::worlds::service::{self, WorldsError};
use crate::worlds::store::sweep;

const MAINTAIN_INTERVAL: Duration = Duration::from_secs(1);
/// Time without players after which a world is unloaded.
const IDLE_AFTER: Duration = Duration::from_mins(5);
/// Retention of ended leases.
const RETENTION: Duration = Duration::from_hours(7 * 24);
const PURGE_INTERVAL: Duration = Duration::from_mins(10);
/// Maximum number of rows of a network at once.
const BATCH: i64 = 200;

pub(super) fn start(app: &App) {
    every(app, MAINTAIN_INTERVAL, "maintain the worlds' leases", async |app| maintain_leases(&app).await);
    every_settled(app, PURGE_INTERVAL, "delete old leases", purge);
}

/// Passes over the networks with due work.
#[derive(Debug, Default)]
pub(super) struct Upkeep {
    lost: SideBySide,
    idle: SideBySide,
    waiting: SideBySide,
}

/// Runs the due work of this node's networks now, which know where their servers and players are. A network that fails
/// is tried again by the next pass.
pub async fn maintain_leases(app: &App) -> Result<(), Error> {
    let passes = app.state::<Upkeep>();
    let now = app.clock.now();
    let lost = own(app, sweep::LOST_NETWORKS, now).await?;
    let work = |app: App, network| async move { mark_lost(&app, network, now).await };
    passes.lost.run(app, lost, "end the leases of lost worlds", work).await;
    let idle_since = now.saturating_sub(millis(IDLE_AFTER));
    let idle = own(app, sweep::IDLE_NETWORKS, idle_since).await?;
    let work = |app: App, network| async move {
        for id in sweep::idle(&app.db, network, idle_since, now, BATCH).await? {
            service::drain_idle(&app, network, id, idle_since).await?;
        }
        Ok::<_, Error>(())
    };
    passes.idle.run(app, idle, "unload idle worlds", work).await;
    let waiting = own(app, sweep::WAITING_NETWORKS, now).await?;
    let work = |app: App, network| async move {
        for world in sweep::waiting(&app.db, network, now, BATCH).await? {
            service::boot_waiting(&app, network, world).await?;
        }
        Ok::<_, WorldsError>(())
    };
    passes.waiting.run(app, waiting, "boot waiting worlds", work).await;
    Ok(())
}

/// This node's networks with due work.
async fn own(app: &App, statement: &'static str, due: Millis) -> Result<Vec<NetworkId>, Error> {
    let mut networks = sweep::networks(&app.db, statement, due).await?;
    networks.retain(|network| app.state::<ShardRegistry>().owns(*network));
    Ok(networks)
}

async fn mark_lost(app: &App, network: NetworkId, now: Millis) -> Result<(), Error> {
    loop {
        let lost = service::mark_lost(app, network, now, BATCH).await?;
        if lost > 0 {
            tracing::info!(lost, %network, "leases of worlds expired");
        }
        if (lost as i64) < BATCH {
            return Ok(());
        }
    }
}

async fn purge(app: App, settled: Settled) -> Result<(), Error> {
    let before = settled.before(millis(RETENTION));
    while sweep::purge(&app.db, before, BATCH).await? == BATCH as u64 {}
    Ok(())
}
