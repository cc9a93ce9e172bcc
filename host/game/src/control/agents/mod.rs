//! Connected agents and their queued commands, in memory. No lock is held across an await.

mod entry;
mod poll;
mod reply;

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hub_bus::PendingReplies;
use parking_lot::RwLock;

use crate::app::App;
use crate::clock::Millis;
use crate::control::Control;
use crate::control::agents::entry::AgentEntry;
use crate::control::model::{AgentCommand, AgentReply, CommandKey};
use crate::presence::AgentReport;
use crate::values::{Identifier, NetworkId};

pub(super) use entry::{AGENT_TTL, PendingCommand};
pub(super) use poll::{Poll, PollOutcome};
pub(super) use reply::ReplyHandle;

pub(super) const SWEEP_INTERVAL: Duration = Duration::from_secs(30);

type ServerKey = (NetworkId, Identifier);

/// All agents by server.
#[derive(Default)]
pub(super) struct Agents {
    entries: RwLock<HashMap<ServerKey, Arc<AgentEntry>>>,
    waiting: PendingReplies<AgentReply, CommandKey>,
}

/// Saved form of a connected agent.
#[derive(Clone, Debug)]
pub(super) struct AgentSnapshot {
    pub(super) server: Identifier,
    pub(super) report: AgentReport,
    pub(super) last_polled: Millis,
}

impl Agents {
    /// Begins an agent's poll for commands.
    pub(super) fn poll(&self, network: NetworkId, server: &Identifier, report: AgentReport, now: Millis) -> Poll {
        Poll::begin(self.entry(network, server), report, now)
    }

    /// Last report of the server's agent, if it is connected.
    pub(super) fn report(&self, network: NetworkId, server: &Identifier, now: Millis) -> Option<AgentReport> {
        let entry = self.find(network, server)?;
        let state = entry.state.lock();
        state.report.clone().filter(|_| state.is_connected(now))
    }

    /// Number of the network's servers with an entry, and true if this server has one.
    pub(super) fn count(&self, network: NetworkId, server: &Identifier) -> (usize, bool) {
        let entries = self.entries.read();
        if entries.contains_key(&(network, server.clone())) {
            return (0, true);
        }
        (entries.keys().filter(|(of, _)| *of == network).count(), false)
    }

    /// Number of commands queued for the server's agent.
    pub(super) fn pending(&self, network: NetworkId, server: &Identifier, now: Millis) -> usize {
        self.find(network, server).map_or(0, |entry| entry.pending(now))
    }

    /// Queues a command for the server's agent, if it is connected. Dropping the handle cancels the command.
    pub(super) fn send(
        &self,
        network: NetworkId,
        server: &Identifier,
        command: AgentCommand,
        now: Millis,
        expires_at: Millis,
    ) -> Option<ReplyHandle> {
        let id = command.id;
        // Registered first: an agent may reply immediately.
        let waiter = self.waiting.register((network, server.clone(), id));
        let entry = self.find(network, server)?;
        if !entry.state.lock().is_connected(now) {
            return None;
        }
        entry.push(PendingCommand { command, expires_at, stored: false }, now);
        Some(ReplyHandle::new(waiter, entry, id))
    }

    /// Queues a stored command without waiting for its reply. The agent need not be connected yet. If the queue is
    /// full, the oldest command is dropped, and returned if it is stored.
    pub(super) fn enqueue(
        &self,
        network: NetworkId,
        server: &Identifier,
        command: AgentCommand,
        now: Millis,
        expires_at: Millis,
    ) -> Option<PendingCommand> {
        let dropped = self.entry(network, server).push(PendingCommand { command, expires_at, stored: true }, now);
        dropped.filter(|pending| pending.stored)
    }

    /// Restores a network's saved agents and commands.
    pub(super) fn restore(
        &self,
        network: NetworkId,
        agents: Vec<AgentSnapshot>,
        commands: Vec<(Identifier, PendingCommand)>,
    ) {
        for AgentSnapshot { server, report, last_polled } in agents {
            let entry = self.entry(network, &server);
            let mut state = entry.state.lock();
            // A poll since then has a newer report.
            state.report.get_or_insert(report);
            state.ended_at = state.ended_at.max(last_polled);
        }
        for (server, pending) in commands {
            self.entry(network, &server).restore(pending);
        }
    }

    /// Connected agents of the network.
    pub(super) fn snapshots(&self, network: NetworkId, now: Millis) -> Vec<AgentSnapshot> {
        let entries = self.entries.read();
        let of_network = entries.iter().filter(|((of, _), _)| *of == network);
        let connected = of_network.filter_map(|((_, server), entry)| {
            let state = entry.state.lock();
            let report = state.report.clone().filter(|_| state.is_connected(now))?;
            let last_polled = if state.open_polls > 0 { now } else { state.ended_at };
            Some(AgentSnapshot { server: server.clone(), report, last_polled })
        });
        connected.collect()
    }

    /// Moves the times by which anything ends, as the clock is set.
    pub(super) fn shift(&self, by: Millis) {
        for entry in self.entries.read().values() {
            entry.state.lock().shift(by);
        }
    }

    /// Networks that have agents.
    pub(super) fn networks(&self) -> HashSet<NetworkId> {
        self.entries.read().keys().map(|(network, _)| *network).collect()
    }

    /// Passes an agent's reply to the waiting request. Returns the reply if none waits on this node.
    pub(super) fn complete(&self, key: &CommandKey, reply: AgentReply) -> Result<(), AgentReply> {
        self.waiting.complete(key, reply)
    }

    /// Number of requests waiting for a reply.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Drops the agents of a network that moved to another node. Their polls end with their requests.
    pub(super) fn evict(&self, network: NetworkId) {
        self.entries.write().retain(|(of, _), _| *of != network);
    }

    fn find(&self, network: NetworkId, server: &Identifier) -> Option<Arc<AgentEntry>> {
        self.entries.read().get(&(network, server.clone())).cloned()
    }

    fn entry(&self, network: NetworkId, server: &Identifier) -> Arc<AgentEntry> {
        self.find(network, server)
            .unwrap_or_else(|| Arc::clone(self.entries.write().entry((network, server.clone())).or_default()))
    }
}

/// Drops disconnected agents and expired commands to free memory.
pub(super) async fn sweep(app: App) -> Result<(), Infallible> {
    let now = app.clock.now();
    app.state::<Control>().agents.entries.write().retain(|_, entry| {
        let mut state = entry.state.lock();
        state.drop_expired(now);
        // While the map is locked no new clone of an unshared entry can appear.
        Arc::strong_count(entry) > 1 || state.is_connected(now) || !state.pending.is_empty()
    });
    Ok(())
}
