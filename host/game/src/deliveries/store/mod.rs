//! All SQL of deliveries.

pub(super) mod due;
pub(super) mod list;
pub(super) mod references;

use hub_db::{Db, Error, Executor, Sql, Tx};

use crate::clock::Millis;
use crate::deliveries::model::{Delivery, Place};
use crate::limits::{Limit, Rows};
use crate::presence::player_ids;
use crate::values::{NetworkId, PlayerId};

/// Columns of a [`Delivery`].
macro_rules! columns {
    () => {
        "network_id, delivery_id, player_uuid, player_name, kind, payload, server_type, server_id, state, attempts,
         on_lost, reference, reason, claim_sha256, claim_end, claimed_by, claimed_until, created_at, not_before,
         expires_at, settled_at, due_at"
    };
}
use columns;

/// Open deliveries; the indexes have the same condition.
macro_rules! open {
    () => {
        "state IN ('PENDING', 'CLAIMED', 'HELD')"
    };
}
use open;

/// All open deliveries of a network.
pub(super) const OPEN: Rows = Rows::many(
    Limit::Deliveries,
    concat!(
        "SELECT COUNT(*) FROM (SELECT delivery_id FROM deliveries WHERE network_id = $1 AND ",
        open!(),
        " LIMIT $2) AS counted"
    ),
);

/// Number of HELD deliveries, counted up to `most`, and the time of the oldest.
pub(super) async fn held(db: &Db, network: NetworkId, most: i64) -> Result<(i64, Option<Millis>), Error> {
    db.query(
        "SELECT COUNT(*), MIN(created_at) FROM (
             SELECT created_at FROM deliveries WHERE network_id = $1 AND state = 'HELD' ORDER BY delivery_id LIMIT $2
         ) AS counted",
    )
    .bind(network)
    .bind(most)
    .one()
    .await
}

const TAKE_ID: &str = "INSERT INTO delivery_counters (network_id, last_id) VALUES ($1, 1)
     ON CONFLICT (network_id) DO UPDATE SET last_id = delivery_counters.last_id + 1
     RETURNING last_id";

/// Takes the network's next id. The counter's row is locked until the transaction ends, so that deliveries become visible
/// in the order of their ids.
pub(super) async fn take_id(tx: &mut Tx, network: NetworkId) -> Result<i64, Error> {
    let (id,): (i64,) = tx.query(TAKE_ID).bind(network).one().await?;
    Ok(id)
}

pub(super) async fn insert(tx: &mut Tx, new: &Delivery, folded: Option<&str>) -> Result<(), Error> {
    tx.query(
        "INSERT INTO deliveries (network_id, delivery_id, player_uuid, player_name, name_folded, kind, payload,
             server_type, server_id, state, attempts, on_lost, reference, created_at, not_before, expires_at, due_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)",
    )
    .bind(new.network_id)
    .bind(new.delivery_id)
    .bind(new.player_uuid)
    .bind(&new.player_name)
    .bind(folded)
    .bind(&new.kind)
    .bind(new.payload.as_str())
    .bind(&new.server_type)
    .bind(&new.server_id)
    .bind(new.state.as_str())
    .bind(new.attempts)
    .bind(new.on_lost.as_str())
    .bind(&new.reference)
    .bind(new.created_at)
    .bind(new.not_before)
    .bind(new.expires_at)
    .bind(new.due_at)
    .execute()
    .await?;
    Ok(())
}

/// Writes all that changes in the life of a delivery.
pub(super) async fn save(tx: &mut Tx, delivery: &Delivery) -> Result<(), Error> {
    tx.query(
        "UPDATE deliveries SET player_uuid = $3, state = $4, attempts = $5, reason = $6, claim_sha256 = $7,
             claim_end = $8, claimed_by = $9, claimed_until = $10, settled_at = $11, due_at = $12
         WHERE network_id = $1 AND delivery_id = $2",
    )
    .bind(delivery.network_id)
    .bind(delivery.delivery_id)
    .bind(delivery.player_uuid)
    .bind(delivery.state.as_str())
    .bind(delivery.attempts)
    .bind(&delivery.reason)
    .bind(&delivery.claim_sha256)
    .bind(&delivery.claim_end)
    .bind(&delivery.claimed_by)
    .bind(delivery.claimed_until)
    .bind(delivery.settled_at)
    .bind(delivery.due_at)
    .execute()
    .await?;
    Ok(())
}

macro_rules! by_id {
    ($lock:literal) => {
        concat!("SELECT ", columns!(), " FROM deliveries WHERE network_id = $1 AND delivery_id = $2", $lock)
    };
}

