//! Rules of statistics.

use std::collections::{BTreeMap, HashMap};

use thiserror::Error;

use crate::app::App;
use crate::http::error::ApiError;
use crate::limits::{self, Limit, QuotaExceeded, check_rows};
use crate::owner::Owner;
use crate::statistics::model::{FiniteNumber, StatisticKey, StatisticRow};
use crate::statistics::period::{Day, Period};
use crate::statistics::store;
use crate::values::{Identifier, Label, NetworkId, PlayerId};

/// Values of a new statistic, one of each period.
const VALUES_OF_NEW: i64 = 4;

/// Reason for the failure of a request about statistics.
#[derive(Debug, Error)]
pub(super) enum StatisticsError {
    /// The sum would leave the valid range.
    #[error("In the body, `amount`: the value would leave the range from -1e300 to 1e300.")]
    OutOfRange,
    /// The owner's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(hub_db::Error),
}

impl From<hub_db::Error> for StatisticsError {
    fn from(error: hub_db::Error) -> Self {
        if error.is_check_violation() { Self::OutOfRange } else { Self::Database(error) }
    }
}

impl From<StatisticsError> for ApiError {
    fn from(error: StatisticsError) -> Self {
        let message = error.to_string();
        match error {
            StatisticsError::OutOfRange => Self::invalid(message),
            StatisticsError::Quota(exceeded) => exceeded.into(),
            StatisticsError::Database(error) => error.into(),
        }
    }
}

/// Adds to a statistic in all current periods. Returns the new values.
pub(super) async fn increment(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    key: &StatisticKey,
    amount: FiniteNumber,
) -> Result<BTreeMap<Period, FiniteNumber>, StatisticsError> {
    let now = app.clock.now();
    // At the limit those that exist go on, with new days.
    let is_there = store::exists(&app.db, network, owner, key);
    let _adding = check_rows::<StatisticsError>(app, network, store::ALL_VALUES, VALUES_OF_NEW, is_there).await?;
    let most = limits::bound(app, Limit::StatisticsPerOwner);
    let at = store::Moment { now, reached: app.logical_clock.next(now) };
    let values = store::add(&app.db, network, owner, key, amount, at, most).await?;
    if values.is_empty() {
        return Err(QuotaExceeded { limit: Limit::StatisticsPerOwner, value: most, used: most }.into());
    }
    Ok(values.into_iter().collect())
}

/// An owner's statistics in the four periods of `day`, or in all periods.
pub(super) async fn read(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    game_mode: &Label,
    day: Option<Day>,
) -> Result<Vec<StatisticRow>, StatisticsError> {
    Ok(match day {
        Some(day) => store::list_of_day(&app.db, network, owner, game_mode, day).await?,
        None => store::list_all(&app.db, network, owner, game_mode).await?,
    })
}

/// Owners of a type with the highest values in the period of `day`, highest first.
pub(super) async fn leaderboard(
    app: &App,
    network: NetworkId,
    owner_type: &str,
    key: &StatisticKey,
    period: Period,
    day: Day,
    limit: i64,
) -> Result<Vec<(String, FiniteNumber)>, StatisticsError> {
    Ok(store::leaderboard(&app.db, network, owner_type, key, period, day, limit).await?)
}

/// One statistic of several players in the current period, in the order of the players; none for a player without a
/// value.
pub async fn of_players(
    app: &App,
    network: NetworkId,
    players: &[Option<PlayerId>],
    game_mode: Label,
    name: Identifier,
    period: Period,
) -> Result<Vec<Option<f64>>, hub_db::Error> {
    let key = StatisticKey { game_mode, name };
    let ids: Vec<_> = players.iter().flatten().copied().collect();
    let found = store::list_of_players(&app.db, network, &ids, &key, period, Day::of(app.clock.now())).await?;
    let values: HashMap<_, _> = found.into_iter().collect();
    let value = |id: &Option<PlayerId>| values.get(&id.as_ref()?.to_string()).map(|value| value.0);
    Ok(players.iter().map(value).collect())
}
