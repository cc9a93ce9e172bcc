//! The agents that are there and the commands that wait for them, in memory. No lock is held over an await.
//!
//! The rest of the room reaches an agent by these calls alone: `poll`, `answered` from its side, `send`, `report` from
//! the hub's. A hub of several nodes can carry them to the node where the agent polls.

use std::collections::{HashMap, HashSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hub_bus::{PendingReplies, PendingReply};
use parking_lot::{Mutex, RwLock};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::app::App;
use crate::clock::Millis;
use crate::control::model::{Answer, Command, Report};
use crate::values::{Identifier, NetworkId};

/// How long an agent is there after its last poll ended, in milliseconds.
pub(super) const THERE_FOR: Millis = 30_000;
/// Commands that wait for one agent.
const MOST_PENDING: usize = 100;
pub(super) const SWEEP_EVERY: Duration = Duration::from_secs(30);

type ServerKey = (NetworkId, Identifier);
/// A command of a server.
pub(super) type CommandKey = (NetworkId, Identifier, Uuid);

/// See the module.
#[derive(Default)]
pub(super) struct Agents {
    nodes: RwLock<HashMap<ServerKey, Arc<Node>>>,
    waiting: PendingReplies<Answer, CommandKey>,
}

impl std::fmt::Debug for Agents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agents").field("nodes", &self.nodes.read().len()).finish_non_exhaustive()
    }
}

/// One server as its agent shows it.
#[derive(Default)]
struct Node {
    state: Mutex<State>,
    /// There is a command, or a newer poll.
    news: Arc<Notify>,
}

#[derive(Default)]
struct State {
    report: Option<Report>,
    /// When the last poll that has ended did.
    ended_at: Millis,
    /// Polls that wait.
    open: usize,
    /// Counts the polls.
    newest: u64,
    pending: VecDeque<Pending>,
}

/// A command that waits for its agent.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub(super) command: Command,
    /// From then on it is dropped.
    pub(super) until: Millis,
    /// The database has it, too: nobody waits for its answer, and it outlives this process.
    pub(super) stored: bool,
}

/// An agent that is there.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) server: Identifier,
    pub(super) report: Report,
    /// When it last polled.
    pub(super) at: Millis,
}

impl State {
    fn is_there(&self, now: Millis) -> bool {
        self.report.is_some() && (self.open > 0 || now < self.ended_at.saturating_add(THERE_FOR))
    }

    fn drop_late(&mut self, now: Millis) {
        self.pending.retain(|pending| now < pending.until);
    }
}

impl Agents {
    /// An agent asks for its server's commands and says how it is.
    pub(super) fn poll(&self, network: NetworkId, server: &Identifier, report: Report, now: Millis) -> Poll {
        let node = self.node(network, server);
        let mut state = node.state.lock();
        state.newest += 1;
        state.open += 1;
        let poll = Poll { number: state.newest, node_id: report.node_id.clone(), now, node: Arc::clone(&node) };
        state.report = Some(report);
        drop(state);
        node.news.notify_waiters();
        poll
    }

    /// What the server's agent says, if it is there.
    pub(super) fn report(&self, network: NetworkId, server: &Identifier, now: Millis) -> Option<Report> {
        let node = self.existing(network, server)?;
        let state = node.state.lock();
        state.report.clone().filter(|_| state.is_there(now))
    }

    /// Leaves a command for the server's agent, if it is there; dropping the ticket takes it back.
    pub(super) fn send(
        &self,
        network: NetworkId,
        server: &Identifier,
        command: Command,
        now: Millis,
        until: Millis,
    ) -> Option<Ticket> {
        let id = command.id;
        // Before an agent can answer.
        let waiter = self.waiting.register((network, server.clone(), id));
        let node = self.leave(network, server, Pending { command, until, stored: false }, now)?;
        Some(Ticket { waiter, left: Left { node, id } })
    }

    /// Leaves a command whose answer nobody waits for, and which is stored. The agent need not be there yet; of too many
    /// the oldest goes, and is given back where it was stored.
    pub(super) fn tell(
        &self,
        network: NetworkId,
        server: &Identifier,
        command: Command,
        now: Millis,
        until: Millis,
    ) -> Option<Pending> {
        let node = self.node(network, server);
        let mut state = node.state.lock();
        state.drop_late(now);
        let oldest = if state.pending.len() >= MOST_PENDING { state.pending.pop_front() } else { None };
        state.pending.push_back(Pending { command, until, stored: true });
        drop(state);
        node.news.notify_waiters();
        oldest.filter(|pending| pending.stored)
    }

    /// Brings back what was stored of a network.
    pub(super) fn restore(&self, network: NetworkId, seen: Vec<Seen>, commands: Vec<(Identifier, Pending)>) {
        for Seen { server, report, at } in seen {
            let node = self.node(network, &server);
            let mut state = node.state.lock();
            // What polled meanwhile knows better.
            state.report.get_or_insert(report);
            state.ended_at = state.ended_at.max(at);
        }
        for (server, pending) in commands {
            let node = self.node(network, &server);
            node.state.lock().pending.push_back(pending);
            node.news.notify_waiters();
        }
    }

