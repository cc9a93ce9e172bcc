//! All SQL of the component.

use hub_db::{Db, Error, Sql};

use crate::clock::Millis;
use crate::limits::{Limit, Rows};
use crate::owner::{Owner, PLAYER};
use crate::statistics::model::{FiniteNumber, StatisticKey, StatisticRow};
use crate::statistics::period::{Day, Period};
use crate::values::{Identifier, Label, NetworkId, PlayerId};

/// All values of a network's statistics.
pub(super) const ALL_VALUES: Rows = Rows::many(
    Limit::StatisticValues,
    "SELECT COUNT(*) FROM (SELECT owner_key FROM statistics WHERE network_id = $1 LIMIT $2) AS counted",
);

/// True if the owner has the statistic.
pub(super) async fn exists(db: &Db, network: NetworkId, owner: &Owner, key: &StatisticKey) -> Result<bool, Error> {
    let row: Option<(Identifier,)> = db
        .query(
            "SELECT name FROM statistics
             WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND game_mode = $4
               AND period = 'LIFETIME' AND period_start = '1970-01-01' AND name = $5",
        )
        .bind(network)
        .bind(owner.owner_type())
        .bind(owner.key())
        .bind(&key.game_mode)
        .bind(&key.name)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// First days of the periods of `day`.
fn starts(day: Day) -> [String; 3] {
    [Period::Daily, Period::Weekly, Period::Monthly].map(|period| day.start_of(period).to_text())
}

/// Time of an addition to a statistic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) now: Millis,
    /// Ranks owners with equal values: the lower is first.
    pub(super) reached: i64,
}

/// Adds to the four periods of a day at once. Returns their new values, or nothing if the statistic is new and the
/// owner has `most` of the game mode. [`Error::is_check_violation`] if a value would leave the range.
pub(super) async fn add(
    db: &Db,
    network: NetworkId,
    owner: &Owner,
    key: &StatisticKey,
    amount: FiniteNumber,
    at: Moment,
    most: i64,
) -> Result<Vec<(Period, FiniteNumber)>, Error> {
    let [daily, weekly, monthly] = starts(Day::of(at.now));
    let rows: Vec<(String, FiniteNumber)> = db
        .write(
            "INSERT INTO statistics (network_id, owner_type, owner_key, game_mode, name, period, period_start, value,
                 updated_at, reached)
             SELECT $1, $2, $3, $4, $5, p.period, p.period_start, $6, $7, $8
             FROM (SELECT 'DAILY' AS period, $9 AS period_start UNION ALL SELECT 'WEEKLY', $10
                 UNION ALL SELECT 'MONTHLY', $11 UNION ALL SELECT 'LIFETIME', '1970-01-01') AS p
             WHERE EXISTS (
                 SELECT s.name FROM statistics s
                 WHERE s.network_id = $1 AND s.owner_type = $2 AND s.owner_key = $3 AND s.game_mode = $4
                   AND s.period = 'LIFETIME' AND s.period_start = '1970-01-01' AND s.name = $5)
               OR (SELECT COUNT(*) FROM statistics s
                 WHERE s.network_id = $1 AND s.owner_type = $2 AND s.owner_key = $3 AND s.game_mode = $4
                   AND s.period = 'LIFETIME' AND s.period_start = '1970-01-01') < $12
             ON CONFLICT (network_id, owner_type, owner_key, game_mode, period, period_start, name) DO UPDATE SET
                 value = statistics.value + excluded.value, updated_at = excluded.updated_at,
                 reached = CASE WHEN statistics.value + excluded.value = statistics.value THEN statistics.reached
                     ELSE excluded.reached END
             RETURNING period, value",
        )
        .bind(network)
        .bind(owner.owner_type())
        .bind(owner.key())
        .bind(&key.game_mode)
        .bind(&key.name)
        .bind(amount)
        .bind(at.now)
        .bind(at.reached)
        .bind(daily)
        .bind(weekly)
        .bind(monthly)
        .bind(most)
        .all()
        .await?;
    Ok(rows.into_iter().filter_map(|(period, value)| Some((period.parse().ok()?, value))).collect())
}

