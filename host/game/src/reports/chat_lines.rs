//! Lines that a reported player said before, which a report keeps.

use std::time::Duration;

use hub_db::Error;
use serde_json::Value;

use crate::app::App;
use crate::background::every_settled;
use crate::chat;
use crate::clock::{Settled, millis};
use crate::networks;
use crate::reports::store;
use crate::side_by_side::for_each_network;
use crate::values::{NetworkId, PlayerId};

/// Lines of one report.
const LINES: i64 = 50;
/// Time for which a closed report keeps its lines.
const KEPT: Duration = Duration::from_hours(90 * 24);
const INTERVAL: Duration = Duration::from_hours(1);
/// Reports changed by one statement.
const BATCH: i64 = 500;
const WHAT: &str = "delete the lines of old reports";
/// Bytes of lines of all reports in a list.
const MAX_LISTED_BYTES: usize = 2 * 1_024 * 1_024;

/// The player's newest lines, as JSON; none if there are none.
pub(super) async fn newest(app: &App, network: NetworkId, player: PlayerId) -> Result<Option<String>, Error> {
    let lines = chat::service::newest_of(app, network, player, LINES).await?;
    Ok(serde_json::to_string(&lines).ok().filter(|_| !lines.is_empty()))
}

/// Lines of a report in answers.
pub(super) fn parse(lines: Option<&str>) -> Vec<Value> {
    lines.and_then(|lines| serde_json::from_str(lines).ok()).unwrap_or_default()
}

/// Bytes that lists have left for lines.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MAX_LISTED_BYTES)
    }
}

impl Room {
    /// True if these lines fit, which then take their room.
    pub(super) fn take(&mut self, lines: Option<&str>) -> bool {
        let left = self.0.checked_sub(lines.map_or(0, str::len));
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Starts to delete the lines of reports that were closed long ago.
pub(super) fn start(app: &App) {
    every_settled(app, INTERVAL, WHAT, async |app: App, settled| {
        let networks = networks::service::network_ids(&app.db).await?.into_iter().map(|network| (network, ()));
        for_each_network(networks, WHAT, |network, ()| delete_old(&app, network, settled)).await;
        Ok::<_, Error>(())
    });
}

async fn delete_old(app: &App, network: NetworkId, settled: Settled) -> Result<(), Error> {
    let before = settled.before(millis(KEPT));
    while store::delete_chat(&app.db, network, before, BATCH).await? >= BATCH.unsigned_abs() {}
    Ok(())
}
