//! All SQL on a SQLite database file, which is not the hub's.
//!
//! The file may be hostile: it is opened read-only, its schema is not trusted, and only stored columns of tables are
//! read.

use std::future::Future;
use std::path::Path;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{Connection as _, Row as _, ValueRef as _};
use tokio::runtime::Handle;

use super::{Reading, TABLES, no_tables};
use crate::imports::record::{ParseError, Sink};
use crate::imports::sql::{Cell, Row};

/// Rows read at once.
const PAGE: i64 = 500;
/// Columns to read, if a table has them.
const COLUMNS: [&str; 19] = [
    "id",
    "uuid",
    "ip",
    "reason",
    "banned_by_uuid",
    "banned_by_name",
    "removed_by_uuid",
    "removed_by_name",
    "removed_by_reason",
    "removed_by_date",
    "time",
    "until",
    "server_scope",
    "ipban",
    "ipban_wildcard",
    "active",
    "date",
    "name",
    "silent",
];

/// Reads the tables of a database on a thread that may block.
pub(in crate::imports) fn read_database(
    file: &Path,
    reading: &Reading<'_>,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let mut database = Database { connection: run(open(file))? };
    let mut is_litebans = false;
    for kind in TABLES {
        let table = format!("{}{kind}", reading.prefix.to_lowercase());
        let columns = run(database.columns(&table))?;
        if columns.is_empty() {
            continue;
        }
        is_litebans = true;
        let mut after = i64::MIN;
        loop {
            let page = run(database.page(&table, &columns, after))?;
            let Some((last, _)) = page.last() else { break };
            after = *last;
            for (_, cells) in &page {
                reading.take(&Row { table: &table, columns: &columns, cells, line: None }, sink)?;
            }
        }
    }
    // It was opened read-only, so a failure to close changes nothing.
    let _ = run(database.connection.close());
    if is_litebans { Ok(()) } else { Err(no_tables(reading.prefix)) }
}

fn run<T>(work: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T, ParseError> {
    Handle::current().block_on(work).map_err(|error| {
        let reason = error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
        ParseError::whole(format!("Cannot read the database: {reason}."))
    })
}

async fn open(file: &Path) -> Result<SqliteConnection, sqlx::Error> {
    let options = SqliteConnectOptions::new()
        .filename(file)
        .read_only(true)
        .immutable(true)
        .pragma("trusted_schema", "OFF")
        .pragma("cell_size_check", "ON")
        .pragma("mmap_size", "0");
    let mut connection = SqliteConnection::connect_with(&options).await?;
    let (found,): (String,) = sqlx::query_as("PRAGMA quick_check(1)").fetch_one(&mut connection).await?;
    if found == "ok" { Ok(connection) } else { Err(sqlx::Error::Protocol(format!("it is damaged: {found}"))) }
}

struct Database {
    connection: SqliteConnection,
}

impl Database {
    /// Columns to read of a table; empty if the table is missing. Crosses networks: it is another tool's database.
    async fn columns(&mut self, table: &str) -> Result<Vec<String>, sqlx::Error> {
        let is_table: Option<(i64,)> = sqlx::query_as(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND lower(name) = ?1
                 AND lower(sql) LIKE 'create table%' AND lower(sql) NOT LIKE '%without%rowid%'",
        )
        .bind(table)
        .fetch_optional(&mut self.connection)
        .await?;
        if is_table.is_none() {
            return Ok(vec![]);
        }
        // Without computed columns. Crosses networks: see above.
        let found: Vec<(String,)> = sqlx::query_as("SELECT lower(name) FROM pragma_table_xinfo(?1) WHERE hidden = 0")
            .bind(table)
            .fetch_all(&mut self.connection)
            .await?;
        Ok(found.into_iter().map(|(name,)| name).filter(|name| COLUMNS.contains(&name.as_str())).collect())
    }

    /// Next rows of a table, with their numbers.
    async fn page(
        &mut self,
        table: &str,
        columns: &[String],
        after: i64,
    ) -> Result<Vec<(i64, Vec<Cell>)>, sqlx::Error> {
        // The names are from the lists above; texts are cut long before they are too long. Crosses networks: see
        // above.
        let columns: Vec<_> = columns.iter().map(|name| format!("substr(CAST(\"{name}\" AS TEXT), 1, 4096)")).collect();
        let sql = format!(
            "SELECT rowid, {} FROM \"{}\" WHERE rowid > ?1 ORDER BY rowid LIMIT {PAGE}",
            columns.join(", "),
            table.replace('"', "\"\"")
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(after).fetch_all(&mut self.connection).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, cells(row)?))).collect()
    }
}

fn cells(row: &SqliteRow) -> Result<Vec<Cell>, sqlx::Error> {
    let cell = |at: usize| -> Result<Cell, sqlx::Error> {
        if row.try_get_raw(at)?.is_null() {
            return Ok(Cell::Null);
        }
        Ok(Cell::Text(row.try_get::<String, _>(at)?.into_bytes()))
    };
    (1..row.len()).map(cell).collect()
}
