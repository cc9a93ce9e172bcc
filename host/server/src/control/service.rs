//! The rules of control.

use std::time::Duration;

use axum::http::StatusCode;
use hub_bus::PendingReplies;
use serde::Serialize;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::clock::{Clock, Millis, millis};
use crate::cluster::RequestLease;
use crate::control::agents::{Found, Pending, Poll};
use crate::control::answers::{self, Answered};
use crate::control::model::{Action, Answer, Command, CommandOutcome, LogLine, NewLine, Report};
use crate::control::store;
use crate::events::{self, EventKind, PublishError};
use crate::http::error::ApiError;
use crate::http::page::{Limit, Page, PageNumber};
use crate::servers;
use crate::values::{Identifier, NetworkId};

/// How long who asks an agent for something waits for its answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Lines of a server's log that count; older ones are as good as gone.
const LINES_KEPT: i64 = 5_000;
/// Old lines are deleted whenever a log has grown by this much.
const PRUNE_EVERY: i64 = 1_000;
/// A longer line is cut, in bytes.
const LONGEST_LINE: usize = 8 * 1024;

/// Console commands that wait for what their connectors say.
#[derive(Default)]
pub(super) struct Commands(pub(super) PendingReplies<CommandOutcome, (NetworkId, String)>);

impl Commands {
    /// How many wait for an outcome.
    pub(super) fn waiting(&self) -> usize {
        self.0.len()
    }
}

impl std::fmt::Debug for Commands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Commands").field(&self.0.len()).finish()
    }
}

/// What can be wrong with a request about control.
#[derive(Debug, Error)]
pub enum ControlError {
    /// Neither the registry nor an agent knows the server.
    #[error("This network has no server `{0}`.")]
    UnknownServer(Identifier),
    /// No agent has polled for the server lately.
    #[error("No node agent is connected for the server `{0}`.")]
    NoNode(Identifier),
    /// The server's heartbeats do not come.
    #[error("The server `{0}` is offline.")]
    Offline(Identifier),
    /// The server has no event stream.
    #[error("The server `{0}` has no open event stream, so its connector cannot be reached.")]
    NotConnected(Identifier),
    /// The agent or connector did not answer within its time.
    #[error("The server `{0}` did not answer in time.")]
    NoAnswer(Identifier),
    /// The agent could not deliver the log.
    #[error("The node agent of the server `{0}` could not deliver its output: {1}")]
    NoOutput(Identifier, String),
    /// Nothing was done; the network's next home serves the request.
    #[error("This network is moving to another of the hub's nodes; try again.")]
    Moving,
    /// The hub does not wait for anything any more.
    #[error("The hub is stopping; try again in a moment.")]
    Stopping,
    /// The command could not be sent.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<ControlError> for ApiError {
    fn from(error: ControlError) -> Self {
        let unavailable = |code, message| Self::new(StatusCode::SERVICE_UNAVAILABLE, code, message);
        let message = error.to_string();
        match error {
            ControlError::UnknownServer(_) => Self::not_found("unknown_server", message),
            ControlError::NoNode(_) => Self::not_found("no_node", message),
            ControlError::Offline(_) => unavailable("server_offline", message),
            ControlError::NotConnected(_) => unavailable("not_connected", message),
            ControlError::NoAnswer(_) => unavailable("no_answer", message),
            ControlError::NoOutput(..) => unavailable("no_output", message),
            ControlError::Moving => unavailable("moved", message).retry_after(1),
            ControlError::Stopping => unavailable("stopping", message).retry_after(1),
            ControlError::Publish(error) => error.into(),
            ControlError::Database(error) => error.into(),
        }
    }
}

/// The deadline of whoever waits for an answer.
struct Deadline {
    clock: Clock,
    at: Millis,
    stopping: CancellationToken,
}

impl Deadline {
    fn new(app: &App, within: Millis) -> Self {
        let at = app.clock.now().saturating_add(within);
        Self { clock: app.clock.clone(), at, stopping: app.stopping() }
    }

    /// The answer, or why there is none.
    async fn wait<T>(&self, server: &Identifier, answer: impl Future<Output = Option<T>>) -> Result<T, ControlError> {
        tokio::select! {
            // An answer that is there counts, whatever else happens.
            biased;
            answer = answer => answer.ok_or_else(|| ControlError::NoAnswer(server.clone())),
            () = self.stopping.cancelled() => Err(ControlError::Stopping),
            () = self.clock.sleep_until(self.at) => Err(ControlError::NoAnswer(server.clone())),
        }
    }
}

