//! Retention of hours.

use std::time::Duration;

use hub_db::Error;
use uuid::Uuid;

use crate::app::App;
use crate::background::every_settled;
use crate::clock::{Millis, Settled};
use crate::limits;
use crate::metering::store::progress::{self, Work};
use crate::metering::store::{self, read};
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

const WHAT: &str = "delete old hours of usage";
const INTERVAL: Duration = Duration::from_hours(1);
const DAY: Millis = 24 * 60 * 60 * 1000;
/// Hours deleted by one statement.
const BATCH: i64 = 500;
/// A process suspended for longer than this, with its last batch stored, would count that batch twice.
const NODE_RETENTION: Millis = 30 * DAY;
const STREAM_RETENTION: Millis = 60_000;

/// Deletes hours older than each network's plan keeps, and the rows of dead nodes.
pub(super) fn start(app: &App) {
    every_settled(app, INTERVAL, WHAT, async |app: App, settled| run(&app, settled).await);
}

async fn run(app: &App, settled: Settled) -> Result<(), Error> {
    store::remove_old_nodes(&app.db, settled.before(NODE_RETENTION), settled.before(STREAM_RETENTION)).await?;
    // Hours stay until they are reported.
    let reported = match app.settings.usage_sink {
        Some(_) => progress::reached(&app.db, Work::Report).await?.hour,
        None => Millis::MAX,
    };
    let (mut last, mut networks) = (NetworkId(Uuid::nil()), vec![]);
    while let Some(network) = read::next_network(&app.db, last).await? {
        last = network;
        networks.push((network, ()));
    }
    for_each_network(networks, WHAT, |network, ()| delete(app, network, settled, reported)).await;
    Ok(())
}

async fn delete(app: &App, network: NetworkId, settled: Settled, reported: Millis) -> Result<(), Error> {
    let days = limits::of(app, network).await?.usage_days();
    let before = settled.before(days.saturating_mul(DAY)).min(reported);
    while read::delete(&app.db, network, before, BATCH).await? == BATCH.unsigned_abs() {}
    Ok(())
}