/// One index search for each period, so that past days are not read.
const OF_DAY: &str = "SELECT name, period, period_start, value, updated_at FROM statistics
         WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND game_mode = $4
           AND period = 'DAILY' AND period_start = $5
     UNION ALL
     SELECT name, period, period_start, value, updated_at FROM statistics
         WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND game_mode = $4
           AND period = 'WEEKLY' AND period_start = $6
     UNION ALL
     SELECT name, period, period_start, value, updated_at FROM statistics
         WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND game_mode = $4
           AND period = 'MONTHLY' AND period_start = $7
     UNION ALL
     SELECT name, period, period_start, value, updated_at FROM statistics
         WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND game_mode = $4
           AND period = 'LIFETIME' AND period_start = '1970-01-01'";

/// An owner's values of the four periods of `day`, by name and period.
pub(super) async fn list_of_day(
    db: &Db,
    network: NetworkId,
    owner: &Owner,
    game_mode: &Label,
    day: Day,
) -> Result<Vec<StatisticRow>, Error> {
    let [daily, weekly, monthly] = starts(day);
    let mut values: Vec<StatisticRow> = db
        .query(OF_DAY)
        .bind(network)
        .bind(owner.owner_type())
        .bind(owner.key())
        .bind(game_mode)
        .bind(daily)
        .bind(weekly)
        .bind(monthly)
        .all()
        .await?;
    values.sort_by(|a, b| (&a.name, a.period).cmp(&(&b.name, b.period)));
    Ok(values)
}

/// An owner's values of all periods, latest first; at most 1,000.
pub(super) async fn list_all(
    db: &Db,
    network: NetworkId,
    owner: &Owner,
    game_mode: &Label,
) -> Result<Vec<StatisticRow>, Error> {
    db.query(
        "SELECT name, period, period_start, value, updated_at FROM statistics
         WHERE network_id = $1 AND owner_type = $2 AND owner_key = $3 AND game_mode = $4
         ORDER BY period_start DESC, name, period LIMIT 1000",
    )
    .bind(network)
    .bind(owner.owner_type())
    .bind(owner.key())
    .bind(game_mode)
    .all()
    .await
}

const LEADERBOARD: &str = "SELECT owner_key, value FROM statistics
     WHERE network_id = $1 AND owner_type = $2 AND game_mode = $3 AND name = $4 AND period = $5 AND period_start = $6
     ORDER BY value DESC, reached, owner_key LIMIT $7";

/// Owners of a type with the highest values in the period of `day`; of equal values the one reached first ranks first.
pub(super) async fn leaderboard(
    db: &Db,
    network: NetworkId,
    owner_type: &str,
    key: &StatisticKey,
    period: Period,
    day: Day,
    limit: i64,
) -> Result<Vec<(String, FiniteNumber)>, Error> {
    db.query(LEADERBOARD)
        .bind(network)
        .bind(owner_type)
        .bind(&key.game_mode)
        .bind(&key.name)
        .bind(period.as_str())
        .bind(day.start_of(period).to_text())
        .bind(limit)
        .all()
        .await
}

const OF_PLAYERS: Sql = Sql {
    sqlite: "SELECT owner_key, value FROM statistics
             WHERE network_id = $1 AND owner_type = $2 AND owner_key IN (SELECT value FROM json_each($3))
               AND game_mode = $4 AND name = $5 AND period = $6 AND period_start = $7",
    postgres: "SELECT owner_key, value FROM statistics
               WHERE network_id = $1 AND owner_type = $2
                 AND owner_key IN (SELECT jsonb_array_elements_text(CAST($3 AS JSONB)))
                 AND game_mode = $4 AND name = $5 AND period = $6 AND period_start = $7",
};

/// One statistic of several players in the period of `day`, in no order.
pub(super) async fn list_of_players(
    db: &Db,
    network: NetworkId,
    players: &[PlayerId],
    key: &StatisticKey,
    period: Period,
    day: Day,
) -> Result<Vec<(String, FiniteNumber)>, Error> {
    db.query(OF_PLAYERS)
        .bind(network)
        .bind(PLAYER)
        .bind(serde_json::json!(players).to_string())
        .bind(&key.game_mode)
        .bind(&key.name)
        .bind(period.as_str())
        .bind(day.start_of(period).to_text())
        .all()
        .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn every_query_uses_an_index() {
        let plans = query_plans(&[OF_DAY, LEADERBOARD, OF_PLAYERS.sqlite]).await;
        for (plan, columns) in plans.iter().zip([6, 6, 7]) {
            let searches: Vec<_> = plan.iter().filter(|step| step.starts_with("SEARCH statistics")).collect();
            assert!(!searches.is_empty() && !plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:#?}");
            assert!(searches.iter().all(|step| step.matches("=?").count() == columns), "{plan:#?}");
        }
    }
}
