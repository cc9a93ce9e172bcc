//! Looks after leases: those whose time has run out, worlds nobody is in, and those that wait for a node.

use std::time::Duration;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::worlds::{service, store};

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a world may be without players before it is unloaded.
const IDLE_AFTER: Duration = Duration::from_mins(5);
/// How long a lease that has ended is known as one.
const KEPT_FOR: Duration = Duration::from_hours(7 * 24);
const PURGE_EVERY: Duration = Duration::from_mins(10);
/// Looked after in one round.
const BATCH: i64 = 200;

/// Runs until the hub stops.
pub(super) async fn watch(app: App) {
    let mut purge_at = Millis::MIN;
    loop {
        let now = app.clock.now();
        if let Err(error) = look_after(&app).await {
            tracing::warn!(%error, "could not look after the worlds' leases");
        }
        if now >= purge_at {
            match purge(&app, now).await {
                Ok(()) => purge_at = now.saturating_add(millis(PURGE_EVERY)),
                Err(error) => tracing::warn!(%error, "could not forget old leases"),
            }
        }
        app.clock.sleep_until(now.saturating_add(millis(LOOK_EVERY))).await;
    }
}

/// Does now what is due.
pub async fn look_after(app: &App) -> Result<(), hub_db::Error> {
    let now = app.clock.now();
    // Looked at first: a write per second for nothing would keep the disk awake.
    if store::sweep::is_any_lost(&app.db, now).await? {
        let lost = store::sweep::lose(&app.db, now).await?;
        tracing::info!(lost, "leases of worlds ran out");
    }
    let idle_since = now.saturating_sub(millis(IDLE_AFTER));
    for (network, id) in store::sweep::idle(&app.db, idle_since, now, BATCH).await? {
        // Who is there is known at the network's home.
        if !app.shards.owns(network) {
            continue;
        }
        service::drain_idle(app, network, id, idle_since).await?;
    }
    for (network, world) in store::sweep::waiting(&app.db, now, BATCH).await? {
        if !app.shards.owns(network) {
            continue;
        }
        if let Err(error) = service::boot_waiting(app, network, world).await {
            tracing::warn!(%error, %network, world, "could not boot a world that waited");
        }
    }
    Ok(())
}

async fn purge(app: &App, now: Millis) -> Result<(), hub_db::Error> {
    while store::sweep::purge(&app.db, now.saturating_sub(millis(KEPT_FOR)), BATCH).await? == BATCH as u64 {}
    Ok(())
}
