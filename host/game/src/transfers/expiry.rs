//! Ends transfers that timed out and deletes old ones.

use std::time::Duration;

use hub_db::Error;

use crate::app::App;
use crate::clock::{Settled, millis};
use crate::transfers::store;

pub(super) const TIME_OUT_INTERVAL: Duration = Duration::from_secs(1);
pub(super) const PURGE_INTERVAL: Duration = Duration::from_mins(1);
/// Time for which a transfer can be read after its order.
const RETENTION: Duration = Duration::from_hours(24);
/// Rows deleted by one statement.
const BATCH: i64 = 1_000;

pub(super) async fn time_out(app: App) -> Result<(), Error> {
    let now = app.clock.now();
    // A write per second without a change would keep the disk awake.
    if store::is_any_due(&app.db, now).await? {
        store::time_out(&app.db, now).await?;
    }
    Ok(())
}

pub(super) async fn purge(app: App, settled: Settled) -> Result<(), Error> {
    let before = settled.before(millis(RETENTION));
    while store::purge(&app.db, before, BATCH).await? == BATCH as u64 {}
    Ok(())
}