pub(super) async fn get(on: impl Into<Executor<'_>>, network: NetworkId, id: i64) -> Result<Option<Delivery>, Error> {
    on.into().query(by_id!("")).bind(network).bind(id).optional().await
}

/// A delivery, locked until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, network: NetworkId, id: i64) -> Result<Option<Delivery>, Error> {
    let select = Sql { sqlite: by_id!(""), postgres: by_id!(" FOR UPDATE") };
    tx.query(select).bind(network).bind(id).optional().await
}

const OPEN_OF_PLAYER: &str = concat!(
    "SELECT COUNT(*) FROM (SELECT delivery_id FROM deliveries WHERE network_id = $1 AND player_uuid = $2 AND ",
    open!(),
    " LIMIT $3) AS counted"
);
const OPEN_OF_NAME: &str = concat!(
    "SELECT COUNT(*) FROM (SELECT delivery_id FROM deliveries
     WHERE network_id = $1 AND name_folded = $2 AND player_uuid IS NULL AND ",
    open!(),
    " LIMIT $3) AS counted"
);

/// Number of open deliveries of the player, or else of the name, up to `most`.
pub(super) async fn count_open(
    tx: &mut Tx,
    network: NetworkId,
    player: Option<PlayerId>,
    folded: Option<&str>,
    most: i64,
) -> Result<i64, Error> {
    let statement = match player {
        Some(player) => tx.query(OPEN_OF_PLAYER).bind(network).bind(player),
        None => tx.query(OPEN_OF_NAME).bind(network).bind(folded),
    };
    let (count,): (i64,) = statement.bind(most).one().await?;
    Ok(count)
}

/// Condition of a delivery `$t` that may happen now (`$5`) on the server `$3` of the type `$4`.
macro_rules! may_happen {
    ($t:literal) => {
        concat!(
            "(",
            $t,
            ".not_before IS NULL OR ",
            $t,
            ".not_before <= $5) AND (",
            $t,
            ".expires_at IS NULL OR ",
            $t,
            ".expires_at > $5)"
        )
    };
}
macro_rules! fits {
    ($t:literal) => {
        concat!(
            "(",
            $t,
            ".server_id IS NULL OR ",
            $t,
            ".server_id = $3) AND (",
            $t,
            ".server_type IS NULL OR ",
            $t,
            ".server_type = $4)"
        )
    };
}
/// Earlier deliveries that block one of the player, kind and id.
macro_rules! earlier {
    ($player:literal, $kind:literal, $id:literal) => {
        concat!(
            "SELECT e.delivery_id FROM deliveries e WHERE e.network_id = $1 AND e.player_uuid = ",
            $player,
            " AND e.kind = ",
            $kind,
            " AND e.delivery_id < ",
            $id,
            " AND e.state IN ('PENDING', 'CLAIMED', 'HELD') AND e.state <> 'HELD' AND (e.state = 'CLAIMED' OR (",
            may_happen!("e"),
            ")) AND ",
            fits!("e")
        )
    };
}
/// Deliveries of the players of `$2` that can be claimed on a server, of the kind `$6` or all, with an id from `$7` on.
macro_rules! claimable {
    ($players:literal) => {
        concat!(
            "SELECT ",
            columns!(),
            " FROM deliveries d WHERE d.network_id = $1 AND d.player_uuid IN (SELECT ",
            $players,
            ")
               AND d.state IN ('PENDING', 'CLAIMED', 'HELD') AND d.state = 'PENDING' AND ",
            may_happen!("d"),
            " AND ",
            fits!("d"),
            " AND ($6 IS NULL OR d.kind = $6) AND d.delivery_id >= $7 AND NOT EXISTS (",
            earlier!("d.player_uuid", "d.kind", "d.delivery_id"),
            ") ORDER BY d.delivery_id LIMIT $8"
        )
    };
}

const CLAIMABLE: Sql = Sql {
    sqlite: claimable!("unhex(value) FROM json_each($2)"),
    postgres: claimable!("CAST(value AS UUID) FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS ids (value)"),
};

/// Deliveries among those of a player.
#[derive(Clone, Copy, Debug)]
pub(super) enum Range<'a> {
    All,
    /// One, of this kind.
    One {
        kind: &'a str,
        id: i64,
    },
    /// Those of the kind that were created later.
    After {
        kind: &'a str,
        id: i64,
    },
}

