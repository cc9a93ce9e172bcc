//! SQL of passes, which add visits to the sums. A pass locks its network first: what it reads is then its own.

use std::collections::BTreeMap;

use hub_db::{Error, Sql, Tx};

use super::{digits, json};
use crate::clock::Millis;
use crate::play_time::day::Day;
use crate::play_time::model::{DailySums, DueVisit, PlayerSums};
use crate::values::{Identifier, NetworkId, PlayerId};

/// Lets passes of a network wait for each other, until the end of the transaction.
pub(in crate::play_time) async fn lock(tx: &mut Tx, network: NetworkId, now: Millis) -> Result<(), Error> {
    tx.query(
        "INSERT INTO play_time_passes (network_id, passed_at) VALUES ($1, $2)
         ON CONFLICT (network_id) DO UPDATE SET passed_at = excluded.passed_at",
    )
    .bind(network)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Choice of the visits to count.
#[derive(Clone, Copy, Debug)]
pub(in crate::play_time) enum Due {
    /// Visits that began or ended.
    Pending,
    /// Running visits that are not counted up to this midnight, on servers that were heard since.
    OverMidnight(Millis),
    /// All of a player, up to the last heartbeats of their servers.
    Player(PlayerId),
}

/// SQLite is told the index where it would read all of a network's for their order.
macro_rules! due {
    ($index:literal, $heard:literal, $which:literal, $order:literal, $lock:literal) => {
        concat!(
            "SELECT v.player_uuid, v.from_at, v.to_at, v.server_type, v.counted_to, v.online, v.noted, p.first_at,
                 p.last_at, ",
            $heard,
            " AS heard_at
             FROM player_visits v ",
            $index,
            " LEFT JOIN play_time p ON p.network_id = v.network_id AND p.player_uuid = v.player_uuid
             WHERE v.network_id = $1 AND ",
            $which,
            " ORDER BY ",
            $order,
            $lock
        )
    };
    ($index:literal, $heard:literal, $which:literal, $order:literal) => {
        Sql {
            sqlite: due!($index, $heard, $which, $order, ""),
            postgres: due!("", $heard, $which, $order, " FOR UPDATE OF v"),
        }
    };
}

const PENDING: Sql = due!(
    "INDEXED BY player_visits_pending",
    "CAST(NULL AS BIGINT)",
    "v.pending = true",
    "v.player_uuid, v.from_at LIMIT $2"
);
const OVER_MIDNIGHT: Sql = due!(
    "INDEXED BY player_visits_running",
    "CAST($3 AS BIGINT)",
    "v.to_at IS NULL AND v.counted_to < $3 AND NOT v.pending AND EXISTS (
         SELECT s.server_id FROM servers s
         WHERE s.network_id = v.network_id AND s.server_id = v.server_id AND s.last_seen >= $3)",
    "v.counted_to, v.player_uuid LIMIT $2"
);
const OF_PLAYER: Sql = due!(
    "",
    "COALESCE((SELECT s.last_seen FROM servers s WHERE s.network_id = v.network_id AND s.server_id = v.server_id),
         v.counted_to)",
    "v.player_uuid = $3 AND (v.pending OR v.to_at IS NULL)",
    "v.player_uuid, v.from_at LIMIT $2"
);

/// Visits to count, by player and begin; presence waits with its changes of them.
pub(in crate::play_time) async fn due(
    tx: &mut Tx,
    network: NetworkId,
    which: Due,
    most: i64,
) -> Result<Vec<DueVisit>, Error> {
    let mut visits: Vec<DueVisit> = match which {
        Due::Pending => tx.query(PENDING).bind(network).bind(most).all().await?,
        Due::OverMidnight(midnight) => tx.query(OVER_MIDNIGHT).bind(network).bind(most).bind(midnight).all().await?,
        Due::Player(player) => tx.query(OF_PLAYER).bind(network).bind(most).bind(player).all().await?,
    };
    visits.sort_unstable_by_key(|visit| (visit.player_uuid, visit.from_at));
    Ok(visits)
}

