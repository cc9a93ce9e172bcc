//! All SQL of servers that are being made.

use hub_db::{Db, Error, Sql};

use crate::clock::Millis;
use crate::geo::Region;
use crate::servers::provisioned::model::{DesiredState, Phase, ProvisionedServer, Wish};
use crate::servers::store::search_text;
use crate::values::{Identifier, NetworkId};

#[derive(sqlx::FromRow)]
struct Row {
    server_id: Identifier,
    server_type: Option<Identifier>,
    display_name: Option<String>,
    provider: Option<String>,
    phase: String,
    desired_state: String,
    region: Option<String>,
    server_vm_type: Option<String>,
    ipv4: Option<String>,
    verify_url: Option<String>,
    user_code: Option<String>,
    created_at: Millis,
    updated_at: Millis,
    registered: bool,
}

impl From<Row> for ProvisionedServer {
    fn from(row: Row) -> Self {
        let phase = Phase::of(&row.phase, row.registered);
        // The code has done its work, or the server found another way in.
        let waits = phase == Phase::AwaitingAuth;
        Self {
            server_id: row.server_id,
            wish: Wish {
                server_type: row.server_type,
                display_name: row.display_name,
                provider: row.provider,
                desired_state: DesiredState::from_text(&row.desired_state),
                region: row.region.and_then(|region| Region::try_from(region).ok()),
                server_vm_type: row.server_vm_type,
                ipv4: row.ipv4,
            },
            phase,
            verify_url: row.verify_url.filter(|_| waits),
            user_code: row.user_code.filter(|_| waits),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// False, and nothing is noted, where the server has registered.
pub(super) async fn await_auth(
    db: &Db,
    network: NetworkId,
    server: &Identifier,
    verify_url: String,
    user_code: String,
    now: Millis,
) -> Result<bool, Error> {
    let rows = db
        .write(
            "INSERT INTO provisioned_servers (network_id, server_id, search_text, phase, desired_state, verify_url,
                 user_code, created_at, updated_at)
             SELECT $1, $2, $3, 'AWAITING_AUTH', 'RUNNING', $4, $5, $6, $6
             WHERE NOT EXISTS (SELECT s.server_id FROM servers s WHERE s.network_id = $1 AND s.server_id = $2)
             ON CONFLICT (network_id, server_id) DO UPDATE SET
                 phase = excluded.phase, verify_url = excluded.verify_url, user_code = excluded.user_code,
                 updated_at = excluded.updated_at",
        )
        .bind(network)
        .bind(server.clone())
        .bind(search_text(server, None))
        .bind(verify_url)
        .bind(user_code)
        .bind(now)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Writes all that a provisioner says; how far the machine is stays what it was.
pub(super) async fn put(
    db: &Db,
    network: NetworkId,
    server: &Identifier,
    wish: &Wish,
    now: Millis,
) -> Result<(), Error> {
    db.write(
        "INSERT INTO provisioned_servers (network_id, server_id, server_type, display_name, search_text, provider, phase,
             desired_state, region, server_vm_type, ipv4, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, 'PROVISIONING', $7, $8, $9, $10, $11, $11)
         ON CONFLICT (network_id, server_id) DO UPDATE SET
             server_type = excluded.server_type, display_name = excluded.display_name,
             search_text = excluded.search_text, provider = excluded.provider,
             desired_state = excluded.desired_state, region = excluded.region,
             server_vm_type = excluded.server_vm_type, ipv4 = excluded.ipv4, updated_at = excluded.updated_at",
    )
    .bind(network)
    .bind(server.clone())
    .bind(wish.server_type.clone())
    .bind(wish.display_name.clone())
    .bind(search_text(server, wish.display_name.as_deref()))
    .bind(wish.provider.clone())
    .bind(wish.desired_state.as_str())
    .bind(wish.region.as_ref().map(|region| region.as_str().to_owned()))
    .bind(wish.server_vm_type.clone())
    .bind(wish.ipv4.clone())
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Those of `ids` that are, or were, provisioned.
pub(in crate::servers) async fn among(
    db: &Db,
    network: NetworkId,
    ids: &[Identifier],
) -> Result<Vec<ProvisionedServer>, Error> {
    let rows: Vec<Row> = db
        .query(Sql {
            sqlite: "SELECT p.*, EXISTS (SELECT s.server_id FROM servers s
                         WHERE s.network_id = $1 AND s.server_id = p.server_id) AS registered
                     FROM provisioned_servers p
                     WHERE p.network_id = $1 AND p.server_id IN (SELECT value FROM json_each($2))",
            postgres: "SELECT p.*, EXISTS (SELECT s.server_id FROM servers s
                           WHERE s.network_id = $1 AND s.server_id = p.server_id) AS registered
                       FROM provisioned_servers p
                       WHERE p.network_id = $1
                         AND p.server_id IN (SELECT jsonb_array_elements_text(CAST($2 AS JSONB)))",
        })
        .bind(network)
        .bind(serde_json::json!(ids).to_string())
        .all()
        .await?;
    Ok(rows.into_iter().map(ProvisionedServer::from).collect())
}

/// Whether the server is, or was, provisioned.
pub(in crate::servers) async fn exists(db: &Db, network: NetworkId, id: &Identifier) -> Result<bool, Error> {
    let row: Option<(Identifier,)> = db
        .query("SELECT server_id FROM provisioned_servers WHERE network_id = $1 AND server_id = $2")
        .bind(network)
        .bind(id.clone())
        .optional()
        .await?;
    Ok(row.is_some())
}

/// By id, and how many there are.
pub(super) async fn list(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ProvisionedServer>, i64), Error> {
    let (total,): (i64,) =
        db.query("SELECT COUNT(*) FROM provisioned_servers WHERE network_id = $1").bind(network).one().await?;
    let rows: Vec<Row> = db
        .query(
            "SELECT p.*, EXISTS (SELECT s.server_id FROM servers s
                 WHERE s.network_id = $1 AND s.server_id = p.server_id) AS registered
             FROM provisioned_servers p WHERE p.network_id = $1 ORDER BY p.server_id LIMIT $2 OFFSET $3",
        )
        .bind(network)
        .bind(limit)
        .bind(offset)
        .all()
        .await?;
    Ok((rows.into_iter().map(ProvisionedServer::from).collect(), total))
}

/// False where there is none.
pub(super) async fn delete(db: &Db, network: NetworkId, id: &Identifier) -> Result<bool, Error> {
    let rows = db
        .write("DELETE FROM provisioned_servers WHERE network_id = $1 AND server_id = $2")
        .bind(network)
        .bind(id.clone())
        .execute()
        .await?;
    Ok(rows > 0)
}
