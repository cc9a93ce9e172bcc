//! All SQL of plans, which belong to no network.

use hub_db::{Db, Error, Executor, Tx};

use crate::clock::Millis;
use crate::values::NetworkId;

/// A plan's row.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(crate) struct PlanRow {
    pub name: String,
    pub limits: String,
    pub module_limits: String,
    pub created_at: Millis,
    pub updated_at: Millis,
}

/// Inserts a plan; false if the name is taken.
pub(super) async fn insert(on: impl Into<Executor<'_>>, row: &PlanRow) -> Result<bool, Error> {
    // Crosses networks: plans are the operator's.
    let rows = on
        .into()
        .write(
            "INSERT INTO plans (name, limits, module_limits, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (name) DO NOTHING",
        )
        .bind(&row.name)
        .bind(&row.limits)
        .bind(&row.module_limits)
        .bind(row.created_at)
        .bind(row.updated_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Replaces a plan; none if there is none of this name.
pub(super) async fn update(
    tx: &mut Tx,
    name: &str,
    limits: &str,
    module_limits: &str,
    now: Millis,
) -> Result<Option<PlanRow>, Error> {
    // Crosses networks: plans are the operator's.
    tx.query(
        "UPDATE plans SET limits = $2, module_limits = $3, updated_at = $4 WHERE name = $1
         RETURNING name, limits, module_limits, created_at, updated_at",
    )
    .bind(name)
    .bind(limits)
    .bind(module_limits)
    .bind(now)
    .optional()
    .await
}

pub(super) async fn find(on: impl Into<Executor<'_>>, name: &str) -> Result<Option<PlanRow>, Error> {
    // Crosses networks: plans are the operator's.
    on.into()
        .query("SELECT name, limits, module_limits, created_at, updated_at FROM plans WHERE name = $1")
        .bind(name)
        .optional()
        .await
}

/// Plan of a network.
pub(super) async fn of_network(db: &Db, network: NetworkId) -> Result<Option<PlanRow>, Error> {
    db.query(
        "SELECT p.name, p.limits, p.module_limits, p.created_at, p.updated_at
         FROM networks n JOIN plans p ON p.name = n.plan WHERE n.network_id = $1",
    )
    .bind(network)
    .optional()
    .await
}

/// Plans by name, and their number.
pub(super) async fn list(db: &Db, limit: i64, offset: i64) -> Result<(Vec<PlanRow>, i64), Error> {
    // Crosses networks: plans are the operator's.
    let count = "SELECT COUNT(*) FROM plans";
    // Crosses networks: plans are the operator's.
    let page = "SELECT name, limits, module_limits, created_at, updated_at FROM plans ORDER BY name LIMIT $1 OFFSET $2";
    db.page(count, page, |statement| statement, limit, offset).await
}

/// Keeps a plan from being deleted until the transaction ends; false if there is no such plan.
pub(super) async fn lock(tx: &mut Tx, name: &str) -> Result<bool, Error> {
    // Crosses networks: plans are the operator's.
    let rows = tx.query("UPDATE plans SET name = name WHERE name = $1").bind(name).execute().await?;
    Ok(rows > 0)
}

/// One network on the plan.
pub(super) async fn user(tx: &mut Tx, name: &str) -> Result<Option<String>, Error> {
    // Crosses networks: a plan may be used by any network.
    let row: Option<(String,)> =
        tx.query("SELECT name FROM networks WHERE plan = $1 LIMIT 1").bind(name).optional().await?;
    Ok(row.map(|(name,)| name))
}

/// Networks on the plan.
pub(super) async fn users(tx: &mut Tx, name: &str) -> Result<Vec<NetworkId>, Error> {
    // Crosses networks: a plan may be used by any network.
    let rows: Vec<(NetworkId,)> =
        tx.query("SELECT network_id FROM networks WHERE plan = $1 ORDER BY network_id").bind(name).all().await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

pub(super) async fn delete(tx: &mut Tx, name: &str) -> Result<(), Error> {
    // Crosses networks: plans are the operator's.
    tx.query("DELETE FROM plans WHERE name = $1").bind(name).execute().await?;
    Ok(())
}
