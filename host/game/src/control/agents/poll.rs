//! Polls of agents.

use std::sync::Arc;

use tokio::sync::Notify;

use crate::clock::Millis;
use crate::control::agents::entry::{AgentEntry, PendingCommand};
use crate::presence::AgentReport;

/// An open poll.
pub(in crate::control) struct Poll {
    entry: Arc<AgentEntry>,
    number: u64,
    node_id: String,
    /// Time of the last look for commands: a poll whose client disconnected ended then.
    now: Millis,
}

/// Result of a poll.
pub(in crate::control) enum PollOutcome {
    /// Commands in order.
    Commands(Vec<PendingCommand>),
    /// Replaced by a newer poll of the same node.
    Replaced,
    /// No command has come yet.
    Nothing,
}

impl Poll {
    pub(super) fn begin(entry: Arc<AgentEntry>, report: AgentReport, now: Millis) -> Self {
        let mut state = entry.state.lock();
        state.latest_poll += 1;
        state.open_polls += 1;
        let (number, node_id) = (state.latest_poll, report.node_id.clone());
        state.report = Some(report);
        drop(state);
        entry.changed.notify_waiters();
        Self { entry, number, node_id, now }
    }

    /// Notified when there may be something new.
    pub(in crate::control) fn changed(&self) -> Arc<Notify> {
        Arc::clone(&self.entry.changed)
    }

    /// Takes the queued commands. Only the latest poll gets any: an earlier one may belong to an agent that is gone.
    pub(in crate::control) fn take(&mut self, now: Millis) -> PollOutcome {
        self.now = now;
        let mut state = self.entry.state.lock();
        if state.latest_poll != self.number {
            let same_node = state.report.as_ref().is_some_and(|report| report.node_id == self.node_id);
            // Another node's poll continues without commands: otherwise two agents would end each other's polls
            // forever.
            return if same_node { PollOutcome::Replaced } else { PollOutcome::Nothing };
        }
        state.drop_expired(now);
        if state.pending.is_empty() {
            return PollOutcome::Nothing;
        }
        PollOutcome::Commands(state.pending.drain(..).collect())
    }

    /// Returns commands to the queue that could not be handed out.
    pub(in crate::control) fn put_back(&self, commands: Vec<PendingCommand>) {
        let mut state = self.entry.state.lock();
        for pending in commands.into_iter().rev() {
            state.pending.push_front(pending);
        }
    }
}

impl Drop for Poll {
    fn drop(&mut self) {
        let mut state = self.entry.state.lock();
        state.open_polls -= 1;
        state.ended_at = state.ended_at.max(self.now);
    }
}
