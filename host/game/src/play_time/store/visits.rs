//! SQL of visits. Statements on many look up each by its key: neither database would do so by itself, for lack of
//! statistics.

use hub_db::{Db, Error, Sql, Tx};

use super::{digits, json};
use crate::clock::{Cutoff, Millis};
use crate::presence::SavedVisit;
use crate::values::NetworkId;

/// The primary key finds a visit that is there already.
const BEGIN: Sql = Sql {
    sqlite: "INSERT INTO player_visits (network_id, player_uuid, from_at, server_id, server_type, to_at, counted_to,
                 online, noted, pending)
             SELECT $1, unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 1,
                 value ->> 5, false, true
             FROM json_each($2) WHERE TRUE
             ON CONFLICT (network_id, player_uuid, from_at) DO UPDATE SET
                 server_id = excluded.server_id, server_type = excluded.server_type, to_at = excluded.to_at,
                 pending = true,
                 online = CASE WHEN excluded.online > player_visits.online THEN excluded.online
                     ELSE player_visits.online END",
    postgres: "INSERT INTO player_visits (network_id, player_uuid, from_at, server_id, server_type, to_at, counted_to,
                   online, noted, pending)
               SELECT $1, CAST(visit ->> 0 AS UUID), CAST(visit ->> 1 AS BIGINT), visit ->> 2, visit ->> 3,
                   CAST(visit ->> 4 AS BIGINT), CAST(visit ->> 1 AS BIGINT), CAST(visit ->> 5 AS BIGINT), false, true
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS visits (visit)
               ON CONFLICT (network_id, player_uuid, from_at) DO UPDATE SET
                   server_id = excluded.server_id, server_type = excluded.server_type, to_at = excluded.to_at,
                   pending = true,
                   online = CASE WHEN excluded.online > player_visits.online THEN excluded.online
                       ELSE player_visits.online END",
};

/// A visit that was erased is not there, and stays away.
const END: Sql = Sql {
    sqlite: "WITH ended AS MATERIALIZED (
                 SELECT $1 AS network, unhex(value ->> 0) AS player, value ->> 1 AS began, value ->> 4 AS ended_at
                 FROM json_each($2))
             UPDATE player_visits SET to_at = ended.ended_at, pending = true FROM ended
             WHERE network_id = ended.network AND player_uuid = ended.player AND from_at = ended.began",
    postgres: "INSERT INTO player_visits (network_id, player_uuid, from_at, server_id, server_type, to_at, counted_to,
                   online, noted, pending)
               SELECT $1, v.player_uuid, v.from_at, v.server_id, v.server_type, CAST(visit ->> 4 AS BIGINT),
                   v.counted_to, v.online, v.noted, true
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS visits (visit)
               CROSS JOIN LATERAL (
                   SELECT player_uuid, from_at, server_id, server_type, counted_to, online, noted FROM player_visits
                   WHERE network_id = $1 AND player_uuid = CAST(visit ->> 0 AS UUID)
                     AND from_at = CAST(visit ->> 1 AS BIGINT) LIMIT 1 FOR UPDATE) AS v
               ON CONFLICT (network_id, player_uuid, from_at) DO UPDATE SET to_at = excluded.to_at, pending = true",
};

/// Saves visits that began or ended, in the order of their keys, as all who lock them do.
pub(in crate::play_time) async fn save(tx: &mut Tx, network: NetworkId, visits: &[SavedVisit]) -> Result<(), Error> {
    let entry = |visit: &SavedVisit| {
        let online = i64::try_from(visit.online).unwrap_or(i64::MAX);
        let server = (visit.server_id.to_string(), visit.server_type.to_string());
        (digits(visit.player), visit.from, server.0, server.1, visit.to, online)
    };
    for (sql, is_new) in [(END, false), (BEGIN, true)] {
        let entries: Vec<_> = visits.iter().filter(|visit| visit.is_new == is_new).map(entry).collect();
        if !entries.is_empty() {
            tx.query(sql).bind(network).bind(json(&entries)?).execute().await?;
        }
    }
    Ok(())
}

