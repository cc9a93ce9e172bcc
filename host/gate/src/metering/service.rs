//! Reads usage.

use hub_db::{Db, Error};

use crate::app::App;
use crate::auth::OPERATOR_NETWORK;
use crate::clock::Millis;
use crate::metering::store::progress::{self, Progress, Work};
use crate::metering::store::read;
pub use crate::metering::store::read::{HourRow, TotalRow};
use crate::metering::{HOUR, hour_of, storage};
use crate::values::NetworkId;

/// Time range: selects the hours that overlap with it.
#[derive(Clone, Copy, Debug)]
pub struct TimeRange {
    pub from: Millis,
    pub to: Millis,
}

impl TimeRange {
    /// Lower bound of an overlapping hour's beginning.
    fn after(self) -> Millis {
        self.from.saturating_sub(HOUR)
    }
}

/// A page of a network's hours, newest first, and their number, including the current hour.
pub(super) async fn page(
    app: &App,
    network: NetworkId,
    range: TimeRange,
    limit: i64,
    offset: i64,
) -> Result<(Vec<HourRow>, i64), Error> {
    let now = app.clock.now();
    if range.to > hour_of(now) && range.from <= now {
        storage::note(app, network, now).await?;
    }
    hours(&app.db, network, range, limit, offset).await
}

/// A page of a network's hours in stored form.
pub async fn hours(
    db: &Db,
    network: NetworkId,
    range: TimeRange,
    limit: i64,
    offset: i64,
) -> Result<(Vec<HourRow>, i64), Error> {
    read::page(db, network, range.after(), range.to, limit, offset).await
}

/// True if the network exists or existed.
pub(super) async fn is_known(db: &Db, network: NetworkId) -> Result<bool, Error> {
    if network == OPERATOR_NETWORK { Ok(false) } else { read::is_known(db, network).await }
}

/// Usage of each network.
pub async fn totals(db: &Db, range: TimeRange) -> Result<Vec<TotalRow>, Error> {
    read::totals(db, range.after(), range.to).await
}

/// Milliseconds since the end of the oldest closed hour that is not reported; 0 without a receiver.
pub async fn report_lag(app: &App) -> Result<Millis, Error> {
    if app.settings.usage_sink.is_none() {
        return Ok(0);
    }
    let closed = progress::reached(&app.db, Work::Close).await?.hour;
    let Progress { hour, last_network } = progress::reached(&app.db, Work::Report).await?;
    let next = read::next(&app.db, hour, last_network, closed, 1).await?;
    Ok(next.first().map_or(0, |row| app.clock.now().saturating_sub(row.hour.saturating_add(HOUR)).max(0)))
}

/// Current hour of the networks with the most requests, among those with `networkMetrics` in their plan.
pub async fn busiest(app: &App, most: i64) -> Result<Vec<HourRow>, Error> {
    read::busiest(&app.db, hour_of(app.clock.now()), most).await
}
