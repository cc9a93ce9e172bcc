//! SQL of references, and of names that nobody was seen with.

use hub_db::{Db, Error, Executor, Sql, Tx};

use super::open;
use crate::clock::Millis;
use crate::values::{NetworkId, PlayerId};

/// A reference that was used.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::deliveries) struct UsedReference {
    pub(in crate::deliveries) delivery_id: i64,
    /// Hash of the values sent with it; none once the player was erased.
    pub(in crate::deliveries) values_sha256: Option<String>,
    pub(in crate::deliveries) player_uuid: Option<PlayerId>,
    pub(in crate::deliveries) created_at: Millis,
    /// State of the delivery, once it is deleted.
    pub(in crate::deliveries) state: Option<String>,
    pub(in crate::deliveries) attempts: i64,
    pub(in crate::deliveries) settled_at: Option<Millis>,
}

pub(in crate::deliveries) const FIND: &str =
    "SELECT delivery_id, values_sha256, player_uuid, created_at, state, attempts, settled_at
     FROM delivery_references WHERE network_id = $1 AND reference_sha256 = $2";

pub(in crate::deliveries) async fn find(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    reference: &str,
) -> Result<Option<UsedReference>, Error> {
    on.into().query(FIND).bind(network).bind(reference).optional().await
}

/// Hashes of a new reference and its values.
#[derive(Clone, Debug)]
pub(in crate::deliveries) struct NewReference {
    pub(in crate::deliveries) reference: String,
    pub(in crate::deliveries) values: String,
}

/// Stores a reference. False if it was used.
pub(in crate::deliveries) async fn insert(
    tx: &mut Tx,
    network: NetworkId,
    new: &NewReference,
    delivery: i64,
    (player, folded): (Option<PlayerId>, Option<&str>),
    now: Millis,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO delivery_references (network_id, reference_sha256, delivery_id, values_sha256, player_uuid,
                 name_folded, created_at, attempts)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 0) ON CONFLICT (network_id, reference_sha256) DO NOTHING",
        )
        .bind(network)
        .bind(&new.reference)
        .bind(delivery)
        .bind(&new.values)
        .bind(player)
        .bind(folded)
        .bind(now)
        .execute()
        .await?;
    Ok(rows > 0)
}

pub(in crate::deliveries) const OF_NAME: &str = concat!(
    "SELECT delivery_id FROM deliveries WHERE network_id = $1 AND name_folded = $2 AND player_uuid IS NULL AND ",
    open!(),
    " LIMIT 1"
);

/// True if deliveries wait for somebody with the name.
pub(in crate::deliveries) async fn is_awaited(
    on: impl Into<Executor<'_>>,
    network: NetworkId,
    folded: &str,
) -> Result<bool, Error> {
    let row: Option<(i64,)> = on.into().query(OF_NAME).bind(network).bind(folded).optional().await?;
    Ok(row.is_some())
}

macro_rules! awaited {
    ($names:literal) => {
        concat!(
            "SELECT DISTINCT name_folded FROM deliveries WHERE network_id = $1 AND name_folded IN (SELECT ",
            $names,
            ") AND player_uuid IS NULL AND ",
            open!()
        )
    };
}
pub(in crate::deliveries) const AWAITED: Sql = Sql {
    sqlite: awaited!("value FROM json_each($2)"),
    postgres: awaited!("value FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS names (value)"),
};

/// Names among these for which deliveries wait.
pub(in crate::deliveries) async fn awaited(
    db: &Db,
    network: NetworkId,
    folded: &[String],
) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> =
        db.query(AWAITED).bind(network).bind(serde_json::json!(folded).to_string()).all().await?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

const BIND_DELIVERIES: &str = concat!(
    "UPDATE deliveries SET player_uuid = $3 WHERE network_id = $1 AND name_folded = $2 AND player_uuid IS NULL AND ",
    open!(),
    " RETURNING delivery_id"
);
const BIND_REFERENCES: Sql = Sql {
    sqlite: "UPDATE delivery_references SET player_uuid = $3
             WHERE network_id = $1 AND delivery_id IN (SELECT value FROM json_each($2)) AND values_sha256 IS NOT NULL",
    postgres: "UPDATE delivery_references SET player_uuid = $3
               WHERE network_id = $1 AND values_sha256 IS NOT NULL AND delivery_id IN (
                   SELECT CAST(value AS BIGINT) FROM jsonb_array_elements_text(CAST($2 AS JSONB)) AS ids (value))",
};

/// Gives the open deliveries of a name to a player. Returns their ids.
pub(in crate::deliveries) async fn bind_name(
    tx: &mut Tx,
    network: NetworkId,
    folded: &str,
    player: PlayerId,
) -> Result<Vec<i64>, Error> {
    let rows: Vec<(i64,)> = tx.query(BIND_DELIVERIES).bind(network).bind(folded).bind(player).all().await?;
    let ids: Vec<_> = rows.into_iter().map(|(id,)| id).collect();
    if !ids.is_empty() {
        let json = serde_json::json!(ids).to_string();
        tx.query(BIND_REFERENCES).bind(network).bind(json).bind(player).execute().await?;
    }
    Ok(ids)
}

/// Records the player of a delivery by name.
pub(in crate::deliveries) async fn set_player(
    tx: &mut Tx,
    network: NetworkId,
    delivery: i64,
    player: Option<PlayerId>,
) -> Result<(), Error> {
    tx.query("UPDATE delivery_references SET player_uuid = $3 WHERE network_id = $1 AND delivery_id = $2")
        .bind(network)
        .bind(delivery)
        .bind(player)
        .execute()
        .await?;
    Ok(())
}
