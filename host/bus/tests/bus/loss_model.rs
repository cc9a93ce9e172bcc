//! Model of the detection of lost events: every order of publications, crashes, deliveries and checks is tried.
//!
//! One network, two nodes, one client. The stream numbers events from 1; a crash takes the newest ones away and breaks
//! all connections. A node knows the highest number it has seen and its newest event, applies deliveries, reads missed
//! events, and checks the stream in two steps, so that both may begin a new epoch. The rules are those of
//! `cluster/watch.rs` and `cluster/mirror.rs`.
//!
//! **Once everything has settled, the client has each acknowledged event, or was notified to reload everything after
//! its acknowledgement; and it never has an event twice without notice.**

use stateright::{Checker as _, Model, Property};

const NODES: usize = 2;

/// The rules, or broken ones that the checker must detect.
#[derive(Clone)]
struct Rules {
    publications: u8,
    crashes: u8,
    /// A check compares the newest number.
    compares_numbers: bool,
    /// A check compares events of earlier connections, and of this one.
    compares_events: bool,
    /// The newest event of an earlier connection is remembered until a check has found it.
    keeps_unconfirmed: bool,
}

const RULES: Rules =
    Rules { publications: 3, crashes: 1, compares_numbers: true, compares_events: true, keeps_unconfirmed: true };

