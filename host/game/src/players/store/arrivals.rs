//! SQL on many players at once who came to a server or left it.

use std::collections::HashSet;

use hub_db::{Db, Error, Sql};
use serde_json::json;

use crate::clock::Millis;
use crate::geo::Region;
use crate::players::model::fold_case;
use crate::presence::{Arrival, player_ids};
use crate::values::{Identifier, NetworkId, PlayerId};

macro_rules! known {
    ($players:literal) => {
        concat!("SELECT player_uuid FROM players WHERE network_id = $1 AND player_uuid IN (SELECT ", $players, ")")
    };
}
const KNOWN: Sql = Sql {
    sqlite: known!("unhex(value) FROM json_each($2)"),
    postgres: known!("CAST(value AS UUID) FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS ids (value)"),
};

/// Players among these who were seen before.
pub(in crate::players) async fn known(
    db: &Db,
    network: NetworkId,
    players: &[PlayerId],
) -> Result<HashSet<PlayerId>, Error> {
    let rows: Vec<(PlayerId,)> = db.query(KNOWN).bind(network).bind(player_ids(players)).all().await?;
    Ok(rows.into_iter().map(|(player,)| player).collect())
}

macro_rules! upsert_many {
    ($player:literal, $row:literal, $at:literal, $rows:literal) => {
        concat!(
            "INSERT INTO players (network_id, player_uuid, username, username_folded, region, first_seen, last_seen)
             SELECT $1, ",
            $player,
            ", ",
            $row,
            " ->> 1, ",
            $row,
            " ->> 2, $3, ",
            $at,
            ", ",
            $at,
            " FROM ",
            $rows,
            " ON CONFLICT (network_id, player_uuid) DO UPDATE SET
                 username = COALESCE(excluded.username, players.username),
                 username_folded = COALESCE(excluded.username_folded, players.username_folded),
                 last_seen = CASE WHEN players.last_seen > excluded.last_seen THEN players.last_seen
                                  ELSE excluded.last_seen END"
        )
    };
}
const UPSERT: Sql = Sql {
    sqlite: upsert_many!("unhex(value ->> 0)", "value", "value ->> 3", "json_each($2) WHERE true"),
    postgres: upsert_many!(
        "CAST(seen ->> 0 AS UUID)",
        "seen",
        "CAST(seen ->> 3 AS BIGINT)",
        "jsonb_array_elements(CAST($2 AS JSONB)) AS players_seen (seen)"
    ),
};

/// Creates or updates players who were seen, each once.
pub(in crate::players) async fn upsert(db: &Db, network: NetworkId, seen: &[&Arrival]) -> Result<(), Error> {
    let row = |arrival: &&Arrival| {
        let name = arrival.name.as_ref().map(Identifier::as_str);
        json!([arrival.player.0.simple().to_string(), name, name.map(fold_case), arrival.at])
    };
    let mut seen = seen.to_vec();
    // Rows are locked in one order everywhere.
    seen.sort_unstable_by_key(|arrival| arrival.player);
    let rows: serde_json::Value = seen.iter().map(row).collect();
    db.write(UPSERT).bind(network).bind(rows.to_string()).bind(Region::unknown().as_str()).execute().await?;
    Ok(())
}

// The pairs keep SQLite, which has no statistics, from reading all players of the network by their times.
const LEFT: Sql = Sql {
    sqlite: "UPDATE players SET last_seen = $3
             WHERE +network_id = $1 AND (network_id, player_uuid) IN (SELECT $1, unhex(value) FROM json_each($2))
               AND last_seen < $3",
    postgres: "UPDATE players SET last_seen = $3 WHERE network_id = $1 AND last_seen < $3 AND player_uuid IN (
                   SELECT CAST(value AS UUID) FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS ids (value))",
};

/// Advances the time at which known players were last seen.
pub(in crate::players) async fn update_last_seen(
    db: &Db,
    network: NetworkId,
    players: &[PlayerId],
    at: Millis,
) -> Result<(), Error> {
    db.write(LEFT).bind(network).bind(player_ids(players)).bind(at).execute().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn many_players_are_found_by_their_keys() {
        for plan in query_plans(&[KNOWN.sqlite, LEFT.sqlite]).await {
            assert!(plan.iter().any(|step| step.contains("SEARCH players USING")), "{plan:#?}");
            assert!(plan.iter().any(|step| step.contains("(network_id=? AND player_uuid=?)")), "{plan:#?}");
        }
    }
}
