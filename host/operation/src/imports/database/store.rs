//! All SQL on a SQLite database file, which is not the hub's.
//!
//! The file may be hostile: it is opened read-only, its schema is not trusted, only stored columns of tables are read,
//! each table once from its beginning to its end, and no value is loaded whose length was not looked at.

use std::collections::HashMap;
use std::fs::File;
use std::future::Future;
use std::io::Read as _;
use std::path::Path;

use futures_util::TryStreamExt as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{Connection as _, Row as _, TypeInfo as _, ValueRef as _};
use tokio::runtime::Handle;

use super::row::{Cell, Row};
use super::spec::{FoundTable, RowSink, TableSpec, Wanted};
use crate::imports::record::ParseError;
use crate::imports::text::Charset;

/// Maximum length of a value in bytes; a longer one is unreadable.
const LONGEST: usize = 16_384;
/// Rows that the reader may be ahead of this thread.
const READ_AHEAD: usize = 32;
/// Offset of the versions of the file format, which are 2 in WAL mode.
const FORMAT_AT: usize = 18;

/// Reads the wanted tables of a database on a thread that may block.
pub(super) fn read(
    file: &Path,
    wanted: &Wanted<'_>,
    sink: &mut RowSink<'_>,
) -> Result<HashMap<String, FoundTable>, ParseError> {
    refuse_wal(file)?;
    let mut database = Database { connection: run(open(file))? };
    let mut found = HashMap::new();
    for spec in wanted.tables {
        let name = wanted.full_name(spec);
        let columns = run(database.columns(&name, spec))?;
        if columns.is_empty() {
            continue;
        }
        let mut table = FoundTable::new(columns.clone());
        database.rows(&name, &columns, |cells| {
            table.count(sink(&Row::new(&name, &columns, cells, None, Charset::Utf8))?);
            Ok(())
        })?;
        found.insert(name, table);
    }
    // It was opened read-only, so a failure to close changes nothing.
    let _ = run(database.connection.close());
    Ok(found)
}

/// Refuses a database in WAL mode: its newest rows may be in another file.
fn refuse_wal(file: &Path) -> Result<(), ParseError> {
    let mut header = [0; FORMAT_AT + 2];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut header));
    read.map_err(|error| ParseError::whole(format!("Cannot read the database: {error}.")))?;
    if header[FORMAT_AT] == 2 || header[FORMAT_AT + 1] == 2 {
        return Err(ParseError::whole(
            "This SQLite database is in WAL mode, so that its newest rows may be in its `-wal` file. Stop the game \
             server, run `sqlite3 FILE 'PRAGMA journal_mode=DELETE'` where both files are, and import the file then.",
        ));
    }
    Ok(())
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
        .row_buffer_size(READ_AHEAD)
        .pragma("trusted_schema", "OFF")
        .pragma("cell_size_check", "ON")
        // A check of the file would run them.
        .pragma("ignore_check_constraints", "ON")
        .pragma("mmap_size", "0");
    SqliteConnection::connect_with(&options).await
}

struct Database {
    connection: SqliteConnection,
}

impl Database {
    /// Columns to read of a table; empty if the table is missing. Crosses networks: it is another tool's database.
    async fn columns(&mut self, table: &str, spec: &TableSpec) -> Result<Vec<String>, sqlx::Error> {
        let is_table: Option<(i64,)> = sqlx::query_as(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND lower(name) = ?1 AND lower(sql) LIKE 'create table%'",
        )
        .bind(table)
        .fetch_optional(&mut self.connection)
        .await?;
        if is_table.is_none() {
            return Ok(vec![]);
        }
        // Crosses networks: see above.
        let found: Vec<(String, i64)> = sqlx::query_as("SELECT lower(name), hidden FROM pragma_table_xinfo(?1)")
            .bind(table)
            .fetch_all(&mut self.connection)
            .await?;
        if found.iter().any(|(_, hidden)| *hidden != 0) {
            return Err(sqlx::Error::Protocol(format!("the table `{table}` has computed columns")));
        }
        // Crosses networks: see above.
        let (state,): (String,) =
            sqlx::query_as(sqlx::AssertSqlSafe(format!("PRAGMA quick_check(\"{}\")", table.replace('"', "\"\""))))
                .fetch_one(&mut self.connection)
                .await?;
        if state != "ok" {
            return Err(sqlx::Error::Protocol(format!("it is damaged: {state}")));
        }
        let wanted = |name: &String| spec.required.iter().chain(spec.optional).any(|column| column == name);
        let columns: Vec<_> = found.into_iter().map(|(name, _)| name).filter(wanted).collect();
        match spec.required.iter().find(|column| !columns.iter().any(|name| name == *column)) {
            Some(missing) => Err(sqlx::Error::Protocol(format!("the table `{table}` has no column `{missing}`"))),
            None => Ok(columns),
        }
    }

    /// Reads the rows of a table once, in the order of the file.
    fn rows(
        &mut self,
        table: &str,
        columns: &[String],
        mut take: impl FnMut(&[Cell]) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let value = |name: &String| {
            format!(
                "CASE WHEN octet_length(\"{name}\") > {LONGEST} THEN 0 \
                 WHEN \"{name}\" IS NOT NULL THEN CAST(\"{name}\" AS BLOB) END"
            )
        };
        let columns: Vec<_> = columns.iter().map(value).collect();
        // The names are those of the table's specification. Crosses networks: see above.
        let sql = format!("SELECT {} FROM \"{}\"", columns.join(", "), table.replace('"', "\"\""));
        let mut rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch(&mut self.connection);
        while let Some(cells) = run(async { rows.try_next().await?.as_ref().map(cells).transpose() })? {
            take(&cells)?;
        }
        Ok(())
    }
}

fn cells(row: &SqliteRow) -> Result<Vec<Cell>, sqlx::Error> {
    let cell = |at: usize| -> Result<Cell, sqlx::Error> {
        let value = row.try_get_raw(at)?;
        if value.is_null() {
            return Ok(Cell::Null);
        }
        if value.type_info().name() == "INTEGER" {
            return Ok(Cell::Unreadable(format!("more than {LONGEST} bytes")));
        }
        Ok(Cell::Text(row.try_get::<Vec<u8>, _>(at)?))
    };
    (0..row.len()).map(cell).collect()
}
