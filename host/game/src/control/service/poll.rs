//! Polls by agents for their servers' commands.

use crate::app::App;
use crate::clock::Millis;
use crate::cluster::RequestLease;
use crate::control::agents::{PendingCommand, Poll, PollOutcome};
use crate::control::service::commands::check_agent;
use crate::control::service::error::ControlError;
use crate::control::{Control, store};
use crate::http::answer::json_size;
use crate::limits::{self, Limit};
use crate::presence::AgentReport;
use crate::values::{Identifier, NetworkId};

/// Returns the server's commands to its agent and waits up to `wait_ms` for one.
pub(in crate::control) async fn poll(
    app: &App,
    network: NetworkId,
    server: &Identifier,
    report: AgentReport,
    wait_ms: Millis,
    lease: &RequestLease,
) -> Result<Vec<String>, ControlError> {
    limits::check(app, Limit::AgentReportBytes, 0, json_size(&report) as i64)?;
    check_agent(app, network, server)?;
    let now = app.clock.now();
    let until = app.clock.moment_of(now.saturating_add(wait_ms));
    let mut poll = app.state::<Control>().agents.poll(network, server, report, now);
    let changed = poll.changed();
    let stopping = app.stopping();
    loop {
        // Enabled from here on, before it is awaited below.
        let notified = changed.notified();
        let now = app.clock.now();
        match poll.take(now) {
            PollOutcome::Commands(commands) => {
                // The commands exist nowhere else now, so the response is valid even if the network moves.
                lease.release();
                return hand_out(app, network, server, &poll, commands).await;
            }
            PollOutcome::Replaced => return Ok(vec![]),
            PollOutcome::Nothing if app.clock.moment() >= until || stopping.is_cancelled() => return Ok(vec![]),
            PollOutcome::Nothing => {}
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
    commands: Vec<PendingCommand>,
) -> Result<Vec<String>, ControlError> {
    let stored: Vec<_> = commands.iter().filter(|pending| pending.stored).map(|pending| pending.command.id).collect();
    // Deleted before they are handed out, so that none is handed out twice.
    if !stored.is_empty()
        && let Err(error) = store::delete_commands(&app.db, network, server, &stored).await
    {
        poll.put_back(commands);
        return Err(error.into());
    }
    Ok(commands.iter().map(|pending| pending.command.to_json()).collect())
}
