//! All SQL on a SQLite database file, which is not the hub's.
//!
//! The file may be hostile: it is opened read-only, its schema is not trusted, only stored columns of tables are read,
//! each table from its beginning to its end, and no value is loaded whose length was not looked at.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use futures_util::TryStreamExt as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteRow};
use sqlx::{Connection as _, Row as _, TypeInfo as _, ValueRef as _};
use tokio::runtime::{Builder, Runtime};

use super::row::{Cell, Row};
use super::spec::{FoundTable, RowSink, TableSpec, Wanted};
use crate::budget::Budget;
use crate::imports::record::ParseError;
use crate::imports::text::Charset;

/// Maximum length of a value in bytes; a longer one is unreadable.
const LONGEST: usize = 16_384;
/// Rows that the reader may be ahead of this thread.
const READ_AHEAD: usize = 32;
/// Offset of the versions of the file format, which are 2 in WAL mode.
const FORMAT_AT: usize = 18;

/// Offset of the encoding of its texts, and that of UTF-8. A new database has none yet.
const ENCODING_AT: usize = 56;
const UTF8: u32 = 1;

/// Refuses a database in WAL mode, whose newest rows may be in another file, and one whose texts are UTF-16.
fn check_header(file: &Path) -> Result<(), ParseError> {
    let mut header = [0; ENCODING_AT + 4];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut header));
    read.map_err(|error| ParseError::whole(format!("Cannot read the database: {error}.")))?;
    if header[FORMAT_AT] == 2 || header[FORMAT_AT + 1] == 2 {
        return Err(ParseError::whole(
            "This SQLite database is in WAL mode, so that its newest rows may be in its `-wal` file. Stop the game \
             server, run `sqlite3 FILE 'PRAGMA journal_mode=DELETE'` where both files are, and import the file then.",
        ));
    }
    let encoding = header.last_chunk().map_or(UTF8, |bytes| u32::from_be_bytes(*bytes));
    if encoding > UTF8 {
        return Err(ParseError::whole(
            "The texts of this SQLite database are UTF-16. Import what `sqlite3 FILE .dump` prints, which is UTF-8.",
        ));
    }
    Ok(())
}

/// A database that is open.
pub(in crate::imports) struct Database {
    runtime: Runtime,
    connection: SqliteConnection,
}

fn unreadable(error: &sqlx::Error) -> ParseError {
    let error = error.as_database_error().map_or_else(|| error.to_string(), |error| error.message().to_owned());
    ParseError::whole(format!("Cannot read the database: {error}."))
}

impl Database {
    /// Opens a file. No part of its content but the header is read.
    pub(in crate::imports) fn open(path: &Path) -> Result<Self, ParseError> {
        check_header(path)?;
        // It only waits for the connection's thread, so that it needs no drivers.
        let runtime = Builder::new_current_thread().build();
        let runtime = runtime.map_err(|error| ParseError::whole(format!("Cannot read the database: {error}.")))?;
        let options = SqliteConnectOptions::new()
            .filename(path)
            .read_only(true)
            .immutable(true)
            .row_buffer_size(READ_AHEAD)
            .pragma("trusted_schema", "OFF")
            .pragma("cell_size_check", "ON")
            // A check of the file would run them.
            .pragma("ignore_check_constraints", "ON")
            .pragma("mmap_size", "0");
        let connection = runtime.block_on(SqliteConnection::connect_with(&options));
        Ok(Self { connection: connection.map_err(|error| unreadable(&error))?, runtime })
    }

    /// Reads the wanted tables.
    pub(in crate::imports) fn read(
        &mut self,
        wanted: &Wanted<'_>,
        budget: &Budget,
        sink: &mut RowSink<'_>,
    ) -> Result<HashMap<String, FoundTable>, ParseError> {
        let Self { runtime, connection } = self;
        let mut found = HashMap::new();
        for spec in wanted.tables {
            let name = wanted.full_name(spec);
            let columns = runtime.block_on(columns(connection, &name, spec)).map_err(|error| unreadable(&error))?;
            if columns.is_empty() {
                continue;
            }
            let mut table = FoundTable::new(columns.clone());
            let sql = select(&name, &columns);
            let mut rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch(&mut *connection);
            let mut next = || runtime.block_on(async { rows.try_next().await?.as_ref().map(cells).transpose() });
            while let Some(cells) = next().map_err(|error| unreadable(&error))? {
                budget.bytes(cells.iter().map(Cell::size).sum()).map_err(ParseError::exhausted)?;
                table.count(sink(&Row::new(&name, &columns, &cells, None, Charset::Utf8))?);
            }
            found.insert(name, table);
        }
        Ok(found)
    }
}

/// Columns to read of a table; empty if the table is missing. Crosses networks: it is another tool's database.
async fn columns(connection: &mut SqliteConnection, table: &str, spec: &TableSpec) -> Result<Vec<String>, sqlx::Error> {
    let is_table: Option<(i64,)> = sqlx::query_as(
        "SELECT 1 FROM sqlite_master WHERE type = 'table' AND lower(name) = ?1 AND lower(sql) LIKE 'create table%'",
    )
    .bind(table)
    .fetch_optional(&mut *connection)
    .await?;
    if is_table.is_none() {
        return Ok(vec![]);
    }
    // Crosses networks: see above.
    let found: Vec<(String, i64)> = sqlx::query_as("SELECT lower(name), hidden FROM pragma_table_xinfo(?1)")
        .bind(table)
        .fetch_all(&mut *connection)
        .await?;
    if found.iter().any(|(_, hidden)| *hidden != 0) {
        return Err(sqlx::Error::Protocol(format!("the table `{table}` has computed columns")));
    }
    // Crosses networks: see above.
    let (state,): (String,) =
        sqlx::query_as(sqlx::AssertSqlSafe(format!("PRAGMA quick_check(\"{}\")", table.replace('"', "\"\""))))
            .fetch_one(connection)
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

/// Statement that reads the rows of a table once, in the order of the file.
fn select(table: &str, columns: &[String]) -> String {
    let value = |name: &String| {
        format!(
            "CASE WHEN octet_length(\"{name}\") > {LONGEST} THEN 0 \
             WHEN \"{name}\" IS NOT NULL THEN CAST(\"{name}\" AS BLOB) END"
        )
    };
    let columns: Vec<_> = columns.iter().map(value).collect();
    // The names are those of the table's specification. Crosses networks: see above.
    format!("SELECT {} FROM \"{}\"", columns.join(", "), table.replace('"', "\"\""))
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
