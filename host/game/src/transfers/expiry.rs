//! Ends transfers that timed out and deletes old ones.

use std::time::Duration;

use hub_db::Error;

use crate::app::App;
use crate::clock::{Settled, millis};
use crate::cluster::ShardRegistry;
use crate::side_by_side::SideBySide;
use crate::transfers::store;

pub(super) const TIME_OUT_INTERVAL: Duration = Duration::from_secs(1);
pub(super) const PURGE_INTERVAL: Duration = Duration::from_mins(1);
/// Time for which a transfer can be read after its order.
const RETENTION: Duration = Duration::from_hours(24);
/// Rows ended or deleted by one statement.
const BATCH: i64 = 1_000;

/// The pass over networks with due transfers.
#[derive(Debug, Default)]
pub(super) struct Expiry(SideBySide);

/// Ends the timed-out transfers of this node's networks.
pub(super) async fn time_out(app: App) -> Result<(), Error> {
    let now = app.clock.now();
    let mut networks = store::due_networks(&app.db, now).await?;
    networks.retain(|network| app.state::<ShardRegistry>().owns(*network));
    let work = |app: App, network| async move {
        while store::time_out(&app.db, network, now, BATCH).await? == BATCH as u64 {}
        Ok::<_, Error>(())
    };
    app.state::<Expiry>().0.run(&app, networks, "end timed-out transfers", work).await;
    Ok(())
}

pub(super) async fn purge(app: App, settled: Settled) -> Result<(), Error> {
    let before = settled.before(millis(RETENTION));
    while store::purge(&app.db, before, BATCH).await? == BATCH as u64 {}
    Ok(())
}
