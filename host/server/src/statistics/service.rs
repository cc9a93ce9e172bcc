//! The rules of statistics.

use std::collections::{BTreeMap, HashMap};

use thiserror::Error;

use crate::app::App;
use crate::http::error::ApiError;
use crate::owner::Owner;
use crate::statistics::model::{Figure, Statistic, Value, When};
use crate::statistics::period::{Day, Period};
use crate::statistics::store::{self, Stamp};
use crate::values::{Identifier, Label, NetworkId, PlayerId};

/// What can be wrong with a request about statistics.
#[derive(Debug, Error)]
pub(super) enum StatisticsError {
    /// The sum would be no number any more.
    #[error("In the body, `amount`: the value would leave the range from -1e300 to 1e300.")]
    OutOfRange,
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
            StatisticsError::Database(error) => error.into(),
        }
    }
}

/// Adds to a statistic, in all periods that now is in; the new values.
pub(super) async fn increment(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    statistic: &Statistic,
    amount: Figure,
) -> Result<BTreeMap<Period, Figure>, StatisticsError> {
    let at = app.clock.now();
    let stamp = Stamp { at, moment: app.logical_clock.next(at) };
    let values = store::add(&app.db, network, owner, statistic, amount, Day::of(at), stamp).await?;
    Ok(values.into_iter().collect())
}

/// An owner's statistics.
pub(super) async fn read(
    app: &App,
    network: NetworkId,
    owner: &Owner,
    game_mode: &Label,
    when: When,
) -> Result<Vec<Value>, StatisticsError> {
    Ok(match when {
        When::On(day) => store::of_day(&app.db, network, owner, game_mode, day).await?,
        When::Ever => store::of_all_days(&app.db, network, owner, game_mode).await?,
    })
}

/// The owners of a type with the highest values in the period that `day` is in; highest first.
pub(super) async fn top(
    app: &App,
    network: NetworkId,
    owner_type: &str,
    statistic: &Statistic,
    period: Period,
    day: Day,
    limit: i64,
) -> Result<Vec<(String, Figure)>, StatisticsError> {
    Ok(store::top(&app.db, network, owner_type, statistic, period, day, limit).await?)
}

/// One statistic of several players in the period that now is in, for each of them in their order; none for one who has
/// no such value.
pub(crate) async fn of_players(
    app: &App,
    network: NetworkId,
    players: &[Option<PlayerId>],
    game_mode: Label,
    name: Identifier,
    period: Period,
) -> Result<Vec<Option<f64>>, hub_db::Error> {
    let statistic = Statistic { game_mode, name };
    let ids: Vec<_> = players.iter().flatten().copied().collect();
    let found = store::of_players(&app.db, network, &ids, &statistic, period, Day::of(app.clock.now())).await?;
    let values: HashMap<_, _> = found.into_iter().collect();
    let value = |id: &Option<PlayerId>| values.get(&id.as_ref()?.to_string()).map(|value| value.0);
    Ok(players.iter().map(value).collect())
}