/// Deliveries of these players, who are on a server, that can be claimed there, in the order of their creation.
pub(super) async fn claimable(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    players: &[PlayerId],
    place: &Place,
    range: Range<'_>,
    now: Millis,
    limit: i64,
) -> Result<Vec<Delivery>, Error> {
    let (kind, from) = match range {
        Range::All => (None, 0),
        Range::One { kind, id } => (Some(kind), id),
        Range::After { kind, id } => (Some(kind), id.saturating_add(1)),
    };
    let mut found: Vec<Delivery> = on
        .into()
        .query(CLAIMABLE)
        .bind(network)
        .bind(player_ids(players))
        .bind(&place.server_id)
        .bind(&place.server_type)
        .bind(now)
        .bind(kind)
        .bind(from)
        .bind(limit)
        .all()
        .await?;
    if let Range::One { id, .. } = range {
        found.retain(|delivery| delivery.delivery_id == id);
    }
    Ok(found)
}

macro_rules! awaiting {
    ($players:literal) => {
        concat!(
            "SELECT DISTINCT player_uuid FROM deliveries WHERE network_id = $1 AND player_uuid IN (SELECT ",
            $players,
            ") AND ",
            open!(),
            " AND state = 'PENDING' AND kind >= ''"
        )
    };
}
// The kind keeps SQLite, which has no statistics, from reading the settled ones of each player.
const AWAITING: Sql = Sql {
    sqlite: awaiting!("unhex(value) FROM json_each($2)"),
    postgres: awaiting!("CAST(value AS UUID) FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS ids (value)"),
};

/// Players among these who have pending deliveries.
pub(super) async fn awaiting(db: &Db, network: NetworkId, players: &[PlayerId]) -> Result<Vec<PlayerId>, Error> {
    let rows: Vec<(PlayerId,)> = db.query(AWAITING).bind(network).bind(player_ids(players)).all().await?;
    Ok(rows.into_iter().map(|(player,)| player).collect())
}

const BLOCKING: &str = concat!(earlier!("$2", "$6", "$7"), " LIMIT 1");

/// True if an earlier delivery keeps this one from being claimed there.
pub(super) async fn is_blocked(
    tx: &mut Tx,
    delivery: &Delivery,
    player: PlayerId,
    place: &Place,
    now: Millis,
) -> Result<bool, Error> {
    let row: Option<(i64,)> = tx
        .query(BLOCKING)
        .bind(delivery.network_id)
        .bind(player)
        .bind(&place.server_id)
        .bind(&place.server_type)
        .bind(now)
        .bind(&delivery.kind)
        .bind(delivery.delivery_id)
        .optional()
        .await?;
    Ok(row.is_some())
}

#[cfg(test)]
mod tests {
    use super::due::{DUE, DUE_NETWORKS, PURGE};
    use super::list::{BY_PLAYER, BY_STATE, BY_STATE_AND_PLAYER, NEWEST};
    use super::references::{AWAITED, FIND, OF_NAME};
    use super::*;
    use crate::query_plan::query_plans;

    /// Each statement searches an index: a scan would read the deliveries of all networks.
    #[tokio::test]
    async fn statements_use_their_indexes() {
        let statements = [
            CLAIMABLE.sqlite,
            AWAITING.sqlite,
            AWAITED.sqlite,
            BLOCKING,
            OPEN_OF_PLAYER,
            OPEN_OF_NAME,
            OPEN.sql.sqlite,
            by_id!(""),
            FIND,
            OF_NAME,
            BY_PLAYER,
            BY_STATE,
            BY_STATE_AND_PLAYER,
            NEWEST,
        ];
        for (sql, plan) in statements.iter().zip(query_plans(&statements).await) {
            let scans =
                |step: &&String| step.contains("SCAN") && !step.contains("json_each") && !step.contains("counted");
            assert_eq!(plan.iter().find(scans), None, "{sql}: {plan:#?}");
            assert!(plan.iter().any(|step| step.contains("network_id=?")), "{sql}: {plan:#?}");
        }
        // The order of one player's and kind's deliveries is in the index.
        for plan in query_plans(&[CLAIMABLE.sqlite, BLOCKING]).await {
            let earlier =
                "SEARCH e USING INDEX deliveries_open (network_id=? AND player_uuid=? AND kind=? AND delivery_id<?)";
            assert!(plan.iter().any(|step| step == earlier), "{plan:#?}");
        }
        let due = "deliveries_due_of_network";
        for (plan, index) in query_plans(&[DUE, DUE_NETWORKS, PURGE]).await.iter().zip([due, due, "deliveries_settled"])
        {
            assert!(plan.iter().any(|step| step.contains(index)), "{plan:#?}");
            assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE")), "{plan:#?}");
        }
    }
}
