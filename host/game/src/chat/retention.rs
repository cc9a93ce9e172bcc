//! Deletes lines that are older than the network keeps them, and the oldest of too many.

use std::time::Duration;

use hub_db::Error;

use crate::app::App;
use crate::background::every_settled;
use crate::chat::{CHAT_LINES, store};
use crate::clock::{Millis, Settled};
use crate::limits;
use crate::networks;
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

const WHAT: &str = "delete old chat lines";
const INTERVAL: Duration = Duration::from_hours(1);
const DAY: Millis = 24 * 60 * 60 * 1000;
/// Lines deleted by one statement.
const BATCH: i64 = 1_000;

/// Starts to delete old lines.
pub(super) fn start(app: &App) {
    every_settled(app, INTERVAL, WHAT, async |app: App, settled| {
        let networks = networks::service::network_ids(&app.db).await?.into_iter().map(|network| (network, ()));
        for_each_network(networks, WHAT, |network, ()| delete_old(&app, network, settled)).await;
        Ok::<_, Error>(())
    });
}

async fn delete_old(app: &App, network: NetworkId, settled: Settled) -> Result<(), Error> {
    let days = limits::of(app, network).await?.chat_history_days();
    let before = settled.before(days.saturating_mul(DAY));
    while store::delete_before(&app.db, network, before, BATCH).await? >= BATCH.unsigned_abs() {}
    if let Some(last) = store::nth_newest(&app.db, network, limits::bound(app, CHAT_LINES)).await? {
        while store::delete_up_to(&app.db, network, last, BATCH).await? >= BATCH.unsigned_abs() {}
    }
    Ok(())
}
