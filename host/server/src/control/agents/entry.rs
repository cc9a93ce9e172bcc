//! One server's agent and its queue.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::clock::Millis;
use crate::control::model::AgentCommand;
use crate::limits::Limit;
use crate::presence::AgentReport;

/// How long an agent counts as connected after its last poll ended, in milliseconds.
pub(in crate::control) const AGENT_TTL: Millis = 30_000;
/// Commands that wait for one agent.
const MAX_PENDING: usize = Limit::PendingCommands.bound() as usize;

/// A server's agent.
#[derive(Default)]
pub(super) struct AgentEntry {
    pub(super) state: Mutex<AgentState>,
    /// Notified of a new command and of a newer poll.
    pub(super) changed: Arc<Notify>,
}

#[derive(Default)]
pub(super) struct AgentState {
    pub(super) report: Option<AgentReport>,
    /// When the last poll that has ended did.
    pub(super) ended_at: Millis,
    pub(super) open_polls: usize,
    /// The number of the latest poll.
    pub(super) latest_poll: u64,
    pub(super) pending: VecDeque<PendingCommand>,
}

/// A command that waits for its agent.
#[derive(Clone, Debug)]
pub(in crate::control) struct PendingCommand {
    pub(in crate::control) command: AgentCommand,
    pub(in crate::control) expires_at: Millis,
    /// It is in the database, too: nobody waits for its reply, and it outlives this process.
    pub(in crate::control) stored: bool,
}

impl AgentState {
    pub(super) fn is_connected(&self, now: Millis) -> bool {
        self.report.is_some() && (self.open_polls > 0 || now < self.ended_at.saturating_add(AGENT_TTL))
    }

    pub(super) fn drop_expired(&mut self, now: Millis) {
        self.pending.retain(|pending| now < pending.expires_at);
    }
}

impl AgentEntry {
    /// Queues a command. A stored one replaces the oldest of too many, which is returned.
    pub(super) fn push(&self, pending: PendingCommand, now: Millis) -> Option<PendingCommand> {
        let mut state = self.state.lock();
        state.drop_expired(now);
        let is_full = pending.stored && state.pending.len() >= MAX_PENDING;
        let oldest = if is_full { state.pending.pop_front() } else { None };
        state.pending.push_back(pending);
        drop(state);
        self.changed.notify_waiters();
        oldest
    }

    /// How many commands wait.
    pub(super) fn pending(&self, now: Millis) -> usize {
        let mut state = self.state.lock();
        state.drop_expired(now);
        state.pending.len()
    }

    /// Queues a command that was saved.
    pub(super) fn restore(&self, pending: PendingCommand) {
        self.state.lock().pending.push_back(pending);
        self.changed.notify_waiters();
    }

    /// Takes a command back; false where it was fetched already.
    pub(super) fn cancel(&self, id: Uuid) -> bool {
        let mut state = self.state.lock();
        let before = state.pending.len();
        state.pending.retain(|pending| pending.command.id != id);
        state.pending.len() < before
    }
}