/// The visits are there, and locked: the conflict is the way to find each by its key.
const MARK_COUNTED: Sql = Sql {
    sqlite: "INSERT INTO player_visits (network_id, player_uuid, from_at, server_id, server_type, counted_to, online,
                 noted, pending)
             SELECT $1, unhex(value ->> 0), value ->> 1, '', '', value ->> 2, 0, true, false
             FROM json_each($2) WHERE TRUE
             ON CONFLICT (network_id, player_uuid, from_at) DO UPDATE SET
                 counted_to = excluded.counted_to, noted = true, pending = false",
    postgres: "INSERT INTO player_visits (network_id, player_uuid, from_at, server_id, server_type, counted_to, online,
                   noted, pending)
               SELECT $1, CAST(visit ->> 0 AS UUID), CAST(visit ->> 1 AS BIGINT), '', '', CAST(visit ->> 2 AS BIGINT),
                   0, true, false
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS visits (visit)
               ON CONFLICT (network_id, player_uuid, from_at) DO UPDATE SET
                   counted_to = excluded.counted_to, noted = true, pending = false",
};

/// Notes that these visits are counted, each up to a time.
pub(in crate::play_time) async fn mark_counted(
    tx: &mut Tx,
    network: NetworkId,
    visits: &[(PlayerId, Millis, Millis)],
) -> Result<(), Error> {
    let visits: Vec<_> = visits.iter().map(|(player, from, to)| (digits(*player), from, to)).collect();
    tx.query(MARK_COUNTED).bind(network).bind(json(&visits)?).execute().await?;
    Ok(())
}

const ADD_PLAYERS: Sql = Sql {
    sqlite: "INSERT INTO play_time (network_id, player_uuid, first_at, last_at, visits)
             SELECT $1, unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3 FROM json_each($2) WHERE TRUE
             ON CONFLICT (network_id, player_uuid) DO UPDATE SET
                 last_at = excluded.last_at, visits = play_time.visits + excluded.visits",
    postgres: "INSERT INTO play_time (network_id, player_uuid, first_at, last_at, visits)
               SELECT $1, CAST(sums ->> 0 AS UUID), CAST(sums ->> 1 AS BIGINT), CAST(sums ->> 2 AS BIGINT),
                   CAST(sums ->> 3 AS BIGINT)
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS players (sums)
               ON CONFLICT (network_id, player_uuid) DO UPDATE SET
                   last_at = excluded.last_at, visits = play_time.visits + excluded.visits",
};

/// Adds visits of players.
pub(in crate::play_time) async fn add_players(
    tx: &mut Tx,
    network: NetworkId,
    players: &BTreeMap<PlayerId, PlayerSums>,
) -> Result<(), Error> {
    let entry = |(player, sums): (&PlayerId, &PlayerSums)| (digits(*player), sums.first_at, sums.last_at, sums.visits);
    let players: Vec<_> = players.iter().map(entry).collect();
    tx.query(ADD_PLAYERS).bind(network).bind(json(&players)?).execute().await?;
    Ok(())
}

/// Sums from imported files stop growing instead of overflowing.
const ADD_TYPES: Sql = Sql {
    sqlite: "INSERT INTO play_time_by_type (network_id, player_uuid, server_type, ms)
             SELECT $1, unhex(value ->> 0), value ->> 1, value ->> 2 FROM json_each($2) WHERE TRUE
             ON CONFLICT (network_id, player_uuid, server_type) DO UPDATE SET
                 ms = CASE WHEN play_time_by_type.ms < 4000000000000000000 THEN play_time_by_type.ms + excluded.ms
                     ELSE play_time_by_type.ms END",
    postgres: "INSERT INTO play_time_by_type (network_id, player_uuid, server_type, ms)
               SELECT $1, CAST(sum ->> 0 AS UUID), sum ->> 1, CAST(sum ->> 2 AS BIGINT)
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS sums (sum)
               ON CONFLICT (network_id, player_uuid, server_type) DO UPDATE SET
                   ms = CASE WHEN play_time_by_type.ms < 4000000000000000000 THEN play_time_by_type.ms + excluded.ms
                       ELSE play_time_by_type.ms END",
};

/// Adds time on servers of a type.
pub(in crate::play_time) async fn add_types(
    tx: &mut Tx,
    network: NetworkId,
    types: &BTreeMap<(PlayerId, Identifier), Millis>,
) -> Result<(), Error> {
    let types: Vec<_> = types.iter().map(|((player, kind), ms)| (digits(*player), kind.as_str(), ms)).collect();
    tx.query(ADD_TYPES).bind(network).bind(json(&types)?).execute().await?;
    Ok(())
}

