//! SQL of transfers.

use std::time::Duration;

use hub_db::{Db, Error, Executor, Sql, Tx};

use crate::clock::{Cutoff, Millis};
use crate::component::{Term, renew_term};
use crate::limits::{Limit, Rows};
use crate::presence::player_ids;
use crate::transfers::model::{COMMAND_TTL, FAILED, Reported, SUCCESS, TIMEOUT, TIMEOUT_MESSAGE, Transfer, TransferId};
use crate::values::{Identifier, NetworkId, PlayerId};

/// All stored transfers of a network.
pub(super) const TRANSFERS: Rows = Rows::many(
    Limit::Transfers,
    "SELECT COUNT(*) FROM (SELECT id FROM transfers WHERE network_id = $1 LIMIT $2) AS counted",
);

/// Records a transfer.
pub(super) async fn insert(on: impl Into<Executor<'_>>, network: NetworkId, new: &Transfer) -> Result<(), Error> {
    on.into()
        .write(
            "INSERT INTO transfers (network_id, id, player_uuid, from_server, to_server, to_world, result, error_message,
                 created_at, expires_at, ended_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        )
        .bind(network)
        .bind(new.id)
        .bind(new.player_uuid)
        .bind(&new.from_server)
        .bind(&new.to_server)
        .bind(&new.to_world)
        .bind(&new.result)
        .bind(&new.error_message)
        .bind(new.created_at)
        .bind(new.expires_at)
        .bind(new.ended_at)
        .execute()
        .await?;
    Ok(())
}

/// Ends a player's pending transfers, because another one replaces them.
pub(super) async fn supersede(tx: &mut Tx, network: NetworkId, player: PlayerId, now: Millis) -> Result<(), Error> {
    tx.query(
        "UPDATE transfers SET result = $4, error_message = 'It was replaced by another transfer of the player.',
             ended_at = $3
         WHERE network_id = $1 AND player_uuid = $2 AND ended_at IS NULL AND +expires_at > $3",
    )
    .bind(network)
    .bind(player)
    .bind(now)
    .bind(FAILED)
    .execute()
    .await?;
    Ok(())
}

pub(super) async fn get(db: &Db, network: NetworkId, id: TransferId) -> Result<Option<Transfer>, Error> {
    db.query(
        "SELECT id, player_uuid, from_server, to_server, to_world, result, error_message, created_at, expires_at, ended_at
         FROM transfers WHERE network_id = $1 AND id = $2",
    )
    .bind(network)
    .bind(id)
    .optional()
    .await
}

/// Records the outcome of a pending transfer. Returns its target; none if it is not pending, or belongs to another
/// player.
pub(super) async fn finish(
    db: &Db,
    network: NetworkId,
    id: TransferId,
    player: PlayerId,
    result: &Reported,
    error_message: Option<&str>,
    now: Millis,
) -> Result<Option<Identifier>, Error> {
    let row: Option<(Identifier,)> = db
        .write(
            "UPDATE transfers SET result = $5, error_message = $6, ended_at = $4
             WHERE network_id = $1 AND id = $2 AND player_uuid = $3 AND ended_at IS NULL AND expires_at > $4
             RETURNING to_server",
        )
        .bind(network)
        .bind(id)
        .bind(player)
        .bind(now)
        .bind(result)
        .bind(error_message)
        .optional()
        .await?;
    Ok(row.map(|(server,)| server))
}

// The sign keeps SQLite, which has no statistics, from reading all pending transfers of the network by their ends.
const FIND_PENDING: &str = "SELECT from_server, to_server, expires_at FROM transfers
     WHERE network_id = $1 AND player_uuid = $2 AND ended_at IS NULL AND +expires_at > $3";

/// Source, target and deadline of each pending transfer of the player.
pub(super) async fn under_way(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    now: Millis,
) -> Result<Vec<(Option<Identifier>, Identifier, Millis)>, Error> {
    db.query(FIND_PENDING).bind(network).bind(player).bind(now).all().await
}

macro_rules! targets_of {
    ($players:literal) => {
        concat!(
            "SELECT player_uuid, to_server FROM transfers WHERE network_id = $1 AND player_uuid IN (SELECT ",
            $players,
            ") AND ended_at IS NULL AND +expires_at > $3"
        )
    };
}
const TARGETS: Sql = Sql {
    sqlite: targets_of!("unhex(value) FROM json_each($2)"),
    postgres: targets_of!("CAST(value AS UUID) FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS ids (value)"),
};

/// Targets of the pending transfers of players.
pub(super) async fn targets(
    db: &Db,
    network: NetworkId,
    players: &[PlayerId],
    now: Millis,
) -> Result<Vec<(PlayerId, Identifier)>, Error> {
    db.query(TARGETS).bind(network).bind(player_ids(players)).bind(now).all().await
}

