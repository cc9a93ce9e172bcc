//! Reply to one command.

use std::sync::Arc;

use hub_bus::PendingReply;
use uuid::Uuid;

use crate::control::agents::entry::AgentEntry;
use crate::control::model::{AgentReply, CommandKey};

/// A command in progress; dropping it cancels the command.
pub(in crate::control) struct ReplyHandle {
    waiter: PendingReply<AgentReply, CommandKey>,
    entry: Arc<AgentEntry>,
    id: Uuid,
}

impl ReplyHandle {
    pub(super) fn new(waiter: PendingReply<AgentReply, CommandKey>, entry: Arc<AgentEntry>, id: Uuid) -> Self {
        Self { waiter, entry, id }
    }

    /// Waits for the reply.
    pub(in crate::control) async fn wait(&mut self) -> Option<AgentReply> {
        self.waiter.wait().await
    }

    /// Removes the queued command; false if it was fetched already.
    pub(in crate::control) fn cancel(&self) -> bool {
        self.entry.cancel(self.id)
    }
}

impl Drop for ReplyHandle {
    fn drop(&mut self) {
        self.cancel();
    }
}
