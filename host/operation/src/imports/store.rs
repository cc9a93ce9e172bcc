//! All SQL of imports.

use std::collections::{BTreeMap, HashMap};

use hub_db::{Backend, Db, Error, Sql, Tx};

use crate::auth::KeyId;
use crate::clock::Millis;
use crate::imports::model::{Import, ImportFailure, ImportKind, ImportState};
use crate::imports::record::SourceKey;
use crate::imports::report::Report;
use crate::values::NetworkId;

macro_rules! columns {
    () => {
        "network_id, import_id, kind, dry_run, options, sha256, file_size, state, done, total, counts,
         notes, more_notes, error, error_line, key_id, created_at, started_at, finished_at"
    };
}

#[derive(sqlx::FromRow)]
struct ImportRow {
    network_id: NetworkId,
    import_id: String,
    kind: String,
    dry_run: bool,
    options: String,
    sha256: String,
    file_size: i64,
    state: String,
    done: i64,
    total: Option<i64>,
    counts: String,
    notes: String,
    more_notes: i64,
    error: Option<String>,
    error_line: Option<i64>,
    key_id: KeyId,
    created_at: Millis,
    started_at: Option<Millis>,
    finished_at: Option<Millis>,
}

fn unreadable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    sqlx::Error::Decode(error.into()).into()
}

fn json(value: &impl serde::Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| sqlx::Error::Encode(error.into()).into())
}

impl TryFrom<ImportRow> for Import {
    type Error = Error;

    fn try_from(row: ImportRow) -> Result<Self, Error> {
        let counts: BTreeMap<_, _> = serde_json::from_str(&row.counts).map_err(unreadable)?;
        let notes = serde_json::from_str(&row.notes).map_err(unreadable)?;
        Ok(Self {
            network: row.network_id,
            id: row.import_id,
            kind: row.kind.parse().map_err(unreadable)?,
            dry_run: row.dry_run,
            options: serde_json::from_str(&row.options).map_err(unreadable)?,
            sha256: row.sha256,
            file_size: row.file_size,
            state: row.state.parse().map_err(unreadable)?,
            done: row.done,
            total: row.total,
            report: Report { counts, notes, more_notes: row.more_notes },
            failure: row.error.map(|message| ImportFailure { line: row.error_line, message }),
            key: row.key_id,
            created_at: row.created_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
        })
    }
}

fn kind(kind: ImportKind) -> &'static str {
    kind.into()
}

fn state(state: ImportState) -> &'static str {
    state.into()
}

/// True if an import of the network is unfinished.
pub(super) async fn is_busy(db: &Db, network: NetworkId) -> Result<bool, Error> {
    let row: Option<(String,)> = db
        .query("SELECT import_id FROM imports WHERE network_id = $1 AND state IN ('QUEUED', 'RUNNING')")
        .bind(network)
        .optional()
        .await?;
    Ok(row.is_some())
}

/// Adds an import; false, without a change, if another one is unfinished.
pub(super) async fn insert(tx: &mut Tx, import: &Import) -> Result<bool, Error> {
    let rows = tx
        .query(
            "INSERT INTO imports (network_id, import_id, kind, dry_run, options, sha256, file_size, size_bytes, state, done,
                 counts, notes, more_notes, key_id, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8, 0, '{}', '[]', 0, $9, $10)
             ON CONFLICT DO NOTHING",
        )
        .bind(import.network)
        .bind(&import.id)
        .bind(kind(import.kind))
        .bind(import.dry_run)
        .bind(json(&import.options)?)
        .bind(&import.sha256)
        .bind(import.file_size)
        .bind(state(import.state))
        .bind(&import.key)
        .bind(import.created_at)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Deletes ended imports except the `kept` newest ones.
pub(super) async fn forget_oldest(tx: &mut Tx, network: NetworkId, kept: i64) -> Result<(), Error> {
    tx.query(
        "DELETE FROM imports WHERE network_id = $1 AND state NOT IN ('QUEUED', 'RUNNING') AND import_id NOT IN (
             SELECT i.import_id FROM imports i WHERE i.network_id = $1
             ORDER BY i.created_at DESC, i.import_id DESC LIMIT $2)",
    )
    .bind(network)
    .bind(kept)
    .execute()
    .await?;
    Ok(())
}

