//! SQL of provisioned servers.

use hub_db::{Db, Error, Sql, Tx};

use crate::clock::Millis;
use crate::geo::Region;
use crate::limits::{Limit, Rows};
use crate::presence::model::search_text;
use crate::presence::provisioned::model::{MachineSpec, Phase, ProvisionedServer};
use crate::values::{Identifier, NetworkId};

/// All servers of a network that are, or were, provisioned.
pub(super) const PROVISIONED_SERVERS: Rows =
    Rows::few(Limit::ProvisionedServers, "SELECT COUNT(*) FROM provisioned_servers WHERE network_id = $1");

/// Selects the network's rows as [`Row`]s; `$rest` follows the first condition.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT p.server_id, p.server_type, p.display_name, p.provider, p.phase, p.desired_state, p.region,
                 p.server_vm_type, p.ipv4, p.verify_url, p.user_code, p.created_at, p.updated_at,
                 EXISTS (SELECT s.server_id FROM servers s
                     WHERE s.network_id = $1 AND s.server_id = p.server_id) AS registered
             FROM provisioned_servers p WHERE p.network_id = $1 ",
            $rest
        )
    };
}

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
        // The code is used, or the server signed in by another way.
        let is_awaiting = phase == Phase::AwaitingAuth;
        Self {
            server_id: row.server_id,
            spec: MachineSpec {
                server_type: row.server_type,
                display_name: row.display_name,
                provider: row.provider,
                desired_state: row.desired_state.parse().unwrap_or_default(),
                region: row.region.and_then(|region| Region::try_from(region).ok()),
                server_vm_type: row.server_vm_type,
                ipv4: row.ipv4,
            },
            phase,
            verify_url: row.verify_url.filter(|_| is_awaiting),
            user_code: row.user_code.filter(|_| is_awaiting),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// Saves a sign-in; false, without effect, if the server has registered.
pub(super) async fn await_auth(
    db: &Db,
    network: NetworkId,
    server: &Identifier,
    verify_url: &str,
    user_code: &str,
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
        .bind(server)
        .bind(search_text(server, None))
        .bind(verify_url)
        .bind(user_code)
        .bind(now)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Saves a machine; its phase stays.
pub(super) async fn put(
    tx: &mut Tx,
    network: NetworkId,
    server: &Identifier,
    spec: &MachineSpec,
    now: Millis,
) -> Result<(), Error> {
    tx.query(
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
    .bind(server)
    .bind(&spec.server_type)
    .bind(&spec.display_name)
    .bind(search_text(server, spec.display_name.as_deref()))
    .bind(&spec.provider)
    .bind(spec.desired_state.as_ref())
    .bind(spec.region.as_ref().map(Region::as_str))
    .bind(&spec.server_vm_type)
    .bind(&spec.ipv4)
    .bind(now)
    .execute()
    .await?;
    Ok(())
}

/// Servers among `ids` that are, or were, provisioned.
pub(in crate::presence) async fn find_all(
    db: &Db,
    network: NetworkId,
    ids: &[Identifier],
) -> Result<Vec<ProvisionedServer>, Error> {
    let rows: Vec<Row> = db
        .query(Sql {
            sqlite: select!("AND p.server_id IN (SELECT value FROM json_each($2))"),
            postgres: select!("AND p.server_id IN (SELECT jsonb_array_elements_text(CAST($2 AS JSONB)))"),
        })
        .bind(network)
        .bind(serde_json::json!(ids).to_string())
        .all()
        .await?;
    Ok(rows.into_iter().map(ProvisionedServer::from).collect())
}

/// Lets no other request change the machine before the transaction ends.
pub(super) async fn lock(tx: &mut Tx, network: NetworkId, server: &Identifier) -> Result<(), Error> {
    let lock = "UPDATE provisioned_servers SET server_id = server_id WHERE network_id = $1 AND server_id = $2";
    tx.query(lock).bind(network).bind(server).execute().await.map(drop)
}

/// One machine.
pub(super) async fn find(
    tx: &mut Tx,
    network: NetworkId,
    server: &Identifier,
) -> Result<Option<ProvisionedServer>, Error> {
    let row: Option<Row> = tx.query(select!("AND p.server_id = $2")).bind(network).bind(server).optional().await?;
    Ok(row.map(ProvisionedServer::from))
}

/// True if the server is, or was, provisioned.
pub(in crate::presence) async fn exists(db: &Db, network: NetworkId, id: &Identifier) -> Result<bool, Error> {
    let row: Option<(Identifier,)> = db
        .query("SELECT server_id FROM provisioned_servers WHERE network_id = $1 AND server_id = $2")
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Provisioned servers by id, and their number.
pub(super) async fn list(
    db: &Db,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<ProvisionedServer>, i64), Error> {
    let (rows, total): (Vec<Row>, _) = db
        .page(
            "SELECT COUNT(*) FROM provisioned_servers WHERE network_id = $1",
            select!("ORDER BY p.server_id LIMIT $2 OFFSET $3"),
            |list| list.bind(network),
            limit,
            offset,
        )
        .await?;
    Ok((rows.into_iter().map(ProvisionedServer::from).collect(), total))
}

/// Deletes a machine; false if there is none.
pub(super) async fn delete(tx: &mut Tx, network: NetworkId, id: &Identifier) -> Result<bool, Error> {
    let rows = tx
        .query("DELETE FROM provisioned_servers WHERE network_id = $1 AND server_id = $2")
        .bind(network)
        .bind(id)
        .execute()
        .await?;
    Ok(rows > 0)
}