/// What the server's node agent says of it, if one is there.
pub(crate) fn report(app: &App, network: NetworkId, server: &Identifier) -> Option<Report> {
    app.control.agents.report(network, server, app.clock.now())
}

/// An agent asks for its server's commands, and waits up to `wait_ms` for one.
pub(super) async fn poll(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    report: Report,
    wait_ms: Millis,
    lease: &RequestLease,
) -> Result<Vec<String>, ControlError> {
    let now = app.clock.now();
    let until = now.saturating_add(wait_ms);
    let mut poll = app.control.agents.poll(network, server, report, now);
    let news = poll.news();
    let stopping = app.stopping();
    loop {
        // Hears of what comes from here on, while it is not waited for too.
        let notified = news.notified();
        let now = app.clock.now();
        match poll.take(now) {
            Found::Commands(commands) => {
                // They are nowhere else: the answer counts, wherever the network lives.
                lease.release();
                return hand_out(app, network, server, &poll, commands).await;
            }
            Found::Replaced => return Ok(vec![]),
            Found::Nothing if now >= until || stopping.is_cancelled() => return Ok(vec![]),
            Found::Nothing => {}
        }
        tokio::select! {
            () = notified => {}
            () = app.clock.sleep_until(until) => {}
            () = stopping.cancelled() => {}
        }
    }
}

async fn hand_out(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    poll: &Poll,
    commands: Vec<Pending>,
) -> Result<Vec<String>, ControlError> {
    let stored: Vec<_> = commands.iter().filter(|pending| pending.stored).map(|pending| pending.command.id).collect();
    // Before they are handed out, so that none is twice.
    if !stored.is_empty()
        && let Err(error) = store::delete_commands(&app.db, network, server, stored).await
    {
        poll.put_back(commands);
        return Err(error.into());
    }
    Ok(commands.iter().map(|pending| pending.command.text()).collect())
}

/// An agent says how a command went. One that nobody waits for (any more) is nobody's business.
pub(super) async fn answered(app: &App, network: NetworkId, server: Identifier, command_id: &str, answer: Answer) {
    if let Ok(id) = command_id.parse() {
        answers::give(app, Answered::ByAgent((network, server, id), answer)).await;
    }
}

/// Has the server's agent do something, and waits for how it went. Where the network moves meanwhile, a command that was
/// not fetched yet is given at its next home.
pub(super) async fn ask(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    action: Action,
    lease: &RequestLease,
) -> Result<Answer, ControlError> {
    let deadline = Deadline::new(app, millis(ANSWER_WITHIN));
    let now = app.clock.now();
    let command = Command { id: app.ids.uuid(), action, issued_at: now };
    let Some(mut ticket) = app.control.agents.send(network, server, command, now, deadline.at) else {
        return Err(no_node(app, network, server).await?);
    };
    tokio::select! {
        answer = deadline.wait(server, ticket.answer()) => return answer,
        () = lease.wait_for_move() => {}
    }
    if ticket.take_back() {
        lease.retry_on_owner();
        return Err(ControlError::Moving);
    }
    lease.release();
    deadline.wait(server, ticket.answer()).await
}

/// Leaves something for the server's agent to do if it fetches it before `until`, also where the hub is another process
/// by then. How it goes, nobody is told.
pub async fn tell(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    action: Action,
    until: Millis,
    lease: &RequestLease,
) -> Result<(), ControlError> {
    let now = app.clock.now();
    let command = Command { id: app.ids.uuid(), action, issued_at: now };
    let stored = app
        .db
        .transaction(async |mut tx| {
            // Otherwise the next home would not read it.
            if !app.shards.lock_lease(&mut tx, network).await? {
                return Err(ControlError::Moving);
            }
            Ok(store::insert_command(&mut tx, network, server, &command, until, now).await?)
        })
        .await;
    if matches!(stored, Err(ControlError::Moving)) {
        lease.retry_on_owner();
    }
    stored?;
    lease.release();
    // What the agent is to do is done: one that gave way and stays in the database comes again after a restart at worst.
    if let Some(oldest) = app.control.agents.tell(network, server, command, now, until)
        && let Err(error) = store::delete_commands(&app.db, network, server, vec![oldest.command.id]).await
    {
        tracing::warn!(%network, %error, "a command that gave way to newer ones could not be deleted");
    }
    Ok(())
}

/// Why a server cannot be reached: an agent that polls makes one known that never registered.
async fn no_node(app: &App, network: NetworkId, server: &Identifier) -> Result<ControlError, hub_db::Error> {
    let known = servers::service::is_known_server(app, network, server).await?;
    let server = server.clone();
    Ok(if known { ControlError::NoNode(server) } else { ControlError::UnknownServer(server) })
}

