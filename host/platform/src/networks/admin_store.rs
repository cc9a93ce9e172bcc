//! The operator's SQL of networks, across all of them.

use hub_db::{Db, Error, Executor, Tx};

use crate::auth::OPERATOR_NETWORK;
use crate::clock::Millis;
use crate::values::NetworkId;

/// A network's row, with the time of its deletion.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct NetworkRow {
    pub network_id: NetworkId,
    pub name: String,
    pub plan: String,
    pub suspended: bool,
    pub created_at: Millis,
    pub delete_at: Option<Millis>,
}

/// Remains of a deleted network.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct DeletedNetworkRow {
    pub network_id: NetworkId,
    pub name: String,
    pub(crate) deleted_at: Millis,
}

macro_rules! select_network {
    ($rest:literal) => {
        concat!(
            "SELECT n.network_id, n.name, n.plan, n.suspended, n.created_at, d.delete_at
             FROM networks n LEFT JOIN network_deletions d ON d.network_id = n.network_id ",
            $rest
        )
    };
}

/// One network; none for the operator's own.
pub(super) async fn find(on: impl Into<Executor<'_>>, network: NetworkId) -> Result<Option<NetworkRow>, Error> {
    if network == OPERATOR_NETWORK {
        return Ok(None);
    }
    on.into().query(select_network!("WHERE n.network_id = $1")).bind(network).optional().await
}

/// Oldest first, without the operator's own.
pub(super) async fn list(db: &Db, limit: i64, offset: i64) -> Result<(Vec<NetworkRow>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM networks WHERE network_id <> $1",
        select_network!("WHERE n.network_id <> $1 ORDER BY n.created_at, n.network_id LIMIT $2 OFFSET $3"),
        |statement| statement.bind(OPERATOR_NETWORK),
        limit,
        offset,
    )
    .await
}

/// Lets no other request change or delete the network before the transaction ends.
pub(super) async fn lock(tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    tx.query("UPDATE networks SET name = name WHERE network_id = $1").bind(network).execute().await.map(drop)
}

/// Changes the given columns; false if there is no such network.
pub(super) async fn update(
    tx: &mut Tx,
    network: NetworkId,
    name: Option<&str>,
    plan: Option<&str>,
    suspended: Option<bool>,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "UPDATE networks SET name = COALESCE($2, name), plan = COALESCE($3, plan),
                 suspended = COALESCE($4, suspended)
             WHERE network_id = $1",
        )
        .bind(network)
        .bind(name)
        .bind(plan)
        .bind(suspended)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Schedules a deletion, or advances one that has not begun; false if it changed nothing.
pub(super) async fn schedule_deletion(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    delete_at: Millis,
) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO network_deletions (network_id, name, delete_at, begun) VALUES ($1, $2, $3, FALSE)
             ON CONFLICT (network_id) DO UPDATE SET name = excluded.name, delete_at = excluded.delete_at
             WHERE NOT network_deletions.begun AND excluded.delete_at < network_deletions.delete_at",
        )
        .bind(network)
        .bind(name)
        .bind(delete_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Cancels a deletion that has not begun; true if there was one.
pub(super) async fn cancel_deletion(tx: &mut Tx, network: NetworkId) -> Result<bool, Error> {
    let rows =
        tx.query("DELETE FROM network_deletions WHERE network_id = $1 AND NOT begun").bind(network).execute().await?;
    Ok(rows > 0)
}

/// A deleted network.
pub(super) async fn find_deleted(db: &Db, network: NetworkId) -> Result<Option<DeletedNetworkRow>, Error> {
    db.query(
        "SELECT network_id, name, deleted_at FROM network_deletions WHERE network_id = $1 AND deleted_at IS NOT NULL",
    )
    .bind(network)
    .optional()
    .await
}

// Crosses networks: one loop is for all.
const DELETED_SINCE: &str = "SELECT network_id FROM network_deletions WHERE deleted_at > $1 LIMIT 1000";

/// Networks deleted since, in which late requests may leave rows.
pub(super) async fn deleted_since(db: &Db, since: Millis) -> Result<Vec<NetworkId>, Error> {
    let rows: Vec<(NetworkId,)> = db.query(DELETED_SINCE).bind(since).readable().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Records that a deletion has begun; false if the network is no longer to be deleted, or only later. The deletion cannot
/// be cancelled until the transaction ends, nor afterwards.
pub(super) async fn begin_deletion(tx: &mut Tx, network: NetworkId, now: Millis) -> Result<bool, Error> {
    let begin = "UPDATE network_deletions SET begun = TRUE WHERE network_id = $1 AND (begun OR delete_at <= $2)";
    Ok(tx.query(begin).bind(network).bind(now).execute().await? > 0)
}

/// SQLite only: removes a network's number from the search index of players, once it has no players left.
pub(super) async fn delete_search_number(tx: &mut Tx, network: NetworkId) -> Result<(), Error> {
    tx.query(
        "DELETE FROM player_search_networks
         WHERE network_id = $1 AND NOT EXISTS (SELECT 1 FROM players WHERE network_id = $1)",
    )
    .bind(network)
    .execute()
    .await?;
    Ok(())
}

/// Records that a network is deleted completely; false if it was before.
pub(super) async fn finish_deletion(tx: &mut Tx, network: NetworkId, now: Millis) -> Result<bool, Error> {
    let finish = "UPDATE network_deletions SET deleted_at = $2 WHERE network_id = $1 AND deleted_at IS NULL";
    Ok(tx.query(finish).bind(network).bind(now).execute().await? > 0)
}

/// True if the network was deleted before, so that this is the search for late writes.
pub(super) async fn is_deleted(db: &Db, network: NetworkId) -> Result<bool, Error> {
    Ok(find_deleted(db, network).await?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn deleted_networks_are_found_by_their_index() {
        for plan in query_plans(&[DELETED_SINCE]).await {
            assert!(plan.iter().all(|step| step.contains("network_deletions_by_end")), "{plan:#?}");
        }
    }
}
