//! SQL of moves, for the commands of the operator.

use hub_db::{Error, Tx};

use crate::auth::moves::{LEAVING, LEFT};
use crate::clock::Millis;
use crate::values::NetworkId;

/// A move of a network.
#[derive(Clone, Debug, PartialEq, Eq, sqlx::FromRow)]
pub struct MoveRow {
    pub move_id: String,
    pub state: String,
    /// Address of the hub to which it moves.
    pub url: String,
    /// False for a network that was suspended before.
    pub resumes: bool,
}

/// The move of a network, which no other command changes before the transaction ends.
pub(super) async fn find(tx: &mut Tx, network: NetworkId) -> Result<Option<MoveRow>, Error> {
    tx.query("UPDATE network_moves SET url = url WHERE network_id = $1 RETURNING move_id, state, url, resumes")
        .bind(network)
        .optional()
        .await
}

/// True if the network is to be deleted, or is being deleted.
pub(super) async fn is_deleted_soon(tx: &mut Tx, network: NetworkId) -> Result<bool, Error> {
    let sql = "SELECT 1 FROM network_deletions WHERE network_id = $1 AND deleted_at IS NULL";
    let row: Option<(i32,)> = tx.query(sql).bind(network).optional().await?;
    Ok(row.is_some())
}

pub(super) async fn put(tx: &mut Tx, network: NetworkId, row: &MoveRow, now: Millis) -> Result<(), Error> {
    tx.query(
        "INSERT INTO network_moves (network_id, move_id, state, url, resumes, since) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (network_id) DO UPDATE
         SET move_id = excluded.move_id, state = excluded.state, url = excluded.url, resumes = excluded.resumes,
             since = excluded.since",
    )
    .bind(network)
    .bind(&row.move_id)
    .bind(&row.state)
    .bind(&row.url)
    .bind(row.resumes)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// True if the move was under way; from then on the network has left.
pub(super) async fn leave(tx: &mut Tx, network: NetworkId, move_id: &str) -> Result<bool, Error> {
    let sql = "UPDATE network_moves SET state = $4 WHERE network_id = $1 AND move_id = $2 AND state = $3";
    let rows = tx.query(sql).bind(network).bind(move_id).bind(LEAVING).bind(LEFT).execute().await?;
    Ok(rows > 0)
}

pub(super) async fn delete(tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    tx.query("DELETE FROM network_move_nodes WHERE network_id = $1").bind(network).execute().await?;
    tx.query("DELETE FROM network_moves WHERE network_id = $1").bind(network).execute().await?;
    Ok(())
}

/// Takes a suspended network's own row away: the next import deletes the rest.
pub(super) async fn unpublish(tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    tx.query("DELETE FROM networks WHERE network_id = $1").bind(network).execute().await?;
    Ok(())
}