/// An event's number and its identity.
type Stored = (u8, u8);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// The event with the number `index + 1`.
    stream: Vec<u8>,
    epoch: u8,
    begin: u8,
    nodes: [Node; NODES],
    client: Client,
    published: u8,
    acknowledged: u8,
    crashes: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Node {
    is_connected: bool,
    epoch: u8,
    /// The highest number seen.
    head: u8,
    newest: Option<Stored>,
    unconfirmed: Vec<Stored>,
    /// True if it has checked the stream over this connection.
    has_checked: bool,
    /// Number after which it is about to begin an epoch.
    beginning: Option<u8>,
    /// All events up to this number are in `log`.
    complete_to: u8,
    begin: u8,
    log: Vec<Stored>,
    /// Messages under way: the event, and the number of the one before.
    live: Vec<(Stored, u8)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Client {
    at: Option<usize>,
    epoch: u8,
    last: u8,
    /// A bit for each event.
    seen: u8,
    /// Events acknowledged before its last notice to reload everything.
    read_anew: u8,
    was_repeated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Action {
    Publish(usize),
    Deliver(usize),
    CatchUp(usize),
    Check(usize),
    BeginEpoch(usize),
    Connect(usize),
    Crash { keeps: u8 },
    Open(usize),
    Leave,
    Read,
}

impl State {
    fn head(&self) -> u8 {
        self.stream.len() as u8
    }

    fn has(&self, stored: Stored) -> bool {
        self.stream.get(usize::from(stored.0) - 1) == Some(&stored.1)
    }

    fn adopt(&mut self, node: usize, epoch: u8, begin: u8) {
        let head = self.head();
        let it = &mut self.nodes[node];
        *it = Node { is_connected: true, has_checked: true, epoch, begin, head, ..Node::default() };
        // It reads the stored events when a stream is opened.
        if self.client.at == Some(node) {
            self.client.at = None;
        }
    }

    /// True if only further publications and crashes can happen.
    fn is_settled(&self) -> bool {
        let is_current = |node: &Node| {
            node.is_connected
                && node.has_checked
                && node.beginning.is_none()
                && node.live.is_empty()
                && node.epoch == self.epoch
                && node.complete_to == self.head()
        };
        let client = &self.client;
        self.nodes.iter().all(is_current)
            && client.at.is_some()
            && client.epoch == self.epoch
            && client.last == self.head()
    }
}

impl Node {
    fn note(&mut self, stored: Stored) {
        self.head = self.head.max(stored.0);
        if self.newest.is_none_or(|newest| newest.0 < stored.0) {
            self.newest = Some(stored);
        }
    }

    fn take(&mut self, stored: Stored) {
        if stored.0 > self.complete_to {
            self.log.push(stored);
            self.complete_to = stored.0;
        }
    }
}

impl Rules {
    fn has_lost(&self, state: &State, node: &Node) -> bool {
        state.epoch < node.epoch
            || state.epoch == node.epoch
                && (self.compares_numbers && state.head() < node.head
                    || self.compares_events
                        && node
                            .unconfirmed
                            .iter()
                            .chain(&node.newest)
                            .any(|stored| usize::from(stored.0) <= state.stream.len() && !state.has(*stored)))
    }

    /// Checks the stream; `proof`: a number came twice.
    fn check(&self, state: &mut State, node: usize, proof: bool) {
        let it = &state.nodes[node];
        let (epoch, begin) = (state.epoch, state.begin);
        if self.has_lost(state, it) || proof && epoch == it.epoch {
            state.nodes[node].beginning = Some(state.head());
        } else if epoch > it.epoch {
            state.adopt(node, epoch, begin);
        } else {
            let head = state.head();
            let it = &mut state.nodes[node];
            it.has_checked = true;
            it.head = it.head.max(head);
            let newest = it.unconfirmed.drain(..).chain(it.newest).max();
            it.newest = newest;
        }
    }

    fn publish(&self, state: &mut State, node: usize) {
        let event = state.published;
        let before = state.nodes[node].head;
        state.published += 1;
        let previous = state.head();
        state.stream.push(event);
        let stored = (state.head(), event);
        for it in state.nodes.iter_mut().filter(|it| it.is_connected) {
            it.live.push((stored, previous));
        }
        // Not acknowledged: the number was assigned before.
        if stored.0 <= before {
            return self.check(state, node, true);
        }
        state.acknowledged |= 1 << event;
        state.nodes[node].note(stored);
    }
}

impl Model for Rules {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let node = Node { is_connected: true, has_checked: true, epoch: 1, ..Node::default() };
        let nodes = [node.clone(), node];
        let client = Client { at: Some(0), epoch: 1, ..Client::default() };
        let (stream, epoch, begin) = (vec![], 1, 0);
        vec![State { stream, epoch, begin, nodes, client, published: 0, acknowledged: 0, crashes: 0 }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (index, node) in state.nodes.iter().enumerate() {
            if node.beginning.is_some() {
                actions.push(Action::BeginEpoch(index));
                continue;
            }
            if !node.is_connected {
                actions.push(Action::Connect(index));
                continue;
            }
            if state.published < self.publications {
                actions.push(Action::Publish(index));
            }
            actions.push(Action::Check(index));
            let can_read = node.epoch == state.epoch && state.head() >= node.complete_to;
            if can_read && (node.complete_to < state.head()) {
                actions.push(Action::CatchUp(index));
            }
            if !node.live.is_empty() {
                actions.push(Action::Deliver(index));
            }
            if state.client.at.is_none() && can_read {
                actions.push(Action::Open(index));
            }
        }
        if state.client.at.is_some() {
            actions.extend([Action::Read, Action::Leave]);
        }
        if state.crashes < self.crashes {
            actions.extend((0..state.head()).map(|keeps| Action::Crash { keeps }));
        }
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        let head = state.head();
        match action {
            Action::Publish(node) => self.publish(&mut state, node),
            Action::Deliver(node) => {
                let it = &mut state.nodes[node];
                let (stored, previous) = it.live.remove(0);
                // Otherwise it reads the missing events.
                if previous <= it.complete_to {
                    it.note(stored);
                    it.take(stored);
                }
            }
            Action::CatchUp(node) => {
                let it = &mut state.nodes[node];
                for (index, event) in state.stream.iter().enumerate().skip(usize::from(it.complete_to)) {
                    let stored = (index as u8 + 1, *event);
                    it.note(stored);
                    it.take(stored);
                }
            }
            Action::Check(node) => self.check(&mut state, node, false),
            Action::BeginEpoch(node) => {
                let (epoch, begin) = (state.nodes[node].epoch + 1, state.nodes[node].beginning?);
                state.nodes[node].beginning = None;
                if state.nodes[node].is_connected {
                    (state.epoch, state.begin) = (epoch, begin);
                    state.adopt(node, epoch, begin);
                }
            }
            Action::Connect(node) => {
                let it = &mut state.nodes[node];
                it.is_connected = true;
                let newest = it.newest.take();
                if self.keeps_unconfirmed {
                    it.unconfirmed.extend(newest);
                }
            }
            Action::Crash { keeps } => {
                state.crashes += 1;
                state.stream.truncate(usize::from(keeps));
                for it in &mut state.nodes {
                    (it.is_connected, it.has_checked) = (false, false);
                    it.live.clear();
                }
            }
            Action::Open(node) => {
                let it = &mut state.nodes[node];
                for (index, event) in state.stream.iter().enumerate().skip(usize::from(it.complete_to)) {
                    it.note((index as u8 + 1, *event));
                    it.take((index as u8 + 1, *event));
                }
                let client = &mut state.client;
                client.at = Some(node);
                if client.epoch != it.epoch || client.last > head {
                    client.last = if client.epoch == it.epoch { head } else { it.begin };
                    client.epoch = it.epoch;
                    (client.read_anew, client.seen) = (state.acknowledged, 0);
                }
            }
            Action::Leave => state.client.at = None,
            Action::Read => {
                let client = &mut state.client;
                let log = &state.nodes[client.at?].log;
                let next = log.iter().find(|stored| stored.0 > client.last)?;
                client.was_repeated |= client.seen & (1 << next.1) != 0;
                client.seen |= 1 << next.1;
                client.last = next.0;
            }
        }
        (state != *before).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("nothing acknowledged is lost in silence", |_, state: &State| {
                let known = state.client.seen | state.client.read_anew;
                !state.is_settled() || state.acknowledged & !known == 0
            }),
            Property::always("nothing comes twice", |_, state: &State| !state.client.was_repeated),
            Property::sometimes("a loss is settled", |_, state: &State| state.is_settled() && state.epoch > 1),
        ]
    }
}

#[test]
fn no_order_of_a_loss_leaves_a_silent_gap() {
    let checked = RULES.checker().spawn_bfs().join();
    checked.assert_properties();
    assert!(checked.unique_state_count() > 20_000, "{}", checked.unique_state_count());
}

/// The model finds the failure that each rule prevents.
#[test]
fn each_rule_is_needed() {
    for broken in [
        Rules { compares_numbers: false, ..RULES },
        Rules { compares_events: false, ..RULES },
        Rules { keeps_unconfirmed: false, ..RULES },
    ] {
        let found = broken.clone().checker().spawn_bfs().join().discovery("nothing acknowledged is lost in silence");
        let rules = [broken.compares_numbers, broken.compares_events, broken.keeps_unconfirmed];
        assert!(found.is_some(), "nothing breaks with {rules:?}");
    }
}