/// True if a pass has something to count.
pub(in crate::play_time) async fn has_due(db: &Db, network: NetworkId, midnight: Millis) -> Result<bool, Error> {
    let due: Option<(i64,)> = db.query(HAS_DUE).bind(network).bind(midnight).optional().await?;
    Ok(due.is_some())
}

const HAS_DUE: &str = "SELECT CAST(1 AS BIGINT) WHERE
         EXISTS (SELECT from_at FROM player_visits WHERE network_id = $1 AND pending = true)
         OR EXISTS (SELECT from_at FROM player_visits WHERE network_id = $1 AND to_at IS NULL AND counted_to < $2)";

/// A visit without its player's presence was lost by it: from an imported file, or while the database was away for long.
macro_rules! end_orphans {
    ($index:literal) => {
        concat!(
            "UPDATE player_visits ",
            $index,
            " SET pending = true, to_at = COALESCE(
                 (SELECT s.last_seen FROM servers s WHERE s.network_id = $1 AND s.server_id = player_visits.server_id
                    AND NOT s.present AND s.last_seen > player_visits.counted_to), counted_to)
             WHERE network_id = $1 AND to_at IS NULL AND NOT EXISTS (
                 SELECT p.player_id FROM server_players p
                 WHERE p.network_id = $1 AND p.player_id = player_visits.player_uuid
                   AND p.joined_at = player_visits.from_at)"
        )
    };
}
const END_ORPHANS: Sql = Sql { sqlite: end_orphans!("INDEXED BY player_visits_running"), postgres: end_orphans!("") };

/// Ends running visits whose players are not online.
pub(in crate::play_time) async fn end_orphans(db: &Db, network: NetworkId) -> Result<(), Error> {
    db.write(END_ORPHANS).bind(network).execute().await?;
    Ok(())
}

/// Ends by a `Cutoff`.
const DELETE_ENDED: &str = "DELETE FROM player_visits WHERE network_id = $1 AND (player_uuid, from_at) IN (
         SELECT player_uuid, from_at FROM player_visits
         WHERE network_id = $1 AND to_at IS NOT NULL AND to_at < $2 AND NOT pending ORDER BY to_at LIMIT $3)";

/// Deletes counted visits that ended before. Returns their number.
pub(in crate::play_time) async fn delete_ended_before(
    db: &Db,
    network: NetworkId,
    before: Cutoff,
    most: i64,
) -> Result<u64, Error> {
    db.write(DELETE_ENDED).bind(network).bind(before.at()).bind(most).execute().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn every_statement_goes_through_an_index() {
        let plans = query_plans(&[END.sqlite, HAS_DUE, END_ORPHANS.sqlite, DELETE_ENDED]).await;
        let has = |plan: &[String], step: &str| plan.iter().any(|line| line.contains(step));
        let key = "player_visits USING PRIMARY KEY (network_id=? AND player_uuid=? AND from_at=?)";
        assert!(has(&plans[0], key), "{:#?}", plans[0]);
        assert!(has(&plans[1], "player_visits_pending (network_id=? AND pending=?"), "{:#?}", plans[1]);
        assert!(has(&plans[1], "player_visits_running (network_id=? AND counted_to<?"), "{:#?}", plans[1]);
        assert!(has(&plans[2], "player_visits_running (network_id=?"), "{:#?}", plans[2]);
        assert!(has(&plans[2], "SEARCH p USING PRIMARY KEY (network_id=? AND player_id=?)"), "{:#?}", plans[2]);
        assert!(has(&plans[3], "player_visits_ended (network_id=? AND to_at>? AND to_at<?"), "{:#?}", plans[3]);
        assert!(has(&plans[3], key), "{:#?}", plans[3]);
    }
}
