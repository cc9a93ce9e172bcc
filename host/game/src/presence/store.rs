//! SQL of the registry.

pub(super) mod presence;
pub(super) mod reservations;
mod row;
pub(super) mod under_lease;

use hub_db::{Db, Error, Sql};

use crate::clock::Millis;
use crate::geo::Region;
use crate::limits::{Limit, Rows};
use crate::presence::registry::{RegistryRow, Search};
use crate::presence::store::row::{ServerRow, server_columns};
use crate::values::{Identifier, NetworkId, like_pattern};

fn json(value: &impl serde::Serialize) -> String {
    // Plain records of texts and numbers always serialize.
    serde_json::to_string(value).unwrap_or_else(|_| "[]".to_owned())
}

/// All servers of a network's registry.
pub(super) const KNOWN_SERVERS: Rows =
    Rows::few(Limit::KnownServers, "SELECT COUNT(*) FROM servers WHERE network_id = $1");

/// Deletes the servers offline for longest. Returns their number.
pub(super) async fn forget_offline(db: &Db, network: NetworkId, most: i64) -> Result<u64, Error> {
    db.write(
        "DELETE FROM servers WHERE network_id = $1 AND server_id IN (
             SELECT server_id FROM servers WHERE network_id = $1 AND NOT present ORDER BY last_seen, server_id LIMIT $2)",
    )
    .bind(network)
    .bind(most)
    .execute()
    .await
}

pub(super) async fn exists(db: &Db, network: NetworkId, id: &Identifier) -> Result<bool, Error> {
    let row: Option<(Identifier,)> = db
        .query("SELECT server_id FROM servers WHERE network_id = $1 AND server_id = $2")
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Servers with a heartbeat since a time, the latest first.
pub(super) async fn seen_since(
    db: &Db,
    network: NetworkId,
    since: Millis,
    most: usize,
) -> Result<Vec<(Identifier, Millis)>, Error> {
    db.query(
        "SELECT server_id, last_seen FROM servers WHERE network_id = $1 AND last_seen >= $2
         ORDER BY last_seen DESC, server_id LIMIT $3",
    )
    .bind(network)
    .bind(since)
    .bind(i64::try_from(most).unwrap_or(i64::MAX))
    .all()
    .await
}

/// Conditions of a search; `$6` has the ids of the online servers.
macro_rules! filter {
    ($online_ids:literal) => {
        concat!(
            " AND ($2 IS NULL OR server_type = $2) AND ($3 IS NULL OR region = $3)
              AND ($4 IS NULL OR search_text LIKE $4 ESCAPE '\\') AND ($5 IS NULL OR (server_id IN (SELECT ",
            $online_ids,
            ")) = $5)"
        )
    };
}

macro_rules! count {
    ($online_ids:literal) => {
        concat!(
            "SELECT (SELECT COUNT(*) FROM servers WHERE network_id = $1",
            filter!($online_ids),
            ") + (SELECT COUNT(*) FROM provisioned_servers WHERE network_id = $1",
            filter!($online_ids),
            " AND NOT EXISTS (SELECT s.server_id FROM servers s
                 WHERE s.network_id = $1 AND s.server_id = provisioned_servers.server_id))"
        )
    };
}

macro_rules! ids {
    ($online_ids:literal) => {
        concat!(
            "SELECT server_id FROM servers WHERE network_id = $1",
            filter!($online_ids),
            " UNION ALL SELECT server_id FROM provisioned_servers WHERE network_id = $1",
            filter!($online_ids),
            " AND NOT EXISTS (SELECT s.server_id FROM servers s
                 WHERE s.network_id = $1 AND s.server_id = provisioned_servers.server_id)
             ORDER BY server_id LIMIT $7 OFFSET $8"
        )
    };
}

const COUNT: Sql = Sql {
    sqlite: count!("value FROM json_each($6)"),
    postgres: count!("jsonb_array_elements_text(CAST($6 AS JSONB))"),
};
const IDS: Sql =
    Sql { sqlite: ids!("value FROM json_each($6)"), postgres: ids!("jsonb_array_elements_text(CAST($6 AS JSONB))") };

/// Ids of the servers that a search finds, and their number. `online` has the ids of the online ones, for a search that
/// asks.
pub(super) async fn list(
    db: &Db,
    network: NetworkId,
    search: &Search,
    online: &[Identifier],
    limit: i64,
    offset: i64,
) -> Result<(Vec<Identifier>, i64), Error> {
    let region = search.region.as_ref().map(Region::as_str);
    let pattern = search.text.as_deref().map(|text| like_pattern(&text.to_lowercase()));
    let online = json(&online);
    let (ids, total): (Vec<(Identifier,)>, _) = db
        .page(
            COUNT,
            IDS,
            |list| {
                let list = list.bind(network).bind(&search.server_type).bind(region).bind(&pattern);
                list.bind(search.online).bind(&online)
            },
            limit,
            offset,
        )
        .await?;
    Ok((ids.into_iter().map(|(id,)| id).collect(), total))
}

/// Registry rows of these servers.
pub(super) async fn find_all(db: &Db, network: NetworkId, ids: &[Identifier]) -> Result<Vec<RegistryRow>, Error> {
    let rows: Vec<ServerRow> = db
        .query(Sql {
            sqlite: concat!(
                "SELECT ",
                server_columns!(),
                " FROM servers WHERE network_id = $1 AND server_id IN (SELECT value FROM json_each($2))"
            ),
            postgres: concat!(
                "SELECT ",
                server_columns!(),
                " FROM servers WHERE network_id = $1
                    AND server_id IN (SELECT jsonb_array_elements_text(CAST($2 AS JSONB)))"
            ),
        })
        .bind(network)
        .bind(json(&ids))
        .all()
        .await?;
    Ok(rows.into_iter().map(ServerRow::registered).collect())
}