const NEW_DAYS: Sql = Sql {
    sqlite: "INSERT INTO play_time_days (network_id, player_uuid, day, ms)
             SELECT $1, unhex(value ->> 0), value ->> 1, 0 FROM json_each($2) WHERE TRUE
             ON CONFLICT (network_id, player_uuid, day) DO NOTHING RETURNING player_uuid, day",
    postgres: "INSERT INTO play_time_days (network_id, player_uuid, day, ms)
               SELECT $1, CAST(sum ->> 0 AS UUID), CAST(sum ->> 1 AS BIGINT), 0
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS sums (sum)
               ON CONFLICT (network_id, player_uuid, day) DO NOTHING RETURNING player_uuid, day",
};
const ADD_DAYS: Sql = Sql {
    sqlite: "INSERT INTO play_time_days (network_id, player_uuid, day, ms)
             SELECT $1, unhex(value ->> 0), value ->> 1, value ->> 2 FROM json_each($2) WHERE TRUE
             ON CONFLICT (network_id, player_uuid, day) DO UPDATE SET
                 ms = CASE WHEN play_time_days.ms < 4000000000000000000 THEN play_time_days.ms + excluded.ms
                     ELSE play_time_days.ms END",
    postgres: "INSERT INTO play_time_days (network_id, player_uuid, day, ms)
               SELECT $1, CAST(sum ->> 0 AS UUID), CAST(sum ->> 1 AS BIGINT), CAST(sum ->> 2 AS BIGINT)
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS sums (sum)
               ON CONFLICT (network_id, player_uuid, day) DO UPDATE SET
                   ms = CASE WHEN play_time_days.ms < 4000000000000000000 THEN play_time_days.ms + excluded.ms
                       ELSE play_time_days.ms END",
};

/// Adds time of players on days. Returns the days on which they are seen for the first time.
pub(in crate::play_time) async fn insert_days(
    tx: &mut Tx,
    network: NetworkId,
    days: &BTreeMap<(PlayerId, Day), Millis>,
) -> Result<Vec<(PlayerId, Day)>, Error> {
    let days: Vec<_> = days.iter().map(|((player, day), ms)| (digits(*player), day.0, ms)).collect();
    let new = tx.query(NEW_DAYS).bind(network).bind(json(&days)?).all().await?;
    let days: Vec<_> = days.into_iter().filter(|(_, _, ms)| **ms > 0).collect();
    tx.query(ADD_DAYS).bind(network).bind(json(&days)?).execute().await?;
    Ok(new)
}

macro_rules! add_daily {
    ($select:literal) => {
        concat!(
            "INSERT INTO daily_players (network_id, day, players, new_players, peak_online, online_at_start, ms,
                 returned_1, returned_7, returned_30) ",
            $select,
            " ON CONFLICT (network_id, day) DO UPDATE SET
                 players = daily_players.players + excluded.players,
                 new_players = daily_players.new_players + excluded.new_players,
                 peak_online = CASE WHEN daily_players.peak_online > excluded.peak_online
                     THEN daily_players.peak_online ELSE excluded.peak_online END,
                 online_at_start = daily_players.online_at_start + excluded.online_at_start,
                 ms = CASE WHEN daily_players.ms < 4000000000000000000 THEN daily_players.ms + excluded.ms
                     ELSE daily_players.ms END,
                 returned_1 = daily_players.returned_1 + excluded.returned_1,
                 returned_7 = daily_players.returned_7 + excluded.returned_7,
                 returned_30 = daily_players.returned_30 + excluded.returned_30"
        )
    };
}

const ADD_DAILY: Sql = Sql {
    sqlite: add_daily!(
        // Crosses networks: it reads no table.
        "SELECT $1, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
             value ->> 7, value ->> 8 FROM json_each($2) WHERE TRUE"
    ),
    postgres: add_daily!(
        // Crosses networks: it reads no table.
        "SELECT $1, CAST(d ->> 0 AS BIGINT), CAST(d ->> 1 AS BIGINT), CAST(d ->> 2 AS BIGINT), CAST(d ->> 3 AS BIGINT),
             CAST(d ->> 4 AS BIGINT), CAST(d ->> 5 AS BIGINT), CAST(d ->> 6 AS BIGINT), CAST(d ->> 7 AS BIGINT),
             CAST(d ->> 8 AS BIGINT) FROM jsonb_array_elements(CAST($2 AS JSONB)) AS days (d)"
    ),
};

