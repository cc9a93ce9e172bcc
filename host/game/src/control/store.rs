//! SQL of stored commands and agents.

pub(super) mod logs;

use std::time::Duration;

use hub_db::{Db, Error, Sql, Tx};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::clock::{Cutoff, Millis};
use crate::component::{Term, renew_term};
use crate::config::Settings;
use crate::control::agents::{AgentSnapshot, PendingCommand};
use crate::control::model::AgentCommand;
use crate::values::{Identifier, NetworkId};

/// Commands, whose ends are corrected with the clock: they live as long as the links in them.
pub(super) const COMMANDS: Term =
    Term::new(renew_term!("agent_commands", "network_id, server_id, command_id", "expires_at", "TRUE"), life);

fn life(settings: &Settings) -> Duration {
    Duration::from_millis(settings.artifact_link_ttl)
}

/// Stores a command for an agent and deletes the server's expired ones.
pub(super) async fn insert_command(
    tx: &mut Tx,
    network: NetworkId,
    server: &Identifier,
    (command, sealed): (&AgentCommand, &str),
    expires_at: Millis,
    ended: Cutoff,
) -> Result<(), Error> {
    tx.query("DELETE FROM agent_commands WHERE network_id = $1 AND server_id = $2 AND expires_at <= $3")
        .bind(network)
        .bind(server)
        .bind(ended.at())
        .execute()
        .await?;
    tx.query(
        "INSERT INTO agent_commands (network_id, server_id, command_id, command, expires_at) VALUES ($1, $2, $3, $4, $5)",
    )
    .bind(network)
    .bind(server)
    .bind(command.id.to_string())
    .bind(sealed)
    .bind(expires_at)
    .execute()
    .await?;
    Ok(())
}

/// Deletes commands that were handed out or dropped.
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

/// Stored commands of a network, oldest first. They are sealed: some have links.
pub(super) async fn commands(
    db: &Db,
    network: NetworkId,
    now: Millis,
    open: impl Fn(&str) -> Option<String>,
) -> Result<Vec<(Identifier, PendingCommand)>, Error> {
    let rows: Vec<(Identifier, String, Millis)> = db
        .query("SELECT server_id, command, expires_at FROM agent_commands WHERE network_id = $1 AND expires_at > $2")
        .bind(network)
        .bind(now)
        .all()
        .await?;
    let pending = rows.into_iter().filter_map(|(server, json, expires_at)| {
        // A command of another version that this one cannot read is skipped.
        let command = serde_json::from_str(&open(&json)?).ok()?;
        Some((server, PendingCommand { command, expires_at, stored: true }))
    });
    let mut pending: Vec<_> = pending.collect();
    pending.sort_by_key(|(_, pending)| pending.command.issued_at);
    Ok(pending)
}

/// Saves the connected agents, replacing the previous ones.
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

/// Agents of a network that polled after `since`.
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
