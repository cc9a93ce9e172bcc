//! All SQL of the audit log. Entries are never changed.

use hub_db::{Db, Error, Sql, Tx};
use serde_json::{Value, json};

use crate::auth::Actor;
use crate::clock::Millis;
use crate::values::NetworkId;

/// Entry to write.
#[derive(Clone, Debug)]
pub(super) struct NewEntry<'a> {
    pub(super) id: &'a str,
    pub(super) at: Millis,
    pub(super) actor: &'a Actor,
    pub(super) action: &'static str,
    pub(super) target: &'a str,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) request_id: Option<&'a str>,
    pub(super) address: Option<String>,
}

/// Entry as stored.
#[derive(Clone, Debug, sqlx::FromRow)]
pub struct EntryRow {
    pub id: String,
    pub at: Millis,
    pub actor_type: String,
    pub actor_id: String,
    pub actor_name: String,
    pub action: String,
    pub target: String,
    pub value_before: Option<String>,
    pub value_after: Option<String>,
    pub request_id: Option<String>,
    pub address: Option<String>,
}

/// Filter of entries.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub actor: Option<String>,
    pub action: Option<String>,
}

pub(super) async fn insert(tx: &mut Tx, network: NetworkId, entry: &NewEntry<'_>) -> Result<(), Error> {
    tx.query(
        "INSERT INTO audit_log (network_id, id, at, actor_type, actor_id, actor_name, action, target, value_before,
             value_after, request_id, address)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    )
    .bind(network)
    .bind(entry.id)
    .bind(entry.at)
    .bind(<&str>::from(entry.actor.kind))
    .bind(&entry.actor.id)
    .bind(&entry.actor.name)
    .bind(entry.action)
    .bind(entry.target)
    .bind(&entry.before)
    .bind(&entry.after)
    .bind(entry.request_id)
    .bind(&entry.address)
    .execute()
    .await?;
    Ok(())
}

/// Copies a network's entry to the logs of other networks, with the same id.
pub(super) async fn copy(tx: &mut Tx, network: NetworkId, id: &str, to: &[NetworkId]) -> Result<(), Error> {
    let to: Value = to.iter().map(|network| json!(network)).collect();
    // Crosses networks: the entry concerns all of them.
    tx.query(Sql {
        sqlite:
            "INSERT INTO audit_log (network_id, id, at, actor_type, actor_id, actor_name, action, target, value_before,
                     value_after, request_id, address)
                 SELECT unhex(replace(value, '-', '')), a.id, a.at, a.actor_type, a.actor_id, a.actor_name, a.action,
                        a.target, a.value_before, a.value_after, a.request_id, a.address
                 FROM audit_log a, json_each($3) WHERE a.network_id = $1 AND a.id = $2",
        postgres: "INSERT INTO audit_log (network_id, id, at, actor_type, actor_id, actor_name, action, target,
                       value_before, value_after, request_id, address)
                   SELECT CAST(value AS UUID), a.id, a.at, a.actor_type, a.actor_id, a.actor_name, a.action, a.target,
                          a.value_before, a.value_after, a.request_id, a.address
                   FROM audit_log a, jsonb_array_elements_text(CAST($3 AS JSONB)) AS value
                   WHERE a.network_id = $1 AND a.id = $2",
    })
    .bind(network)
    .bind(id)
    .bind(to.to_string())
    .execute()
    .await?;
    Ok(())
}

macro_rules! select_entries {
    ($rest:literal) => {
        // Crosses networks: never, since each condition begins with the network.
        concat!(
            "SELECT id, at, actor_type, actor_id, actor_name, action, target, value_before, value_after, request_id, address
             FROM audit_log ",
            $rest
        )
    };
}

/// Statements of a page: count and rows, for each index that the filter allows.
const ALL: [&str; 2] = [
    "SELECT COUNT(*) FROM audit_log WHERE network_id = $1 AND id < $2",
    select_entries!("WHERE network_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3 OFFSET $4"),
];
const OF_ACTOR: [&str; 2] = [
    "SELECT COUNT(*) FROM audit_log WHERE network_id = $1 AND id < $2 AND actor_id = $3",
    select_entries!("WHERE network_id = $1 AND id < $2 AND actor_id = $3 ORDER BY id DESC LIMIT $4 OFFSET $5"),
];
const OF_ACTION: [&str; 2] = [
    "SELECT COUNT(*) FROM audit_log WHERE network_id = $1 AND id < $2 AND action = $3",
    select_entries!("WHERE network_id = $1 AND id < $2 AND action = $3 ORDER BY id DESC LIMIT $4 OFFSET $5"),
];
const OF_BOTH: [&str; 2] = [
    "SELECT COUNT(*) FROM audit_log WHERE network_id = $1 AND id < $2 AND actor_id = $3 AND action = $4",
    select_entries!(
        "WHERE network_id = $1 AND id < $2 AND actor_id = $3 AND action = $4 ORDER BY id DESC LIMIT $5 OFFSET $6"
    ),
];