pub(super) async fn find(db: &Db, network: NetworkId, id: &str) -> Result<Option<Import>, Error> {
    let row: Option<ImportRow> = db
        .query(concat!("SELECT ", columns!(), " FROM imports WHERE network_id = $1 AND import_id = $2"))
        .bind(network)
        .bind(id)
        .optional()
        .await?;
    row.map(Import::try_from).transpose()
}

/// Imports of the network, newest first, and their number.
pub(super) async fn list(db: &Db, network: NetworkId, limit: i64, offset: i64) -> Result<(Vec<Import>, i64), Error> {
    let (rows, total): (Vec<ImportRow>, i64) = db
        .page(
            "SELECT COUNT(*) FROM imports WHERE network_id = $1",
            concat!(
                "SELECT ",
                columns!(),
                " FROM imports WHERE network_id = $1 ORDER BY created_at DESC, import_id DESC LIMIT $2 OFFSET $3"
            ),
            |statement| statement.bind(network),
            limit,
            offset,
        )
        .await?;
    Ok((rows.into_iter().map(Import::try_from).collect::<Result<_, _>>()?, total))
}

/// Unfinished import that a key or person started.
pub(super) async fn unfinished_of(tx: &mut Tx, network: NetworkId, creator: &str) -> Result<Option<Import>, Error> {
    let row: Option<ImportRow> = tx
        .query(concat!(
            "SELECT ",
            columns!(),
            " FROM imports WHERE network_id = $1 AND key_id = $2 AND state IN ('QUEUED', 'RUNNING')"
        ))
        .bind(network)
        .bind(creator)
        .optional()
        .await?;
    row.map(Import::try_from).transpose()
}

/// Has the unfinished imports of a key count as another's.
pub(super) async fn pass_on(tx: &mut Tx, network: NetworkId, from: &str, to: &str) -> Result<(), Error> {
    let pass = "UPDATE imports SET key_id = $3
         WHERE network_id = $1 AND key_id = $2 AND state IN ('QUEUED', 'RUNNING')";
    tx.query(pass).bind(network).bind(from).bind(to).execute().await?;
    Ok(())
}