    /// The network's agents that are there.
    pub(super) fn seen(&self, network: NetworkId, now: Millis) -> Vec<Seen> {
        let nodes = self.nodes.read();
        let of_network = nodes.iter().filter(|((of, _), _)| *of == network);
        let seen = of_network.filter_map(|((_, server), node)| {
            let state = node.state.lock();
            let report = state.report.clone().filter(|_| state.is_there(now))?;
            Some(Seen { server: server.clone(), report, at: if state.open > 0 { now } else { state.ended_at } })
        });
        seen.collect()
    }

    /// The networks that have agents.
    pub(super) fn networks(&self) -> HashSet<NetworkId> {
        self.nodes.read().keys().map(|(network, _)| *network).collect()
    }

    /// An agent says how a command went. Given back where nobody waits for it here.
    pub(super) fn answered(&self, key: &CommandKey, answer: Answer) -> Result<(), Answer> {
        self.waiting.complete(key, answer)
    }

    /// How many wait for an answer.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn leave(&self, network: NetworkId, server: &Identifier, pending: Pending, now: Millis) -> Option<Arc<Node>> {
        let node = self.existing(network, server)?;
        let mut state = node.state.lock();
        if !state.is_there(now) {
            return None;
        }
        state.drop_late(now);
        state.pending.push_back(pending);
        drop(state);
        node.news.notify_waiters();
        Some(node)
    }

    fn existing(&self, network: NetworkId, server: &Identifier) -> Option<Arc<Node>> {
        self.nodes.read().get(&(network, server.clone())).cloned()
    }

    fn node(&self, network: NetworkId, server: &Identifier) -> Arc<Node> {
        self.existing(network, server)
            .unwrap_or_else(|| Arc::clone(self.nodes.write().entry((network, server.clone())).or_default()))
    }

    /// Lets go of a network that lives elsewhere. Its polls end with the requests they are.
    pub(super) fn forget(&self, network: NetworkId) {
        self.nodes.write().retain(|(of, _), _| *of != network);
    }

    /// Forgets who is gone. They count for nothing already; this only gives memory back.
    fn sweep(&self, now: Millis) {
        self.nodes.write().retain(|_, node| {
            let mut state = node.state.lock();
            state.drop_late(now);
            // While the map is locked nobody else comes by a node that it alone holds.
            Arc::strong_count(node) > 1 || state.is_there(now) || !state.pending.is_empty()
        });
    }
}

/// A poll that is under way.
pub(super) struct Poll {
    node: Arc<Node>,
    number: u64,
    node_id: String,
    /// When it last looked for commands. One whose client hung up is over since then.
    now: Millis,
}

/// What a poll finds.
pub(super) enum Found {
    /// These commands, in their order.
    Commands(Vec<Pending>),
    /// Its own node has polled again: this one is over.
    Replaced,
    /// Nothing yet.
    Nothing,
}

impl Poll {
    /// Told whenever there may be something new.
    pub(super) fn news(&self) -> Arc<Notify> {
        Arc::clone(&self.node.news)
    }

    /// Takes the commands that wait. Only the newest poll gets any: the one before may be of an agent that is gone.
    pub(super) fn take(&mut self, now: Millis) -> Found {
        self.now = now;
        let mut state = self.node.state.lock();
        if state.newest != self.number {
            let same_node = state.report.as_ref().is_some_and(|report| report.node_id == self.node_id);
            // Another node's poll goes on, deaf: two agents that ended each other's polls would do so without rest.
            return if same_node { Found::Replaced } else { Found::Nothing };
        }
        state.drop_late(now);
        if state.pending.is_empty() {
            return Found::Nothing;
        }
        Found::Commands(state.pending.drain(..).collect())
    }

    /// Puts back what was taken and could not be handed out.
    pub(super) fn put_back(&self, commands: Vec<Pending>) {
        let mut state = self.node.state.lock();
        for pending in commands.into_iter().rev() {
            state.pending.push_front(pending);
        }
    }
}

impl Drop for Poll {
    fn drop(&mut self) {
        let mut state = self.node.state.lock();
        state.open -= 1;
        state.ended_at = state.ended_at.max(self.now);
    }
}

/// One command's claim to its answer.
pub(super) struct Ticket {
    waiter: PendingReply<Answer, CommandKey>,
    left: Left,
}

impl Ticket {
    /// The answer.
    pub(super) async fn answer(&mut self) -> Option<Answer> {
        self.waiter.wait().await
    }

    /// Takes the command back; false where it was fetched already.
    pub(super) fn take_back(&self) -> bool {
        self.left.take_back()
    }
}

/// A command that was left; nobody wants it done once this is dropped.
struct Left {
    node: Arc<Node>,
    id: Uuid,
}

impl Left {
    fn take_back(&self) -> bool {
        let mut state = self.node.state.lock();
        let before = state.pending.len();
        state.pending.retain(|pending| pending.command.id != self.id);
        state.pending.len() < before
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        self.take_back();
    }
}

/// Forgets agents that are gone and commands nobody waits for.
pub(super) async fn sweep(app: App) -> Result<(), Infallible> {
    app.control.agents.sweep(app.clock.now());
    Ok(())
}
