//! SQL of logs, stored commands and agents.

use hub_db::{Db, Error, Sql, Tx};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::clock::Millis;
use crate::control::agents::{AgentSnapshot, PendingCommand};
use crate::control::model::{AgentCommand, LogLine, NewLogLine};
use crate::values::{Identifier, NetworkId};

/// Gives out `count` numbers of the server's log and answers the last of them. Others who add lines wait for this
/// transaction, so that lower numbers are never committed later.
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
        .bind(server)
        .bind(count)
        .one()
        .await?;
    Ok(last)
}

/// Adds lines, the first of them under the number `first`.
pub(super) async fn insert_lines(
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
pub(super) async fn delete_lines(tx: &mut Tx, network: NetworkId, server: &Identifier, last: i64) -> Result<(), Error> {
    tx.query("DELETE FROM server_log_lines WHERE network_id = $1 AND server_id = $2 AND seq <= $3")
        .bind(network)
        .bind(server)
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
        .bind(server)
        .bind(after)
        .bind(last)
        .all()
        .await?;
    Ok(rows.into_iter().map(LogLine::from).collect())
}

/// The first `limit` lines behind the number `after`, the oldest first.
pub(super) async fn lines_after(
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

/// Stores a command for an agent, and deletes the expired ones of its server.
pub(super) async fn insert_command(
    tx: &mut Tx,
    network: NetworkId,
    server: &Identifier,
    command: &AgentCommand,
    expires_at: Millis,
    now: Millis,
) -> Result<(), Error> {
    tx.query("DELETE FROM agent_commands WHERE network_id = $1 AND server_id = $2 AND expires_at <= $3")
        .bind(network)
        .bind(server)
        .bind(now)
        .execute()
        .await?;
    tx.query(
        "INSERT INTO agent_commands (network_id, server_id, command_id, command, expires_at) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(network)
    .bind(server)
    .bind(command.id.to_string())
    .bind(command.to_json())
    .bind(expires_at)
    .execute()
    .await?;
    Ok(())
}

/// Deletes commands that are handed out or dropped.
pub(super) async fn delete_commands(
    db: &Db,
    network: NetworkId,
    server: &Identifier,
    ids: &[Uuid],
) -> Result<(), Error> {
    db.write(Sql {
        sqlite: "DELETE FROM agent_commands WHERE network_id = $1 AND server_id = $2
                   AND command_id IN (SELECT value FROM json_each($3))",
        postgres: "DELETE FROM agent_commands WHERE network_id = $1 AND server_id = $2
                     AND command_id IN (SELECT value FROM jsonb_array_elements_text(CAST($3 AS JSONB)) AS ids (value))",
    })
    .bind(network)
    .bind(server)
    .bind(json!(ids).to_string())
    .execute()
    .await?;
    Ok(())
}

/// A network's stored commands, the oldest first.
pub(super) async fn commands(
    db: &Db,
    network: NetworkId,
    now: Millis,
) -> Result<Vec<(Identifier, PendingCommand)>, Error> {
    let rows: Vec<(Identifier, String, Millis)> = db
        .query("SELECT server_id, command, expires_at FROM agent_commands WHERE network_id = $1 AND expires_at > $2")
        .bind(network)
        .bind(now)
        .all()
        .await?;
    let pending = rows.into_iter().filter_map(|(server, json, expires_at)| {
        // A command that another version wrote and this one cannot read is skipped.
        let command = serde_json::from_str(&json).ok()?;
        Some((server, PendingCommand { command, expires_at, stored: true }))
    });
    let mut pending: Vec<_> = pending.collect();
    pending.sort_by_key(|(_, pending)| pending.command.issued_at);
    Ok(pending)
}

/// Saves which agents are connected, in the place of those before.
pub(super) async fn save_agents(tx: &mut Tx, network: NetworkId, agents: &[AgentSnapshot]) -> Result<(), Error> {
    tx.query("DELETE FROM server_agents WHERE network_id = $1").bind(network).execute().await?;
    let row = |it: &AgentSnapshot| json!([it.server, json!(it.report).to_string(), it.last_polled]);
    tx.query(Sql {
        sqlite: "INSERT INTO server_agents (network_id, server_id, report, seen_at)
                 SELECT $1, value ->> 0, value ->> 1, value ->> 2 FROM json_each($2)",
        postgres: "INSERT INTO server_agents (network_id, server_id, report, seen_at)
                   SELECT $1, agent ->> 0, agent ->> 1, CAST(agent ->> 2 AS BIGINT)
                   FROM jsonb_array_elements(CAST($2 AS JSONB)) AS agents (agent)",
    })
    .bind(network)
    .bind(agents.iter().map(row).collect::<Value>().to_string())
    .execute()
    .await?;
    Ok(())
}

/// The agents of a network that polled after `since`.
pub(super) async fn agents(db: &Db, network: NetworkId, since: Millis) -> Result<Vec<AgentSnapshot>, Error> {
    let rows: Vec<(Identifier, String, Millis)> = db
        .query("SELECT server_id, report, seen_at FROM server_agents WHERE network_id = $1 AND seen_at > $2")
        .bind(network)
        .bind(since)
        .all()
        .await?;
    let agents = rows.into_iter().filter_map(|(server, report, last_polled)| {
        Some(AgentSnapshot { server, report: serde_json::from_str(&report).ok()?, last_polled })
    });
    Ok(agents.collect())
}