/// The newest lines of the server's output, from its agent.
pub(super) async fn output(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    lines: i64,
    lease: &RequestLease,
) -> Result<String, ControlError> {
    let answer = ask(app, network, server, Action::Logs { lines }, lease).await?;
    let failed = |why: String| ControlError::NoOutput(server.clone(), why);
    if !answer.ok {
        return Err(failed(answer.error.unwrap_or_else(|| "it does not say why".to_owned())));
    }
    let content = answer.result.as_ref().and_then(|result| result.get("content")?.as_str().map(str::to_owned));
    content.ok_or_else(|| failed("its answer has no `content`".to_owned()))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExecuteCommand<'a> {
    request_id: &'a str,
    command: &'a str,
    timeout_ms: Millis,
}

/// Has the server's connector run a console command, and waits for its outcome.
pub(super) async fn execute(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    command: &str,
    timeout_ms: Millis,
    lease: &RequestLease,
) -> Result<CommandOutcome, ControlError> {
    if servers::service::snapshot(app, network, server).is_none() {
        let known = servers::service::is_known_server(app, network, server).await?;
        let server = server.clone();
        return Err(if known { ControlError::Offline(server) } else { ControlError::UnknownServer(server) });
    }
    if !app.bus.is_connected(network.0.as_u128(), server.as_str()) {
        return Err(ControlError::NotConnected(server.clone()));
    }
    let request_id = app.ids.uuid().to_string();
    let deadline = Deadline::new(app, timeout_ms);
    let mut waiter = app.control.commands.0.register((network, request_id.clone()));
    let payload = ExecuteCommand { request_id: &request_id, command, timeout_ms };
    events::publish(app, network, EventKind::ExecuteCommand, Some(server.as_str()), payload).await?;
    // Wherever the network lives when its connector answers, the answer comes here.
    lease.release();
    deadline.wait(server, waiter.wait()).await
}

/// A connector says how a command went. One that nobody waits for (any more) is nobody's business.
pub(super) async fn executed(app: &App, network: NetworkId, request_id: String, outcome: CommandOutcome) {
    answers::give(app, Answered::ByConnector((network, request_id), outcome)).await;
}

/// Keeps lines of a server's output, and hands them to who follows it. How many there were.
pub(super) async fn add_lines(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    mut lines: Vec<NewLine>,
) -> Result<i64, ControlError> {
    let accepted = lines.len() as i64;
    if lines.is_empty() {
        return Ok(0);
    }
    // Those before would be deleted at once.
    lines.drain(..lines.len().saturating_sub(LINES_KEPT as usize));
    for line in &mut lines {
        line.text.truncate(line.text.floor_char_boundary(LONGEST_LINE));
    }
    let stored = lines.len() as i64;
    let last = app
        .db
        .transaction(async |mut tx| {
            let last = store::number_lines(&mut tx, network, server, accepted).await?;
            store::insert_lines(&mut tx, network, server, last - stored + 1, &lines).await?;
            if last / PRUNE_EVERY > (last - accepted) / PRUNE_EVERY {
                store::delete_lines(&mut tx, network, server, last - LINES_KEPT).await?;
            }
            Ok::<_, hub_db::Error>(last)
        })
        .await?;
    app.control.followers.tell(network, server, || {
        let numbered = lines.into_iter().zip(last - stored + 1..);
        numbered.map(|(line, seq)| LogLine { seq, at: line.at, stream: line.stream, text: line.text }).collect()
    });
    Ok(accepted)
}

/// A page of the server's log, the newest line first.
pub(super) async fn recent(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    page: PageNumber,
    limit: Limit,
) -> Result<Page<LogLine>, ControlError> {
    let last = last_line(app, network, server).await?;
    let kept_after = last.saturating_sub(LINES_KEPT).max(0);
    let newest = last.saturating_sub(page.offset(limit));
    let after = newest.saturating_sub(limit.0).max(kept_after);
    let items =
        if newest > after { store::lines_before(&app.db, network, server, after, newest).await? } else { vec![] };
    Ok(Page::new(items, page, limit, last - kept_after))
}

/// The number of the log's last line; 0 for a server that has none yet.
pub(super) async fn last_line(app: &App, network: NetworkId, server: &Identifier) -> Result<i64, ControlError> {
    if let Some(last) = store::last_seq(&app.db, network, server).await? {
        return Ok(last);
    }
    let known =
        report(app, network, server).is_some() || servers::service::is_known_server(app, network, server).await?;
    if known { Ok(0) } else { Err(ControlError::UnknownServer(server.clone())) }
}
