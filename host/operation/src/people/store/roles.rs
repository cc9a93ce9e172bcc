//! SQL of the roles of networks' own.

use hub_db::{Db, Error, Tx};

use crate::limits::Rows;
use crate::people::ROLES;
use crate::values::NetworkId;

/// All roles of a network's own.
pub(in crate::people) const NETWORK_ROLES: Rows =
    Rows::few(ROLES, "SELECT COUNT(*) FROM network_roles WHERE network_id = $1");

/// Scopes of a role. Its row is locked until the transaction ends, so that it is not deleted while it is granted.
pub(in crate::people) async fn lock(tx: &mut Tx, network: NetworkId, name: &str) -> Result<Option<String>, Error> {
    let row: Option<(String,)> = tx
        .query("UPDATE network_roles SET name = name WHERE network_id = $1 AND name = $2 RETURNING scopes")
        .bind(network)
        .bind(name)
        .optional()
        .await?;
    Ok(row.map(|(scopes,)| scopes))
}

/// A role of a network's own.
#[derive(Clone, Debug, sqlx::FromRow)]
pub(in crate::people) struct RoleRow {
    pub(in crate::people) name: String,
    pub(in crate::people) scopes: String,
    pub(in crate::people) created_by: Option<String>,
}

/// A role.
pub(in crate::people) async fn get(db: &Db, network: NetworkId, name: &str) -> Result<Option<RoleRow>, Error> {
    db.query("SELECT name, scopes, created_by FROM network_roles WHERE network_id = $1 AND name = $2")
        .bind(network)
        .bind(name)
        .optional()
        .await
}

/// Roles by name, and their number.
pub(in crate::people) async fn list(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<RoleRow>, i64), Error> {
    db.page(
        "SELECT COUNT(*) FROM network_roles WHERE network_id = $1",
        "SELECT name, scopes, created_by FROM network_roles WHERE network_id = $1 ORDER BY name LIMIT $2 OFFSET $3",
        |statement| statement.bind(network),
        limit,
        offset,
    )
    .await
}

/// Stores a role, replacing any existing one.
pub(in crate::people) async fn put(
    tx: &mut Tx,
    network: NetworkId,
    name: &str,
    (scopes, created_by): (&str, &str),
) -> Result<(), Error> {
    tx.query(
        "INSERT INTO network_roles (network_id, name, scopes, created_by) VALUES ($1, $2, $3, $4)
         ON CONFLICT (network_id, name) DO UPDATE SET scopes = excluded.scopes, created_by = excluded.created_by",
    )
    .bind(network)
    .bind(name)
    .bind(scopes)
    .bind(created_by)
    .execute()
    .await?;
    Ok(())
}

pub(in crate::people) async fn delete(tx: &mut Tx, network: NetworkId, name: &str) -> Result<(), Error> {
    let delete = "DELETE FROM network_roles WHERE network_id = $1 AND name = $2";
    tx.query(delete).bind(network).bind(name).execute().await?;
    Ok(())
}

/// Roles that a key or person set last.
pub(in crate::people) async fn set_by(tx: &mut Tx, network: NetworkId, creator: &str) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> = tx
        .query("SELECT name FROM network_roles WHERE network_id = $1 AND created_by = $2 ORDER BY name")
        .bind(network)
        .bind(creator)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(name,)| name).collect())
}

/// Has the roles of a key count as another's.
pub(in crate::people) async fn pass_on(
    tx: &mut Tx,
    network: NetworkId,
    from: &str,
    to: Option<&str>,
) -> Result<(), Error> {
    let pass = "UPDATE network_roles SET created_by = $3 WHERE network_id = $1 AND created_by = $2";
    tx.query(pass).bind(network).bind(from).bind(to).execute().await?;
    Ok(())
}

/// Members with a role.
pub(in crate::people) async fn holders(tx: &mut Tx, network: NetworkId, name: &str) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> = tx
        .query("SELECT person_id FROM network_members WHERE network_id = $1 AND role = $2 ORDER BY person_id")
        .bind(network)
        .bind(name)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(person,)| person).collect())
}

/// True if an invitation grants the role. A network has few links.
pub(in crate::people) async fn is_invited(tx: &mut Tx, network: NetworkId, name: &str) -> Result<bool, Error> {
    let row: Option<(i64,)> = tx
        .query("SELECT created_at FROM person_links WHERE network_id = $1 AND role = $2 LIMIT 1")
        .bind(network)
        .bind(name)
        .optional()
        .await?;
    Ok(row.is_some())
}