/// Higher than every id.
const LAST: &str = "~";

/// Entries with ids below `before`, newest first, and their number.
pub(super) async fn page(
    db: &Db,
    network: NetworkId,
    filter: &Filter,
    before: Option<&str>,
    limit: i64,
    offset: i64,
) -> Result<(Vec<EntryRow>, i64), Error> {
    let [count, page] = match (&filter.actor, &filter.action) {
        (None, None) => ALL,
        (Some(_), None) => OF_ACTOR,
        (None, Some(_)) => OF_ACTION,
        (Some(_), Some(_)) => OF_BOTH,
    };
    db.page(
        count,
        page,
        |statement| {
            let mut statement = statement.bind(network).bind(before.unwrap_or(LAST));
            for value in [&filter.actor, &filter.action].into_iter().flatten() {
                statement = statement.bind(value);
            }
            statement
        },
        limit,
        offset,
    )
    .await
}

/// One entry.
const ONE: &str = select_entries!("WHERE network_id = $1 AND id = $2");

pub(super) async fn find(db: &Db, network: NetworkId, id: &str) -> Result<Option<EntryRow>, Error> {
    db.query(ONE).bind(network).bind(id).optional().await
}

/// Entries after an id, oldest first, for an export.
const AFTER: &str = select_entries!("WHERE network_id = $1 AND id > $2 ORDER BY id LIMIT $3");

/// Entries with ids above `after`, oldest first.
pub(super) async fn after(db: &Db, network: NetworkId, after: &str, limit: i64) -> Result<Vec<EntryRow>, Error> {
    db.query(AFTER).bind(network).bind(after).bind(limit).all().await
}

/// Targets of an action in entries above an id, newest first.
pub(super) async fn targets_after(
    db: &Db,
    network: NetworkId,
    action: &str,
    after: &str,
    limit: i64,
) -> Result<Vec<String>, Error> {
    let rows: Vec<(String,)> = db
        .query(
            "SELECT target FROM audit_log WHERE network_id = $1 AND action = $2 AND id > $3 ORDER BY id DESC LIMIT $4",
        )
        .bind(network)
        .bind(action)
        .bind(after)
        .bind(limit)
        .all()
        .await?;
    Ok(rows.into_iter().map(|(target,)| target).collect())
}

/// Networks with entries, starting after `after`.
pub(super) async fn networks(db: &Db, after: NetworkId, limit: i64) -> Result<Vec<NetworkId>, Error> {
    // Crosses networks: one loop serves all of them.
    let rows: Vec<(NetworkId,)> = db
        .query("SELECT network_id FROM networks WHERE network_id > $1 ORDER BY network_id LIMIT $2")
        .bind(after)
        .bind(limit)
        .readable()
        .await?;
    Ok(rows.into_iter().map(|(network,)| network).collect())
}

/// Newest entry that exceeds the `most` newest ones.
pub(super) async fn first_over(db: &Db, network: NetworkId, most: i64) -> Result<Option<String>, Error> {
    let row: Option<(String,)> = db
        .query("SELECT id FROM audit_log WHERE network_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2")
        .bind(network)
        .bind(most)
        .optional()
        .await?;
    Ok(row.map(|(id,)| id))
}

/// Deletes at most `limit` entries up to this id. Returns their number.
pub(super) async fn delete_until(db: &Db, network: NetworkId, id: &str, limit: i64) -> Result<u64, Error> {
    db.write(
        "DELETE FROM audit_log WHERE network_id = $1 AND id IN (
             SELECT id FROM audit_log WHERE network_id = $1 AND id <= $2 ORDER BY id LIMIT $3)",
    )
    .bind(network)
    .bind(id)
    .bind(limit)
    .execute()
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn pages_are_read_from_their_indexes() {
        let statements: Vec<_> = [ALL, OF_ACTOR, OF_ACTION, OF_BOTH].concat().into_iter().chain([ONE, AFTER]).collect();
        for (statement, plan) in statements.iter().zip(query_plans(&statements).await) {
            let searches = plan.iter().all(|step| step.starts_with("SEARCH audit_log USING"));
            assert!(searches && plan.len() == 1, "{statement}: {plan:?}");
        }
    }
}
