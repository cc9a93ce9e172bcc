//! SQL of answers.

use hub_db::{Db, Error};

use crate::clock::Millis;
use crate::play_time::day::Day;
use crate::play_time::model::{DailyRow, Visit};
use crate::values::{Identifier, NetworkId, PlayerId};

/// A part of a player's play time: of one kind each.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::play_time) struct PlayerRow {
    /// TYPE, DAY, SUMS or VISIT.
    pub(in crate::play_time) kind: String,
    pub(in crate::play_time) server_type: Option<String>,
    pub(in crate::play_time) server_id: Option<Identifier>,
    /// Of a type its time, of a day its number, of sums the first time, of a visit the time up to which it is counted.
    pub(in crate::play_time) first: i64,
    /// Of a day its time, of sums the last time, of a visit its end.
    pub(in crate::play_time) second: Option<i64>,
    /// Number of visits.
    pub(in crate::play_time) visits: i64,
}

/// One statement, so that a pass does not move time from one part to another between them.
const OF_PLAYER: &str = "SELECT 'TYPE' AS kind, server_type, CAST(NULL AS TEXT) AS server_id, ms AS first,
         CAST(NULL AS BIGINT) AS second, CAST(0 AS BIGINT) AS visits
     FROM play_time_by_type WHERE network_id = $1 AND player_uuid = $2
     UNION ALL SELECT 'DAY', NULL, NULL, day, ms, 0 FROM play_time_days WHERE network_id = $1 AND player_uuid = $2
     UNION ALL SELECT 'SUMS', NULL, NULL, first_at, last_at, visits FROM play_time
         WHERE network_id = $1 AND player_uuid = $2
     UNION ALL SELECT 'VISIT', server_type, server_id, counted_to, to_at, 0 FROM player_visits
         WHERE network_id = $1 AND player_uuid = $2 AND (pending OR to_at IS NULL)";

/// All parts of a player's play time.
pub(in crate::play_time) async fn of_player(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
) -> Result<Vec<PlayerRow>, Error> {
    db.query(OF_PLAYER).bind(network).bind(player).all().await
}

const VISITS: &str = "SELECT server_id, from_at, to_at FROM player_visits
     WHERE network_id = $1 AND player_uuid = $2 AND (to_at IS NULL OR to_at > $3)
     ORDER BY from_at DESC LIMIT $4 OFFSET $5";
const COUNT_VISITS: &str = "SELECT COUNT(*) FROM player_visits
     WHERE network_id = $1 AND player_uuid = $2 AND (to_at IS NULL OR to_at > $3)";

/// A player's visits that ended after `since` or run, newest first, and their number.
pub(in crate::play_time) async fn visits_of(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    since: Millis,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Visit>, i64), Error> {
    let rows = db.query(VISITS).bind(network).bind(player).bind(since).bind(limit).bind(offset).all();
    let total = db.query(COUNT_VISITS).bind(network).bind(player).bind(since).one();
    let (rows, (total,)): (_, (i64,)) = tokio::try_join!(rows, total)?;
    Ok((rows, total))
}

const DAILY: &str = "SELECT day, players, new_players, peak_online, online_at_start, ms, returned_1, returned_7,
         returned_30
     FROM daily_players WHERE network_id = $1 AND day >= $2 AND day <= $3 ORDER BY day";

/// Stored numbers of days, both ends included.
pub(in crate::play_time) async fn daily(
    db: &Db,
    network: NetworkId,
    from: Day,
    to: Day,
) -> Result<Vec<DailyRow>, Error> {
    db.query(DAILY).bind(network).bind(from).bind(to).all().await
}

const RUNNING: &str = "SELECT server_id, COUNT(*), CAST(SUM(counted_to - $2) AS BIGINT) FROM player_visits
     WHERE network_id = $1 AND to_at IS NULL AND counted_to >= $2 GROUP BY server_id";

/// Running visits of each server that are counted up to `midnight` or later: their number, and the sum of the times
/// from midnight up to which they are.
pub(in crate::play_time) async fn running_by_server(
    db: &Db,
    network: NetworkId,
    midnight: Millis,
) -> Result<Vec<(Identifier, i64, Millis)>, Error> {
    db.query(RUNNING).bind(network).bind(midnight).all().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn every_query_uses_an_index() {
        let plans = query_plans(&[OF_PLAYER, VISITS, COUNT_VISITS, DAILY, RUNNING]).await;
        let by_player = "(network_id=? AND player_uuid=?";
        let searches = |plan: &[String], columns: &str| {
            plan.iter().filter(|step| step.starts_with("SEARCH") && step.contains(columns)).count()
        };
        for (plan, (columns, count)) in plans.iter().zip([
            (by_player, 4),
            (by_player, 1),
            (by_player, 1),
            ("daily_players USING PRIMARY KEY (network_id=? AND day>? AND day<?)", 1),
            ("player_visits_running (network_id=? AND counted_to>?)", 1),
        ]) {
            assert!(searches(plan, columns) >= count, "{plan:#?}");
        }
    }
}
