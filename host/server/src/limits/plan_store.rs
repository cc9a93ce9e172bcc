//! Plans of networks, and what their networks store.

use std::collections::HashMap;

use hub_db::{Db, Error};

use crate::limits::plan::{ModuleLimits, Plan, PlanLimits};
use crate::values::NetworkId;

/// The plan of a network. A plan that is not there, as right after an import, limits nothing.
pub(super) async fn plan_of(db: &Db, network: NetworkId) -> Result<Plan, Error> {
    let row: Option<(String, String)> = db
        .query(
            "SELECT p.limits, p.module_limits FROM networks n JOIN plans p ON p.name = n.plan WHERE n.network_id = $1",
        )
        .bind(network)
        .optional()
        .await?;
    Ok(row.map(|(limits, module_limits)| parse(&limits, &module_limits)).unwrap_or_default())
}

/// What a newer hub wrote and this one can't read limits nothing.
fn parse(limits: &str, module_limits: &str) -> Plan {
    let limits: PlanLimits = serde_json::from_str(limits).unwrap_or_else(|error| {
        tracing::error!(%error, "a plan cannot be read");
        PlanLimits::default()
    });
    let module_limits: ModuleLimits = serde_json::from_str(module_limits).unwrap_or_default();
    Plan::new(&limits, module_limits)
}

/// What the triggers have counted of a network's rows.
pub(super) async fn counted_bytes(db: &Db, network: NetworkId) -> Result<i64, Error> {
    let (bytes,): (i64,) = db
        .query("SELECT CAST(COALESCE(SUM(storage_bytes), 0) AS BIGINT) FROM network_usage WHERE network_id = $1")
        .bind(network)
        .one()
        .await?;
    Ok(bytes)
}

/// What the network's modules have in their stores.
pub(super) async fn module_store_bytes(module_store: &Db, network: NetworkId) -> Result<i64, Error> {
    let (bytes,): (i64,) = module_store
        .query("SELECT CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM module_store_usage WHERE network_id = $1")
        .bind(network)
        .one()
        .await?;
    Ok(bytes)
}

/// What the triggers have counted of a network, and what its modules store.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StorageCounts {
    /// Documents of collections.
    pub(crate) documents: i64,
    /// Bytes of rows, without those of modules' stores.
    pub(crate) row_bytes: i64,
    /// Bytes in modules' stores.
    pub(crate) module_store_bytes: i64,
    /// Bytes of files.
    pub(crate) file_bytes: i64,
}

/// What the networks after `after` store, by their ids.
pub(super) async fn storage_counts(
    db: &Db,
    module_store: &Db,
    after: NetworkId,
    most: i64,
) -> Result<Vec<(NetworkId, StorageCounts)>, Error> {
    // Crosses networks: one loop is for all.
    let rows: Vec<(NetworkId, i64, i64, i64)> = db
        .query(
            "SELECT network_id, CAST(SUM(documents) AS BIGINT), CAST(SUM(storage_bytes) AS BIGINT),
                 CAST(SUM(file_bytes) AS BIGINT)
             FROM network_usage WHERE network_id > $1 GROUP BY network_id ORDER BY network_id LIMIT $2",
        )
        .bind(after)
        .bind(most)
        .all()
        .await?;
    let Some((last, ..)) = rows.last() else { return Ok(vec![]) };
    // Crosses networks: one loop is for all.
    let modules: Vec<(NetworkId, i64)> = module_store
        .query(
            "SELECT network_id, CAST(SUM(bytes) AS BIGINT) FROM module_store_usage
             WHERE network_id > $1 AND network_id <= $2 GROUP BY network_id",
        )
        .bind(after)
        .bind(last)
        .all()
        .await?;
    let modules: HashMap<_, _> = modules.into_iter().collect();
    let counts = |(network, documents, row_bytes, file_bytes)| {
        let module_store_bytes = modules.get(&network).copied().unwrap_or(0);
        (network, StorageCounts { documents, row_bytes, module_store_bytes, file_bytes })
    };
    Ok(rows.into_iter().map(counts).collect())
}

/// What one network stores.
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
