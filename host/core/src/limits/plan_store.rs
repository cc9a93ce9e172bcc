//! SQL of networks' plans and storage.

use std::collections::HashMap;

use hub_db::{Db, Error};

use crate::limits::plan::{ModuleLimits, Plan, PlanLimits};
use crate::values::NetworkId;

/// Plan of a network. A missing plan, such as right after an import, limits nothing.
pub(super) async fn plan_of(db: &Db, network: NetworkId) -> Result<Plan, Error> {
    let row: Option<(Option<String>, Option<String>, i64)> = db
        .query(
            "SELECT p.limits, p.module_limits, n.chat_history_days FROM networks n LEFT JOIN plans p ON p.name = n.plan
             WHERE n.network_id = $1",
        )
        .bind(network)
        .optional()
        .await?;
    let parse = |(limits, module_limits, days): (Option<String>, Option<String>, i64)| {
        let nothing = || "{}".to_owned();
        parse(&limits.unwrap_or_else(nothing), &module_limits.unwrap_or_else(nothing), days)
    };
    Ok(row.map(parse).unwrap_or_default())
}

/// Unreadable limits of a newer hub limit nothing.
fn parse(limits: &str, module_limits: &str, chat_history_days: i64) -> Plan {
    let limits: PlanLimits = serde_json::from_str(limits).unwrap_or_else(|error| {
        tracing::error!(%error, "cannot read a plan");
        PlanLimits::default()
    });
    let module_limits: ModuleLimits = serde_json::from_str(module_limits).unwrap_or_default();
    Plan::new(&limits, module_limits, chat_history_days)
}

/// Bytes of a network's rows, counted by triggers.
pub(super) async fn counted_bytes(db: &Db, network: NetworkId) -> Result<i64, Error> {
    let (bytes,): (i64,) = db
        .query("SELECT CAST(COALESCE(SUM(storage_bytes), 0) AS BIGINT) FROM network_usage WHERE network_id = $1")
        .bind(network)
        .one()
        .await?;
    Ok(bytes)
}

/// Bytes in the stores of the network's modules.
pub(super) async fn module_store_bytes(module_store: &Db, network: NetworkId) -> Result<i64, Error> {
    let (bytes,): (i64,) = module_store
        .query("SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM module_store_usage WHERE network_id = $1")
        .bind(network)
        .one()
        .await?;
    Ok(bytes)
}

/// Storage of a network: counted by triggers, and in module stores.
#[derive(Clone, Copy, Debug, Default)]
pub struct StorageCounts {
    /// Documents of collections.
    pub documents: i64,
    /// Bytes of rows, without module stores.
    pub row_bytes: i64,
    /// Bytes in module stores.
    pub module_store_bytes: i64,
    /// Bytes of files.
    pub file_bytes: i64,
}

/// Storage of the networks after `after`, ordered by id.
pub(super) async fn storage_counts(
    db: &Db,
    module_store: &Db,
    after: NetworkId,
    most: i64,
) -> Result<Vec<(NetworkId, StorageCounts)>, Error> {
    // Crosses networks: one loop serves all.
    let rows: Vec<(NetworkId, i64, i64, i64)> = db
        .query(
            "SELECT network_id, CAST(SUM(documents) AS BIGINT), CAST(SUM(storage_bytes) AS BIGINT),
                 CAST(SUM(file_bytes) AS BIGINT)
             FROM network_usage WHERE network_id > $1 GROUP BY network_id ORDER BY network_id LIMIT $2",
        )
        .bind(after)
        .bind(most)
        .readable()
        .await?;
    let Some((last, ..)) = rows.last() else { return Ok(vec![]) };
    // Crosses networks: one loop serves all.
    let modules: Vec<(NetworkId, i64)> = module_store
        .query(
            "SELECT network_id, CAST(SUM(bytes) AS BIGINT) FROM module_store_usage
             WHERE network_id > $1 AND network_id <= $2 GROUP BY network_id",
        )
        .bind(after)
        .bind(last)
        .readable()
        .await?;
    let modules: HashMap<_, _> = modules.into_iter().collect();
    let counts = |(network, documents, row_bytes, file_bytes)| {
        let module_store_bytes = modules.get(&network).copied().unwrap_or(0);
        (network, StorageCounts { documents, row_bytes, module_store_bytes, file_bytes })
    };
    Ok(rows.into_iter().map(counts).collect())
}

/// Storage of one network.
pub(super) async fn storage_counts_of(db: &Db, module_store: &Db, network: NetworkId) -> Result<StorageCounts, Error> {
    let (documents, row_bytes, file_bytes) = db
        .query(
            "SELECT CAST(COALESCE(SUM(documents), 0) AS BIGINT), CAST(COALESCE(SUM(storage_bytes), 0) AS BIGINT),
                 CAST(COALESCE(SUM(file_bytes), 0) AS BIGINT)
             FROM network_usage WHERE network_id = $1",
        )
        .bind(network)
        .one()
        .await?;
    let module_store_bytes = module_store_bytes(module_store, network).await?;
    Ok(StorageCounts { documents, row_bytes, module_store_bytes, file_bytes })
}