/// Records that the player arrived at the target of a pending transfer.
pub(super) async fn arrive(
    db: &Db,
    network: NetworkId,
    player: PlayerId,
    server: &Identifier,
    now: Millis,
) -> Result<(), Error> {
    db.write(
        "UPDATE transfers SET result = $5, ended_at = $4
         WHERE network_id = $1 AND player_uuid = $2 AND to_server = $3 AND ended_at IS NULL AND +expires_at > $4",
    )
    .bind(network)
    .bind(player)
    .bind(server)
    .bind(now)
    .bind(SUCCESS)
    .execute()
    .await?;
    Ok(())
}

/// Pending transfers, whose ends are corrected with the clock.
pub(super) const PENDING: Term =
    Term::new(renew_term!("transfers", "network_id, id", "expires_at", "ended_at IS NULL"), |_| {
        Duration::from_millis(COMMAND_TTL.unsigned_abs())
    });

// Leaps from network to network: those with many transfers cost no more than others.
const DUE_NETWORKS: &str = "WITH RECURSIVE n (network_id) AS (
         SELECT (SELECT network_id FROM transfers WHERE ended_at IS NULL ORDER BY network_id, expires_at LIMIT 1)
         UNION ALL
         SELECT (SELECT t.network_id FROM transfers t
                 WHERE t.ended_at IS NULL AND t.network_id > n.network_id
                 ORDER BY t.network_id, t.expires_at LIMIT 1)
         FROM n WHERE n.network_id IS NOT NULL)
     SELECT network_id FROM n WHERE network_id IS NOT NULL AND EXISTS (
         SELECT 1 FROM transfers t WHERE t.network_id = n.network_id AND t.ended_at IS NULL AND t.expires_at <= $1)";

/// Networks with transfers that have timed out but not ended. Crosses networks: each owner then ends those of its own.
pub(super) async fn due_networks(db: &Db, now: Millis) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(DUE_NETWORKS).bind(now).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Ends at most `limit` timed-out transfers of a network. Returns their number. One that another transaction changes is
/// left for the next time: it holds up no other.
pub(super) async fn time_out(db: &Db, network: NetworkId, now: Millis, limit: i64) -> Result<u64, Error> {
    macro_rules! statement {
        ($lock:literal) => {
            concat!(
                "UPDATE transfers SET result = $2, error_message = $3, ended_at = expires_at
                 WHERE (network_id, id) IN (
                     SELECT network_id, id FROM transfers
                     WHERE network_id = $4 AND ended_at IS NULL AND expires_at <= $1 LIMIT $5 ",
                $lock,
                ")"
            )
        };
    }
    db.write(Sql { sqlite: statement!(""), postgres: statement!("FOR UPDATE SKIP LOCKED") })
        .bind(now)
        .bind(TIMEOUT)
        .bind(TIMEOUT_MESSAGE)
        .bind(network)
        .bind(limit)
        .execute()
        .await
}

/// Deletes at most `limit` old transfers of all networks. Returns their number.
pub(super) async fn purge(db: &Db, before: Cutoff, limit: i64) -> Result<u64, Error> {
    db.write(
        "DELETE FROM transfers WHERE (network_id, id) IN (
             SELECT network_id, id FROM transfers WHERE created_at < $1 ORDER BY created_at LIMIT $2)",
    )
    .bind(before.at())
    .bind(limit)
    .execute()
    .await
}

#[cfg(test)]
mod tests {
    use hub_db::Config;

    use super::*;

    #[tokio::test]
    async fn due_networks_are_found_by_an_index() {
        let plan = &crate::query_plan::query_plans(&[DUE_NETWORKS]).await[0];
        let uses_index = |step: &String| !step.contains(" t") || step.contains("USING INDEX transfers_due");
        assert!(plan.iter().all(|step| uses_index(step) && !step.contains("TEMP B-TREE")), "{plan:#?}");
    }

    /// Each join runs it.
    #[tokio::test]
    async fn a_players_transfers_are_found_without_reading_others() {
        let folder = tempfile::TempDir::new().unwrap();
        let db = Db::connect(&Config::Sqlite { path: folder.path().join("hub.db") }).await.unwrap();
        db.migrate().await.unwrap();
        let explain: &'static str = format!("EXPLAIN QUERY PLAN {FIND_PENDING}").leak();
        let plan: Vec<(i64, i64, i64, String)> = db.query(explain).all().await.unwrap();
        assert!(plan.iter().all(|step| step.3.contains("player_uuid=? AND ended_at=?")), "{plan:?}");
    }
}
