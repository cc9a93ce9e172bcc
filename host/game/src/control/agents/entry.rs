//! Agent of one server, and its queue.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::clock::Millis;
use crate::control::model::AgentCommand;
use crate::limits::Limit;
use crate::presence::AgentReport;

/// Time after an agent's last poll during which it counts as connected, in milliseconds.
pub(in crate::control) const AGENT_TTL: Millis = 30_000;
/// Maximum number of queued commands per agent.
const MAX_PENDING: usize = Limit::PendingCommands.bound() as usize;

/// Agent of a server.
#[derive(Default)]
pub(super) struct AgentEntry {
    pub(super) state: Mutex<AgentState>,
    /// Notified of new commands and newer polls.
    pub(super) changed: Arc<Notify>,
}

#[derive(Default)]
pub(super) struct AgentState {
    pub(super) report: Option<AgentReport>,
    /// End of the last finished poll.
    pub(super) ended_at: Millis,
    pub(super) open_polls: usize,
    /// Number of the latest poll.
    pub(super) latest_poll: u64,
    pub(super) pending: VecDeque<PendingCommand>,
}

/// A command that waits for its agent.
#[derive(Clone, Debug)]
pub(in crate::control) struct PendingCommand {
    pub(in crate::control) command: AgentCommand,
    pub(in crate::control) expires_at: Millis,
    /// Also stored in the database: no request waits for its reply, and it outlives this process.
    pub(in crate::control) stored: bool,
}

impl AgentState {
    pub(super) fn is_connected(&self, now: Millis) -> bool {
        self.report.is_some() && (self.open_polls > 0 || now < self.ended_at.saturating_add(AGENT_TTL))
    }

    pub(super) fn shift(&mut self, by: Millis) {
        self.ended_at = self.ended_at.saturating_add(by);
        for pending in &mut self.pending {
            pending.expires_at = pending.expires_at.saturating_add(by);
        }
    }

    pub(super) fn drop_expired(&mut self, now: Millis) {
        self.pending.retain(|pending| now < pending.expires_at);
    }
}

impl AgentEntry {
    /// Queues a command. If the queue is full of stored commands, the oldest is dropped and returned.
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

    /// Number of queued commands.
    pub(super) fn pending(&self, now: Millis) -> usize {
        let mut state = self.state.lock();
        state.drop_expired(now);
        state.pending.len()
    }

    /// Queues a saved command.
    pub(super) fn restore(&self, pending: PendingCommand) {
        self.state.lock().pending.push_back(pending);
        self.changed.notify_waiters();
    }

    /// Removes a queued command; false if it was fetched already.
    pub(super) fn cancel(&self, id: Uuid) -> bool {
        let mut state = self.state.lock();
        let before = state.pending.len();
        state.pending.retain(|pending| pending.command.id != id);
        state.pending.len() < before
    }
}
