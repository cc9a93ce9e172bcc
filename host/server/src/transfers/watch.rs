//! Notes time-outs and deletes what is old.

use std::time::Duration;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::transfers::store;

const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long a transfer can be read after it was ordered.
const KEPT_FOR: Duration = Duration::from_hours(24);
const PURGE_EVERY: Duration = Duration::from_mins(1);
/// Rows deleted by one statement.
const BATCH: i64 = 1_000;

/// Runs until the hub stops.
pub(super) async fn watch(app: App) {
    let mut purge_at = Millis::MIN;
    loop {
        let now = app.clock.now();
        if let Err(error) = time_out(&app, now).await {
            tracing::warn!(%error, "could not note the transfers that timed out");
        }
        if now >= purge_at {
            match purge(&app, now).await {
                Ok(()) => purge_at = now.saturating_add(millis(PURGE_EVERY)),
                Err(error) => tracing::warn!(%error, "could not delete old transfers"),
            }
        }
        app.clock.sleep_until(now.saturating_add(millis(LOOK_EVERY))).await;
    }
}

async fn time_out(app: &App, now: Millis) -> Result<(), hub_db::Error> {
    // Looked at first: a write per second for nothing would keep the disk awake.
    if store::is_any_due(&app.db, now).await? {
        store::time_out(&app.db, now).await?;
    }
    Ok(())
}

async fn purge(app: &App, now: Millis) -> Result<(), hub_db::Error> {
    while store::purge(&app.db, now.saturating_sub(millis(KEPT_FOR)), BATCH).await? == BATCH as u64 {}
    Ok(())
}
