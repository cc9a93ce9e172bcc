//! The room's SQL.

use hub_db::{Db, Error, Sql, Tx};
use serde_json::json;

use crate::clock::Millis;
use crate::control::model::{LogLine, NewLine, OutputStream};
use crate::values::{Identifier, NetworkId};

/// Gives out `count` numbers of the server's log; the last of them. Whoever else adds lines waits until this
/// transaction is over, so that lower numbers are never committed later.
pub(super) async fn number_lines(
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
        .bind(server.clone())
        .bind(count)
        .one()
        .await?;
    Ok(last)
}

const INSERT_LINES: Sql = Sql {
    sqlite: "INSERT INTO server_log_lines (network_id, server_id, seq, at, stream, text)
             SELECT $1, $2, $3 + key, value ->> 0, value ->> 1, value ->> 2 FROM json_each($4)",
    postgres: "INSERT INTO server_log_lines (network_id, server_id, seq, at, stream, text)
               SELECT $1, $2, $3 + number - 1, CAST(line ->> 0 AS BIGINT), line ->> 1, line ->> 2
               FROM jsonb_array_elements(CAST($4 AS JSONB)) WITH ORDINALITY AS lines (line, number)",
};

/// Adds lines, the first of them under the number `first`.
pub(super) async fn insert_lines(
    tx: &mut Tx,
    network: NetworkId,
    server: &Identifier,
    first: i64,
    lines: &[NewLine],
) -> Result<(), Error> {
    let rows: Vec<_> = lines.iter().map(|line| json!([line.at, line.stream.as_str(), line.text])).collect();
    tx.query(INSERT_LINES)
        .bind(network)
        .bind(server.clone())
        .bind(first)
        .bind(serde_json::Value::from(rows).to_string())
        .execute()
        .await?;
    Ok(())
}

/// Deletes the lines up to the number `last`.
pub(super) async fn delete_lines(tx: &mut Tx, network: NetworkId, server: &Identifier, last: i64) -> Result<(), Error> {
    tx.query("DELETE FROM server_log_lines WHERE network_id = $1 AND server_id = $2 AND seq <= $3")
        .bind(network)
        .bind(server.clone())
        .bind(last)
        .execute()
        .await?;
    Ok(())
}

/// The number of the log's last line, if it ever had one.
pub(super) async fn last_seq(db: &Db, network: NetworkId, server: &Identifier) -> Result<Option<i64>, Error> {
    let row: Option<(i64,)> = db
        .query("SELECT last_seq FROM server_logs WHERE network_id = $1 AND server_id = $2")
        .bind(network)
        .bind(server.clone())
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
        Self { seq: row.seq, at: row.at, stream: OutputStream::from_text(&row.stream), text: row.text }
    }
}

/// The lines behind the number `after`, up to and with `last`; the newest first.
pub(super) async fn lines_before(
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
        .bind(server.clone())
        .bind(after)
        .bind(last)
        .all()
        .await?;
    Ok(rows.into_iter().map(LogLine::from).collect())
}

/// The first `most` lines behind the number `after`, the oldest first.
pub(super) async fn lines_after(
    db: &Db,
    network: NetworkId,
    server: &Identifier,
    after: i64,
    most: i64,
) -> Result<Vec<LogLine>, Error> {
    let rows: Vec<LineRow> = db
        .query(
            "SELECT seq, at, stream, text FROM server_log_lines
             WHERE network_id = $1 AND server_id = $2 AND seq > $3 ORDER BY seq LIMIT $4",
        )
        .bind(network)
        .bind(server.clone())
        .bind(after)
        .bind(most)
        .all()
        .await?;
    Ok(rows.into_iter().map(LogLine::from).collect())
}
