//! SQL of logs.

use hub_db::{Db, Error, Sql, Tx};
use serde_json::{Value, json};

use crate::clock::Millis;
use crate::control::model::{LogFilter, LogLevel, LogLine, NewLogLine};
use crate::limits::{Limit, Rows};
use crate::values::{Identifier, NetworkId, like_pattern};

/// All logs of a network.
pub(in crate::control) const SERVER_LOGS: Rows =
    Rows::few(Limit::ServerLogs, "SELECT COUNT(*) FROM server_logs WHERE network_id = $1");

const OLDEST_LOG: &str = "SELECT l.server_id FROM server_logs l
     LEFT JOIN servers s ON s.network_id = l.network_id AND s.server_id = l.server_id
     WHERE l.network_id = $1 ORDER BY COALESCE(s.last_seen, 0), l.server_id LIMIT 1";

/// Deletes the log of the least recently seen server. True if there was one.
pub(in crate::control) async fn delete_oldest_log(tx: &mut Tx, network: NetworkId) -> Result<bool, Error> {
    let oldest: Option<(Identifier,)> = tx.query(OLDEST_LOG).bind(network).optional().await?;
    let Some((server,)) = oldest else { return Ok(false) };
    for sql in [
        "DELETE FROM server_log_lines WHERE network_id = $1 AND server_id = $2",
        "DELETE FROM server_logs WHERE network_id = $1 AND server_id = $2",
    ] {
        tx.query(sql).bind(network).bind(&server).execute().await?;
    }
    Ok(true)
}

/// Allocates `count` line numbers of the server's log and returns the last one. Other writers wait for this
/// transaction, so that lower numbers are never committed later.
pub(in crate::control) async fn number_lines(
    tx: &mut Tx,
    network: NetworkId,
    server: &Identifier,
    count: i64,
) -> Result<i64, Error> {
    let (last,): (i64,) = tx
        .query(
            "INSERT INTO server_logs (network_id, server_id, last_seq) VALUES ($1, $2, $3)
             ON CONFLICT (network_id, server_id) DO UPDATE SET last_seq = server_logs.last_seq + excluded.last_seq
             RETURNING last_seq",
        )
        .bind(network)
        .bind(server)
        .bind(count)
        .one()
        .await?;
    Ok(last)
}

/// Adds lines, numbered from `first`.
pub(in crate::control) async fn insert_lines(
    tx: &mut Tx,
    network: NetworkId,
    server: &Identifier,
    first: i64,
    lines: &[NewLogLine],
) -> Result<(), Error> {
    let row = |line: &NewLogLine| json!([line.at, line.stream, line.text]);
    tx.query(Sql {
        sqlite: "INSERT INTO server_log_lines (network_id, server_id, seq, at, stream, text)
                 SELECT $1, $2, $3 + key, value ->> 0, value ->> 1, value ->> 2 FROM json_each($4)",
        postgres: "INSERT INTO server_log_lines (network_id, server_id, seq, at, stream, text)
                   SELECT $1, $2, $3 + number - 1, CAST(line ->> 0 AS BIGINT), line ->> 1, line ->> 2
                   FROM jsonb_array_elements(CAST($4 AS JSONB)) WITH ORDINALITY AS lines (line, number)",
    })
    .bind(network)
    .bind(server)
    .bind(first)
    .bind(lines.iter().map(row).collect::<Value>().to_string())
    .execute()
    .await?;
    Ok(())
}

/// Deletes the lines up to the number `last`.
pub(in crate::control) async fn delete_lines(
    tx: &mut Tx,
    network: NetworkId,
    server: &Identifier,
    last: i64,
) -> Result<(), Error> {
    tx.query("DELETE FROM server_log_lines WHERE network_id = $1 AND server_id = $2 AND seq <= $3")
        .bind(network)
        .bind(server)
        .bind(last)
        .execute()
        .await?;
    Ok(())
}

