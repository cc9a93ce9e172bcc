//! SQL on the names and addresses that players were seen with, for many at once.

use std::collections::HashMap;

use hub_db::{Db, Error, Executor, Sql, Tx};

use crate::clock::Millis;
use crate::punishments::values::{FoldedName, IpAddress};
use crate::values::{NetworkId, PlayerId};

/// Names or addresses of players, in one statement for many.
macro_rules! seen_of {
    ($columns:literal, $table:literal) => {
        Sql {
            sqlite: concat!(
                "SELECT player_uuid, ",
                $columns,
                " FROM ",
                $table,
                " WHERE network_id = $1 AND player_uuid IN (SELECT unhex(value) FROM json_each($2))"
            ),
            postgres: concat!(
                "SELECT seen.* FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS players (id)
                 CROSS JOIN LATERAL (SELECT player_uuid, ",
                $columns,
                " FROM ",
                $table,
                " WHERE network_id = $1 AND player_uuid = CAST(players.id AS UUID)) AS seen"
            ),
        }
    };
}
const NAMES_OF: Sql = seen_of!("name_folded, last_seen", "player_names");
const ADDRESSES_OF: Sql = seen_of!("ip_address, first_seen, last_seen", "player_addresses");

pub(super) fn json(value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()).into())
}

fn hexadecimal(players: impl Iterator<Item = PlayerId>) -> Result<String, Error> {
    json(&players.map(|player| player.0.simple().to_string()).collect::<Vec<_>>())
}

/// Times at which these players were last seen with each of their names.
pub(in crate::punishments) async fn names_of(
    db: &Db,
    network: NetworkId,
    players: impl Iterator<Item = PlayerId>,
) -> Result<HashMap<(PlayerId, FoldedName), Millis>, Error> {
    let rows: Vec<(PlayerId, FoldedName, Millis)> =
        db.query(NAMES_OF).bind(network).bind(hexadecimal(players)?).all().await?;
    Ok(rows.into_iter().map(|(player, name, at)| ((player, name), at)).collect())
}

/// Times at which these players were first and last seen with each of their addresses.
pub(in crate::punishments) async fn addresses_of(
    db: &Db,
    network: NetworkId,
    players: impl Iterator<Item = PlayerId>,
) -> Result<HashMap<(PlayerId, IpAddress), (Millis, Millis)>, Error> {
    let rows: Vec<(PlayerId, IpAddress, Millis, Millis)> =
        db.query(ADDRESSES_OF).bind(network).bind(hexadecimal(players)?).all().await?;
    Ok(rows.into_iter().map(|(player, address, first, last)| ((player, address), (first, last))).collect())
}

/// Rows of a JSON array, each with a player, a name or address, and times, written unless they are new and the player
/// has `$3`.
macro_rules! see_many {
    ($table:literal, $column:literal, $times:literal, $sqlite_times:literal, $postgres_times:literal, $update:literal) => {
        Sql {
            sqlite: concat!(
                "INSERT INTO ",
                $table,
                " (network_id, player_uuid, ",
                $column,
                ", ",
                $times,
                ")
                 SELECT $1, unhex(value ->> 0), value ->> 1, ",
                $sqlite_times,
                " FROM json_each($2)
                 WHERE EXISTS (SELECT s.last_seen FROM ",
                $table,
                " s WHERE s.network_id = $1
                           AND s.player_uuid = unhex(value ->> 0) AND s.",
                $column,
                " = value ->> 1)
                    OR (SELECT COUNT(*) FROM ",
                $table,
                " s
                        WHERE s.network_id = $1 AND s.player_uuid = unhex(value ->> 0)) < $3
                 ON CONFLICT (network_id, player_uuid, ",
                $column,
                ") DO UPDATE SET ",
                $update
            ),
            postgres: concat!(
                "INSERT INTO ",
                $table,
                " (network_id, player_uuid, ",
                $column,
                ", ",
                $times,
                ")
                 SELECT $1, CAST(made ->> 0 AS UUID), made ->> 1, ",
                $postgres_times,
                "
                 FROM jsonb_array_elements(CAST($2 AS JSONB)) AS made
                 WHERE EXISTS (SELECT s.last_seen FROM ",
                $table,
                " s WHERE s.network_id = $1
                           AND s.player_uuid = CAST(made ->> 0 AS UUID) AND s.",
                $column,
                " = made ->> 1)
                    OR (SELECT COUNT(*) FROM ",
                $table,
                " s
                        WHERE s.network_id = $1 AND s.player_uuid = CAST(made ->> 0 AS UUID)) < $3
                 ON CONFLICT (network_id, player_uuid, ",
                $column,
                ") DO UPDATE SET ",
                $update
            ),
        }
    };
}
const SEE_NAMES: Sql = see_many!(
    "player_names",
    "name_folded",
    "last_seen",
    "value ->> 2",
    "CAST(made ->> 2 AS BIGINT)",
    "last_seen = excluded.last_seen WHERE player_names.last_seen < excluded.last_seen"
);
const SEE_ADDRESSES: Sql = see_many!(
    "player_addresses",
    "ip_address",
    "first_seen, last_seen",
    "value ->> 2, value ->> 3",
    "CAST(made ->> 2 AS BIGINT), CAST(made ->> 3 AS BIGINT)",
    "first_seen = CASE WHEN excluded.first_seen < player_addresses.first_seen THEN excluded.first_seen
                       ELSE player_addresses.first_seen END,
     last_seen = CASE WHEN excluded.last_seen > player_addresses.last_seen THEN excluded.last_seen
                      ELSE player_addresses.last_seen END
     WHERE player_addresses.last_seen < excluded.last_seen OR player_addresses.first_seen > excluded.first_seen"
);

/// Records names that players were seen with, unless it was later, at most one of each player.
pub(in crate::punishments) async fn see_names(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    names: &[(PlayerId, &FoldedName, Millis)],
    most: i64,
) -> Result<(), Error> {
    let rows: Vec<_> =
        names.iter().map(|(player, name, at)| (player.0.simple().to_string(), name.as_str(), at)).collect();
    on.into().write(SEE_NAMES).bind(network).bind(json(&rows)?).bind(most).execute().await?;
    Ok(())
}

/// Records addresses that players were seen with, at most one of each player.
pub(in crate::punishments) async fn see_addresses(
    tx: &mut Tx,
    network: NetworkId,
    addresses: &[(PlayerId, &IpAddress, (Millis, Millis))],
    most: i64,
) -> Result<(), Error> {
    let rows: Vec<_> = addresses
        .iter()
        .map(|(player, address, (first, last))| (player.0.simple().to_string(), address.as_str(), first, last))
        .collect();
    tx.query(SEE_ADDRESSES).bind(network).bind(json(&rows)?).bind(most).execute().await?;
    Ok(())
}
