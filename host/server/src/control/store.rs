//! The room's SQL.

use hub_db::{Db, Error, Sql, Tx};
use serde_json::json;
use uuid::Uuid;

use crate::clock::Millis;
use crate::control::agents::{Pending, Seen};
use crate::control::model::{Command, LogLine, NewLine, OutputStream};
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

/// Keeps a command for an agent, and forgets those of the server that are late.
pub(super) async fn insert_command(
    tx: &mut Tx,
    network: NetworkId,
    server: &Identifier,
    command: &Command,
    until: Millis,
    now: Millis,
) -> Result<(), Error> {
    tx.query("DELETE FROM agent_commands WHERE network_id = $1 AND server_id = $2 AND expires_at <= $3")
        .bind(network)
        .bind(server.clone())
        .bind(now)
        .execute()
        .await?;
    tx.query(
        "INSERT INTO agent_commands (network_id, server_id, command_id, command, expires_at) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(network)
    .bind(server.clone())
    .bind(command.id.to_string())
    .bind(command.text())
    .bind(until)
    .execute()
    .await?;
    Ok(())
}

/// Forgets commands: they are handed out, or gave way to newer ones.
pub(super) async fn delete_commands(
    db: &Db,
    network: NetworkId,
    server: &Identifier,
    ids: Vec<Uuid>,
) -> Result<(), Error> {
    db.write(Sql {
        sqlite: "DELETE FROM agent_commands WHERE network_id = $1 AND server_id = $2
                   AND command_id IN (SELECT value FROM json_each($3))",
        postgres: "DELETE FROM agent_commands WHERE network_id = $1 AND server_id = $2
                     AND command_id IN (SELECT value FROM jsonb_array_elements_text(CAST($3 AS JSONB)) AS ids (value))",
    })
    .bind(network)
    .bind(server.clone())
    .bind(json!(ids).to_string())
    .execute()
    .await?;
    Ok(())
}

/// A network's commands that wait for their agents, the oldest first.
pub(super) async fn commands(db: &Db, network: NetworkId, now: Millis) -> Result<Vec<(Identifier, Pending)>, Error> {
    let rows: Vec<(Identifier, String, Millis)> = db
        .query("SELECT server_id, command, expires_at FROM agent_commands WHERE network_id = $1 AND expires_at > $2")
        .bind(network)
        .bind(now)
        .all()
        .await?;
    let pending = rows.into_iter().filter_map(|(server, text, until)| {
        // One that another version wrote in its own words can't be handed out.
        let command: Command = serde_json::from_str(&text).ok()?;
        Some((server, Pending { command, until, stored: true }))
    });
    let mut pending: Vec<_> = pending.collect();
    pending.sort_by_key(|(_, pending)| pending.command.issued_at);
    Ok(pending)
}

const INSERT_AGENTS: Sql = Sql {
    sqlite: "INSERT INTO server_agents (network_id, server_id, report, seen_at)
             SELECT $1, value ->> 0, value ->> 1, value ->> 2 FROM json_each($2)",
    postgres: "INSERT INTO server_agents (network_id, server_id, report, seen_at)
               SELECT $1, agent ->> 0, agent ->> 1, CAST(agent ->> 2 AS BIGINT)
               FROM jsonb_array_elements(CAST($2 AS JSONB)) AS agents (agent)",
};

/// Writes down which agents are there, in the place of those before.
pub(super) async fn save_agents(tx: &mut Tx, network: NetworkId, agents: &[Seen]) -> Result<(), Error> {
    tx.query("DELETE FROM server_agents WHERE network_id = $1").bind(network).execute().await?;
    let rows = agents.iter().map(|agent| json!([agent.server, json!(agent.report).to_string(), agent.at]));
    let rows = serde_json::Value::from(rows.collect::<Vec<_>>()).to_string();
    tx.query(INSERT_AGENTS).bind(network).bind(rows).execute().await?;
    Ok(())
}

/// The agents of a network that polled after `since`.
pub(super) async fn agents(db: &Db, network: NetworkId, since: Millis) -> Result<Vec<Seen>, Error> {
    let rows: Vec<(Identifier, String, Millis)> = db
        .query("SELECT server_id, report, seen_at FROM server_agents WHERE network_id = $1 AND seen_at > $2")
        .bind(network)
        .bind(since)
        .all()
        .await?;
    let seen = rows
        .into_iter()
        .filter_map(|(server, report, at)| Some(Seen { server, report: serde_json::from_str(&report).ok()?, at }));
    Ok(seen.collect())
}