/// Number of the log's last line, if it ever had one.
pub(in crate::control) async fn last_seq(
    db: &Db,
    network: NetworkId,
    server: &Identifier,
) -> Result<Option<i64>, Error> {
    let row: Option<(i64,)> = db
        .query("SELECT last_seq FROM server_logs WHERE network_id = $1 AND server_id = $2")
        .bind(network)
        .bind(server)
        .optional()
        .await?;
    Ok(row.map(|(last,)| last))
}

#[derive(sqlx::FromRow)]
struct LineRow {
    seq: i64,
    at: Millis,
    stream: String,
    text: String,
}

impl From<LineRow> for LogLine {
    fn from(row: LineRow) -> Self {
        Self { seq: row.seq, at: row.at, stream: row.stream.parse().unwrap_or_default(), text: row.text }
    }
}

/// Lines after the number `after` up to and including `last`, newest first.
pub(in crate::control) async fn lines_before(
    db: &Db,
    network: NetworkId,
    server: &Identifier,
    after: i64,
    last: i64,
) -> Result<Vec<LogLine>, Error> {
    let rows: Vec<LineRow> = db
        .query(
            "SELECT seq, at, stream, text FROM server_log_lines
             WHERE network_id = $1 AND server_id = $2 AND seq > $3 AND seq <= $4 ORDER BY seq DESC",
        )
        .bind(network)
        .bind(server)
        .bind(after)
        .bind(last)
        .all()
        .await?;
    Ok(rows.into_iter().map(LogLine::from).collect())
}

/// First `limit` lines after the number `after`, oldest first.
pub(in crate::control) async fn lines_after(
    db: &Db,
    network: NetworkId,
    server: &Identifier,
    after: i64,
    limit: i64,
) -> Result<Vec<LogLine>, Error> {
    let rows: Vec<LineRow> = db
        .query(
            "SELECT seq, at, stream, text FROM server_log_lines
             WHERE network_id = $1 AND server_id = $2 AND seq > $3 ORDER BY seq LIMIT $4",
        )
        .bind(network)
        .bind(server)
        .bind(after)
        .bind(limit)
        .all()
        .await?;
    Ok(rows.into_iter().map(LogLine::from).collect())
}

macro_rules! found_lines {
    ($columns:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM server_log_lines WHERE network_id = $1 AND server_id = $2 AND seq > $3 AND seq < $4
                AND ($5 IS NULL OR LOWER(text) LIKE $5 ESCAPE '\\')
                AND ($6 = 0 OR stream = 'stderr'
                     OR text LIKE 'ERROR%' OR SUBSTR(text, 1, 64) LIKE '%ERROR]%'
                     OR text LIKE 'SEVERE%' OR SUBSTR(text, 1, 64) LIKE '%SEVERE]%'
                     OR text LIKE 'FATAL%' OR SUBSTR(text, 1, 64) LIKE '%FATAL]%'
                     OR ($6 = 1 AND (text LIKE 'WARN%' OR SUBSTR(text, 1, 64) LIKE '%WARN]%'
                                     OR SUBSTR(text, 1, 64) LIKE '%WARNING]%')))",
            $rest
        )
    };
}

/// Lines between two numbers, without these, that a filter matches, newest first, and their number.
pub(in crate::control) async fn find_lines(
    db: &Db,
    network: NetworkId,
    server: &Identifier,
    (after, before): (i64, i64),
    filter: &LogFilter,
    (limit, offset): (i64, i64),
) -> Result<(Vec<LogLine>, i64), Error> {
    let text = filter.text.as_ref().map(|text| like_pattern(&text.to_lowercase()));
    let level = match filter.level {
        LogLevel::Info => 0_i64,
        LogLevel::Warn => 1,
        LogLevel::Error => 2,
    };
    let (rows, total): (Vec<LineRow>, i64) = db
        .page(
            found_lines!("COUNT(*)", ""),
            found_lines!("seq, at, stream, text", " ORDER BY seq DESC LIMIT $7 OFFSET $8"),
            |statement| statement.bind(network).bind(server).bind(after).bind(before).bind(&text).bind(level),
            limit,
            offset,
        )
        .await?;
    Ok((rows.into_iter().map(LogLine::from).collect(), total))
}
