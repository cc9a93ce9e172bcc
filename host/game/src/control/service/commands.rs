//! Actions for agents.

use std::time::Duration;

use serde_json::json;

use crate::app::App;
use crate::audit::{self, Action as AuditAction, Change};
use crate::auth::Origin;
use crate::clock::{Millis, millis};
use crate::cluster::{RequestLease, ShardRegistry};
use crate::control::model::{Action, AgentCommand, AgentReply};
use crate::control::replies::{self, Reply};
use crate::control::service::deadline::Deadline;
use crate::control::service::error::ControlError;
use crate::control::{AGENT_COMMANDS, Control, store};
use crate::limits::{self, Limit, QuotaExceeded};
use crate::presence;
use crate::secrets;
use crate::values::{Identifier, NetworkId};

/// Time to wait for an agent's reply.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// Audit log entry of an action; none if the action changes nothing. Download links are secret.
fn change_of(server: &Identifier, action: &Action) -> Option<Change> {
    let change = |action| Some(Change::new(action, server));
    match action {
        Action::Start => change(AuditAction::ServerStarted),
        Action::Stop => change(AuditAction::ServerStopped),
        Action::Restart => change(AuditAction::ServerRestarted),
        Action::Kill => change(AuditAction::ServerKilled),
        Action::Console { line } => Some(change(AuditAction::ServerCommanded)?.after(json!({"line": line}))),
        Action::Logs { .. } => None,
        Action::Install { name, version, sha256, .. } => Some(
            change(AuditAction::ArtifactInstalled)?.after(json!({"name": name, "version": version, "sha256": sha256})),
        ),
    }
}

/// Runs an action through the server's agent and waits for the reply. If the network moves meanwhile, an unfetched
/// command is repeated at the next owner.
pub(in crate::control) async fn run_action(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    action: Action,
    lease: &RequestLease,
    origin: &Origin,
) -> Result<AgentReply, ControlError> {
    let deadline = Deadline::new(app, millis(REPLY_TIMEOUT));
    let now = app.clock.now();
    let change = change_of(server, &action);
    let command = AgentCommand { id: app.ids.uuid(), action, issued_at: now };
    let agents = &app.state::<Control>().agents;
    let pending = agents.pending(network, server, now);
    limits::check(app, Limit::PendingCommands, pending as i64, 1)?;
    if let Some(change) = change {
        // First: the agent fetches the command at once, and then nothing takes it back.
        if agents.report(network, server, now).is_none() {
            return Err(no_node(app, network, server).await?);
        }
        audit::record_alone(&app.db, network, origin, change).await?;
    }
    let Some(mut handle) = agents.send(network, server, command, now, deadline.at) else {
        return Err(no_node(app, network, server).await?);
    };
    tokio::select! {
        reply = deadline.wait(server, handle.wait()) => return reply,
        () = lease.wait_for_move() => {}
    }
    if handle.cancel() {
        lease.retry_on_owner();
        return Err(ControlError::Moving);
    }
    lease.release();
    deadline.wait(server, handle.wait()).await
}

/// Queues an action for the server's agent, valid until `expires_at`, also from another process of the hub. The reply
/// is discarded.
pub async fn queue_action(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    action: Action,
    expires_at: Millis,
    lease: &RequestLease,
    origin: &Origin,
) -> Result<(), ControlError> {
    let now = app.clock.now();
    check_agent(app, network, server)?;
    let change = change_of(server, &action);
    let command = AgentCommand { id: app.ids.uuid(), action, issued_at: now };
    let stored = app
        .db
        .transaction(async |mut tx| {
            // A new owner has read the stored commands already.
            if !app.state::<ShardRegistry>().lock_lease(&mut tx, network).await? {
                return Err(ControlError::Moving);
            }
            let sealed = secrets::seal_text(app, AGENT_COMMANDS, &command.to_json())?;
            let command = (&command, sealed.as_str());
            store::insert_command(&mut tx, network, server, command, expires_at, app.clock.cutoff()).await?;
            if let Some(change) = change.clone() {
                audit::record(&mut tx, network, origin, change).await?;
            }
            Ok(())
        })
        .await;
    if matches!(stored, Err(ControlError::Moving)) {
        lease.retry_on_owner();
    }
    stored?;
    lease.release();
    // The action is queued: at worst, a dropped command that stays in the database returns after a restart.
    if let Some(dropped) = app.state::<Control>().agents.enqueue(network, server, command, now, expires_at)
        && let Err(error) = store::delete_commands(&app.db, network, server, &[dropped.command.id]).await
    {
        tracing::warn!(%network, %error, "could not delete a command replaced by newer ones");
    }
    Ok(())
}

/// Refuses a server whose agent would exceed the network's limit.
pub(super) fn check_agent(app: &App, network: NetworkId, server: &Identifier) -> Result<(), QuotaExceeded> {
    let (count, is_there) = app.state::<Control>().agents.count(network, server);
    if is_there { Ok(()) } else { limits::check(app, Limit::Agents, count as i64, 1) }
}

/// Explains a missing agent: a server that never registered may still have one.
async fn no_node(app: &App, network: NetworkId, server: &Identifier) -> Result<ControlError, hub_db::Error> {
    let known = presence::service::is_known_server(app, network, server).await?;
    let server = server.clone();
    Ok(if known { ControlError::NoNode(server) } else { ControlError::UnknownServer(server) })
}

/// Reads the newest lines of the server's output from its agent.
pub(in crate::control) async fn read_output(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    lines: i64,
    lease: &RequestLease,
    origin: &Origin,
) -> Result<String, ControlError> {
    let reply = run_action(app, network, server, Action::Logs { lines }, lease, origin).await?;
    let failed = |why: String| ControlError::NoOutput(server.clone(), why);
    if !reply.ok {
        return Err(failed(reply.error.unwrap_or_else(|| "no reason given".to_owned())));
    }
    let content = reply.result.as_ref().and_then(|result| result.get("content")?.as_str().map(str::to_owned));
    content.ok_or_else(|| failed("the reply has no `content`".to_owned()))
}

/// Passes an agent's reply to the waiting request, or discards it if none waits.
pub(in crate::control) async fn complete_action(
    app: &App,
    network: NetworkId,
    server: Identifier,
    command_id: &str,
    reply: AgentReply,
) {
    if let Ok(id) = command_id.parse() {
        replies::deliver(app, Reply::Agent((network, server, id), reply)).await;
    }
}