/// Records that an import begins or continues.
pub(super) async fn begin(db: &Db, network: NetworkId, id: &str, now: Millis) -> Result<bool, Error> {
    let rows = db
        .write(
            "UPDATE imports SET state = 'RUNNING', started_at = COALESCE(started_at, $3)
             WHERE network_id = $1 AND import_id = $2 AND state IN ('QUEUED', 'RUNNING')",
        )
        .bind(network)
        .bind(id)
        .bind(now)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Stores the number of records.
pub(super) async fn set_total(db: &Db, network: NetworkId, id: &str, total: i64) -> Result<bool, Error> {
    let rows = db
        .write("UPDATE imports SET total = $3 WHERE network_id = $1 AND import_id = $2 AND state = 'RUNNING'")
        .bind(network)
        .bind(id)
        .bind(total)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Moves an import's position from the expected one; false if it no longer runs or does not exist. The report's notes
/// are written if there are new ones.
pub(super) async fn advance(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    (before, done): (i64, i64),
    report: &Report,
    has_new_notes: bool,
) -> Result<bool, Error> {
    let notes = if has_new_notes { Some(json(&report.notes)?) } else { None };
    let rows = tx
        .query(
            "UPDATE imports SET done = $3, counts = $4, notes = COALESCE($5, notes), more_notes = $6
             WHERE network_id = $1 AND import_id = $2 AND state = 'RUNNING' AND done = $7",
        )
        .bind(network)
        .bind(id)
        .bind(done)
        .bind(json(&report.counts)?)
        .bind(notes)
        .bind(report.more_notes)
        .bind(before)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Ends an import; false if it has already ended.
pub(super) async fn finish(
    tx: &mut Tx,
    network: NetworkId,
    id: &str,
    ended: (ImportState, Option<&ImportFailure>),
    now: Millis,
) -> Result<bool, Error> {
    let (into, failure) = ended;
    let rows = tx
        .query(
            "UPDATE imports SET state = $3, error = $4, error_line = $5, finished_at = $6, size_bytes = 0
             WHERE network_id = $1 AND import_id = $2 AND state IN ('QUEUED', 'RUNNING')",
        )
        .bind(network)
        .bind(id)
        .bind(state(into))
        .bind(failure.map(|failure| &failure.message))
        .bind(failure.and_then(|failure| failure.line))
        .bind(now)
        .execute()
        .await?;
    Ok(rows > 0)
}

/// Looks up each key separately: PostgreSQL, whose statistics lag behind an import, would otherwise read a whole
/// source per batch.
const KNOWN: Sql = Sql {
    sqlite: "SELECT source_key, value FROM import_sources
             WHERE network_id = $1 AND source = $2 AND source_key IN (SELECT value FROM json_each($3))",
    postgres: "SELECT known.source_key, known.value FROM jsonb_array_elements_text(CAST($3 AS JSONB)) AS keys (key)
               CROSS JOIN LATERAL (SELECT source_key, value FROM import_sources
                                   WHERE network_id = $1 AND source = $2 AND source_key = keys.key LIMIT 1) AS known",
};

/// Results of these records of a source, by key.
pub(super) async fn known(
    db: &Db,
    network: NetworkId,
    source: &str,
    keys: &[&str],
) -> Result<HashMap<String, i64>, Error> {
    let rows: Vec<(String, i64)> = db.query(KNOWN).bind(network).bind(source).bind(json(&keys)?).all().await?;
    Ok(rows.into_iter().collect())
}

const REMEMBER: Sql = Sql {
    sqlite: "INSERT INTO import_sources (network_id, source, source_key, value)
             SELECT $1, value ->> 0, value ->> 1, value ->> 2 FROM json_each($2) WHERE TRUE
             ON CONFLICT (network_id, source, source_key) DO UPDATE SET value = excluded.value",
    postgres: "INSERT INTO import_sources (network_id, source, source_key, value)
               SELECT $1, made ->> 0, made ->> 1, CAST(made ->> 2 AS BIGINT)
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS made
               ON CONFLICT (network_id, source, source_key) DO UPDATE SET value = excluded.value",
};

/// Stores the results of records.
pub(super) async fn remember(tx: &mut Tx, network: NetworkId, made: &HashMap<&SourceKey, i64>) -> Result<(), Error> {
    if made.is_empty() {
        return Ok(());
    }
    let made: Vec<_> = made.iter().map(|(key, value)| (&key.source, &key.key, value)).collect();
    tx.query(REMEMBER).bind(network).bind(json(&made)?).execute().await?;
    Ok(())
}

/// Makes PostgreSQL analyze the tables that an import fills. Its automatic analysis comes a minute later; until then
/// it looks up single rows as if the tables were empty: by reading all of the network's. Crosses networks: it reads a
/// sample of each table.
pub(super) async fn analyze(db: &Db, kind: ImportKind) -> Result<(), Error> {
    let postgres = match kind {
        ImportKind::LuckPerms => "ANALYZE permission_nodes, player_permission_revisions",
        ImportKind::LiteBans
        | ImportKind::Vanilla
        | ImportKind::AdvancedBan
        | ImportKind::LibertyBans
        | ImportKind::BanManager => "ANALYZE punishments, player_names, player_addresses, import_sources",
        ImportKind::Balances | ImportKind::PlayerPoints | ImportKind::XConomy => {
            "ANALYZE balances, currency_ledger, import_sources"
        }
    };
    if db.backend() == Backend::Postgres {
        db.write(postgres).execute().await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::query_plans;

    #[tokio::test]
    async fn imports_are_found_by_their_indexes() {
        for plan in query_plans(&[KNOWN.sqlite]).await {
            assert!(!plan.iter().any(|step| step.contains("SCAN import_sources")), "{plan:#?}");
        }
    }
}