/// Adds to the numbers of days.
pub(in crate::play_time) async fn add_daily(
    tx: &mut Tx,
    network: NetworkId,
    daily: &BTreeMap<Day, DailySums>,
) -> Result<(), Error> {
    let entry = |(day, sums): (&Day, &DailySums)| {
        let [one, seven, thirty] = sums.returned;
        let DailySums { players, new_players, peak_online, online_at_start, ms, .. } = *sums;
        [day.0, players, new_players, peak_online, online_at_start, ms, one, seven, thirty]
    };
    let daily: Vec<_> = daily.iter().map(entry).collect();
    tx.query(ADD_DAILY).bind(network).bind(json(&daily)?).execute().await?;
    Ok(())
}

const TRIM_DAYS: Sql = Sql {
    sqlite: "DELETE FROM play_time_days WHERE network_id = $1
               AND player_uuid IN (SELECT unhex(value) FROM json_each($2)) AND day < (
                 SELECT d.day FROM play_time_days d
                 WHERE d.network_id = $1 AND d.player_uuid = play_time_days.player_uuid
                 ORDER BY d.day DESC LIMIT 1 OFFSET 29)",
    postgres: "DELETE FROM play_time_days WHERE network_id = $1
                 AND player_uuid = ANY (ARRAY(SELECT CAST(jsonb_array_elements_text(CAST($2 AS JSONB)) AS UUID)))
                 AND day < (
                   SELECT d.day FROM play_time_days d
                   WHERE d.network_id = $1 AND d.player_uuid = play_time_days.player_uuid
                   ORDER BY d.day DESC LIMIT 1 OFFSET 29)",
};
const TRIM_VISITS: Sql = Sql {
    // Not for good: by the number of later visits, which no clock changes.
    sqlite: "DELETE FROM player_visits WHERE network_id = $1
               AND player_uuid IN (SELECT unhex(value) FROM json_each($2)) AND to_at IS NOT NULL AND NOT pending
               AND from_at < (
                 SELECT v.from_at FROM player_visits v
                 WHERE v.network_id = $1 AND v.player_uuid = player_visits.player_uuid
                 ORDER BY v.from_at DESC LIMIT 1 OFFSET 999)",
    // Not for good: as above.
    postgres: "DELETE FROM player_visits WHERE network_id = $1
                 AND player_uuid = ANY (ARRAY(SELECT CAST(jsonb_array_elements_text(CAST($2 AS JSONB)) AS UUID)))
                 AND to_at IS NOT NULL AND NOT pending AND from_at < (
                   SELECT v.from_at FROM player_visits v
                   WHERE v.network_id = $1 AND v.player_uuid = player_visits.player_uuid
                   ORDER BY v.from_at DESC LIMIT 1 OFFSET 999)",
};

/// Deletes all but the newest 30 days and 1,000 visits of the players who are seen on a new day, or have many visits.
pub(in crate::play_time) async fn trim(
    tx: &mut Tx,
    network: NetworkId,
    on_new_day: &[PlayerId],
    with_visits: &[PlayerId],
) -> Result<(), Error> {
    for (sql, players) in [(TRIM_DAYS, on_new_day), (TRIM_VISITS, with_visits)] {
        if !players.is_empty() {
            let players: Vec<_> = players.iter().map(|player| digits(*player)).collect();
            tx.query(sql).bind(network).bind(json(&players)?).execute().await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn every_statement_goes_through_an_index() {
        let all = [PENDING, OVER_MIDNIGHT, OF_PLAYER, TRIM_DAYS, TRIM_VISITS].map(|sql| sql.sqlite);
        let plans = query_plans(&all).await;
        let has = |plan: &[String], step: &str| plan.iter().any(|line| line.contains(step));
        for (plan, step) in plans.iter().zip([
            "SEARCH v USING INDEX player_visits_pending (network_id=? AND pending=?)",
            "SEARCH v USING INDEX player_visits_running (network_id=? AND counted_to<?)",
            "SEARCH v USING PRIMARY KEY (network_id=? AND player_uuid=?)",
            "SEARCH play_time_days USING PRIMARY KEY (network_id=? AND player_uuid=?",
            "SEARCH player_visits USING PRIMARY KEY (network_id=? AND player_uuid=?",
        ]) {
            assert!(has(plan, step), "{step}: {plan:#?}");
        }
        for plan in &plans[..3] {
            assert!(has(plan, "SEARCH p USING PRIMARY KEY (network_id=? AND player_uuid=?)"), "{plan:#?}");
        }
    }
}
