//! Model of the protocol of shard leases: every order of steps, pauses, lost requests and slow clocks is tried.
//!
//! One shard, two nodes, one row in the database. A node asks the database to renew, claim, release or transfer the
//! lease; the database executes that at some later moment or never, the node gets the answer later still or never, and
//! time passes meanwhile, which models a pause. Then the faults stop. The statements are those of `cluster/store.rs`,
//! the node's rules those of `cluster/renewal.rs` and `cluster/locations.rs`.

use std::collections::BTreeSet;

use stateright::{Checker as _, HasDiscoveries, Model, Property};

/// Duration of a lease, in ticks.
const TTL: u8 = 3;
const NODES: usize = 2;

/// The rules, or broken ones that the checker must detect.
#[derive(Clone)]
struct Leases {
    /// The faults stop at this tick.
    calm: u8,
    /// The holder considers its lease expired this much earlier.
    margin: u8,
    /// The holder counts the lease from its request, not from the answer.
    counts_from_request: bool,
    /// A transaction checks the fence before it writes.
    checks_fence: bool,
    /// A lease that expired at its holder stays expired until the database has released it, even if it was renewed
    /// there in time.
    releases_expired: bool,
    /// Selection of possible steps.
    steps: fn(Step) -> bool,
}

impl Leases {
    /// Tick by which the shard has an owner again.
    fn horizon(&self) -> u8 {
        self.calm + TTL + 2
    }
}

const RULES: Leases = Leases {
    calm: 3,
    margin: 1,
    counts_from_request: true,
    checks_fence: true,
    releases_expired: true,
    steps: |_| true,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Request {
    Renew,
    Claim,
    Release { fence: u8 },
    Transfer { fence: u8 },
}

/// A node's request under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Waiting {
    request: Request,
    /// By the node's own clock.
    asked_at: u8,
    /// Delay of the node's clock at that time.
    lag: u8,
    /// The database's answer, once there is one: the lease's fence.
    #[allow(clippy::option_option)]
    answer: Option<Option<u8>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Lease {
    fence: u8,
    /// By the node's own clock.
    expires_at: u8,
    /// Delay of the node's clock at its request.
    lag: u8,
    is_ending: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Round {
    #[default]
    Refresh,
    Claim,
    Done,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Node {
    lease: Option<Lease>,
    waiting: Option<Waiting>,
    /// A request that the node no longer waits for, and that the database may still execute.
    abandoned: Option<Request>,
    /// A write on its way to the database, with the fence it was begun under.
    write: Option<u8>,
    /// Delay of its clock.
    lag: u8,
    round: Round,
    /// Fence of the last lease that began here.
    begun: u8,
}

impl Node {
    fn clock(&self, now: u8) -> u8 {
        now - self.lag
    }

    fn has_expired(&self, now: u8) -> bool {
        self.lease.is_some_and(|lease| self.clock(now) >= lease.expires_at)
    }

    /// True if it serves the shard's networks from its memory.
    fn owns(&self, now: u8) -> bool {
        self.lease.is_some_and(|lease| !lease.is_ending) && !self.has_expired(now)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    /// By the database's clock.
    now: u8,
    owner: usize,
    fence: u8,
    expires_at: u8,
    nodes: [Node; NODES],
    /// Last writer.
    last_writer: Option<(usize, u8)>,
    wrote_outdated: bool,
    /// A lease began with the fence of one that had ended.
    reused_fence: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Tick,
    /// The node begins the next step of its round.
    Ask(usize),
    /// The node transfers its shard to the other.
    GiveAway(usize),
    BeginWrite(usize),
    Execute(usize),
    ExecuteAbandoned(usize),
    LoseAbandoned(usize),
    ExecuteWrite(usize),
    Hear(usize),
    /// The node stops waiting.
    GiveUp(usize),
    /// The node's clock falls behind, by a tick at most while a lease lasts.
    SlowDown(usize),
}

impl State {
    fn is_calm(&self, rules: &Leases) -> bool {
        self.now >= rules.calm
    }

    /// True if all have had their turn in this tick.
    fn is_settled(&self) -> bool {
        self.nodes.iter().all(|node| {
            node.round == Round::Done && node.waiting.is_none() && node.abandoned.is_none() && node.write.is_none()
        })
    }

    fn request_of(&self, node: usize) -> Option<Request> {
        let node = &self.nodes[node];
        match (node.round, node.lease) {
            _ if node.waiting.is_some() => None,
            (Round::Refresh, Some(lease)) if node.has_expired(self.now) => {
                Some(Request::Release { fence: lease.fence })
            }
            (Round::Refresh, _) => Some(Request::Renew),
            (Round::Claim, None) => Some(Request::Claim),
            (Round::Claim, Some(_)) | (Round::Done, _) => None,
        }
    }

    /// Runs a statement; returns the fence of the node's lease.
    fn execute(&mut self, node: usize, request: Request) -> Option<u8> {
        match request {
            Request::Renew if self.owner == node && self.expires_at > self.now => {
                self.expires_at = self.now + TTL;
                Some(self.fence)
            }
            Request::Claim if self.expires_at <= self.now => {
                (self.owner, self.fence, self.expires_at) = (node, self.fence + 1, self.now + TTL);
                Some(self.fence)
            }
            Request::Release { fence } if self.owner == node && self.fence == fence => {
                (self.fence, self.expires_at) = (self.fence + 1, 0);
                None
            }
            Request::Transfer { fence } if self.owner == node && self.fence == fence => {
                (self.owner, self.fence, self.expires_at) = (1 - node, self.fence + 1, self.now + TTL);
                None
            }
            _ => None,
        }
    }

    fn ask(&mut self, node: usize, request: Request) {
        let now = self.now;
        let node = &mut self.nodes[node];
        node.waiting = Some(Waiting { request, asked_at: node.clock(now), lag: node.lag, answer: None });
    }

    fn write(&mut self, node: usize, fence: u8, checks_fence: bool) {
        if checks_fence && (self.owner, self.fence) != (node, fence) {
            return;
        }
        self.wrote_outdated |= self.last_writer.is_some_and(|(_, last)| fence < last);
        self.last_writer = Some((node, fence));
    }

    fn hear(&mut self, index: usize, waiting: Waiting, rules: &Leases) {
        let now = self.now;
        let node = &mut self.nodes[index];
        let (since, lag) =
            if rules.counts_from_request { (waiting.asked_at, waiting.lag) } else { (node.clock(now), node.lag) };
        let expires_at = since + TTL - rules.margin;
        match (waiting.request, waiting.answer.flatten()) {
            (Request::Release { .. }, _) => {
                node.lease = None;
                return;
            }
            // For a renewal: another node's lease.
            (Request::Transfer { .. }, _) | (Request::Renew, None) => node.lease = None,
            (Request::Renew | Request::Claim, Some(fence)) => {
                let has_expired = node.has_expired(now);
                match &mut node.lease {
                    Some(lease) if lease.fence == fence && !has_expired => {
                        if !lease.is_ending {
                            (lease.expires_at, lease.lag) = (expires_at, lag);
                        }
                    }
                    // It must not be valid again after a node saw it end.
                    Some(lease) if lease.fence == fence && rules.releases_expired => return,
                    Some(_) => node.lease = None,
                    None => {
                        self.reused_fence |= fence == node.begun;
                        node.begun = fence;
                        node.lease = Some(Lease { fence, expires_at, lag, is_ending: false });
                    }
                }
            }
            (Request::Claim, None) => {}
        }
        node.round = match (waiting.request, node.lease) {
            (Request::Renew, None) => Round::Claim,
            _ => Round::Done,
        };
    }
}

impl Model for Leases {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            now: 1,
            owner: 0,
            fence: 0,
            expires_at: 0,
            nodes: [Node::default(), Node::default()],
            last_writer: None,
            wrote_outdated: false,
            reused_fence: false,
        }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        let is_calm = state.is_calm(self);
        if !is_calm || state.is_settled() {
            steps.push(Step::Tick);
        }
        for (index, node) in state.nodes.iter().enumerate() {
            if state.request_of(index).is_some() {
                steps.push(Step::Ask(index));
            }
            if node.owns(state.now) && node.write.is_none() && !is_calm {
                steps.push(Step::BeginWrite(index));
                if node.waiting.is_none() {
                    steps.push(Step::GiveAway(index));
                }
            }
            if node.write.is_some() {
                steps.push(Step::ExecuteWrite(index));
            }
            match node.waiting {
                Some(waiting) if waiting.answer.is_none() => steps.push(Step::Execute(index)),
                Some(_) => steps.push(Step::Hear(index)),
                None => {}
            }
            if node.waiting.is_some() && node.abandoned.is_none() && !is_calm {
                steps.push(Step::GiveUp(index));
            }
            if node.abandoned.is_some() {
                steps.extend([Step::ExecuteAbandoned(index), Step::LoseAbandoned(index)]);
            }
            let is_steady = |lag| lag == node.lag;
            let lags = [node.lease.map(|lease| lease.lag), node.waiting.map(|waiting| waiting.lag)];
            if !is_calm && node.lag == 0 && lags.into_iter().flatten().all(is_steady) {
                steps.push(Step::SlowDown(index));
            }
        }
        steps.retain(|step| (self.steps)(*step));
    }

    fn next_state(&self, before: &State, step: Step) -> Option<State> {
        let mut state = before.clone();
        match step {
            Step::Tick => {
                state.now += 1;
                for node in &mut state.nodes {
                    node.round = Round::Refresh;
                }
            }
            Step::Ask(node) => state.ask(node, before.request_of(node)?),
            Step::GiveAway(node) => {
                let lease = state.nodes[node].lease.as_mut()?;
                lease.is_ending = true;
                let fence = lease.fence;
                state.ask(node, Request::Transfer { fence });
            }
            Step::BeginWrite(node) => state.nodes[node].write = state.nodes[node].lease.map(|lease| lease.fence),
            Step::ExecuteWrite(node) => {
                let fence = state.nodes[node].write.take()?;
                state.write(node, fence, self.checks_fence);
            }
            Step::Execute(node) => {
                let request = before.nodes[node].waiting?.request;
                let answer = state.execute(node, request);
                state.nodes[node].waiting.as_mut()?.answer = Some(answer);
            }
            Step::ExecuteAbandoned(node) => {
                let request = state.nodes[node].abandoned.take()?;
                state.execute(node, request);
            }
            Step::LoseAbandoned(node) => state.nodes[node].abandoned = None,
            Step::Hear(node) => {
                let waiting = state.nodes[node].waiting.take()?;
                state.hear(node, waiting, self);
            }
            Step::GiveUp(node) => {
                let node = &mut state.nodes[node];
                let waiting = node.waiting.take()?;
                node.abandoned = waiting.answer.is_none().then_some(waiting.request);
                node.round = Round::Done;
            }
            Step::SlowDown(node) => state.nodes[node].lag += 1,
        }
        Some(state)
    }

    fn within_boundary(&self, state: &State) -> bool {
        state.now <= self.horizon()
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("at no moment do two nodes own the shard", |_: &Self, state: &State| {
                state.nodes.iter().filter(|node| node.owns(state.now)).count() <= 1
            }),
            Property::always(
                "no write of a former owner is accepted after one of the next",
                |_: &Self, state: &State| !state.wrote_outdated,
            ),
            Property::always("no lease begins with the fence of one that ended", |_: &Self, state: &State| {
                !state.reused_fence
            }),
            Property::always("the shard has an owner again once faults have stopped", |rules: &Self, state: &State| {
                state.now < rules.horizon()
                    || !state.is_settled()
                    || state.nodes.iter().any(|node| node.owns(state.now))
            }),
            Property::sometimes("the second node writes after the first", |_: &Self, state: &State| {
                state.last_writer.is_some_and(|(writer, fence)| writer == 1 && fence > 2)
            }),
        ]
    }
}

#[test]
fn leases_keep_their_promises_in_every_order_of_events() {
    let checker = RULES.checker().threads(2).spawn_bfs().join();
    println!("{} states", checker.unique_state_count());
    checker.assert_properties();
}

/// The checker finds the failure caused by each broken rule, with only the steps that lead there, so that it is quick.
#[test]
fn each_rule_is_needed() {
    use Step::{BeginWrite, ExecuteWrite, SlowDown};
    let (two_owners, outdated, reused) = (
        "at no moment do two nodes own the shard",
        "no write of a former owner is accepted after one of the next",
        "no lease begins with the fence of one that ended",
    );
    let cases = [
        (
            Leases { calm: 6, margin: 0, steps: |step| is_protocol(step) || matches!(step, SlowDown(_)), ..RULES },
            two_owners,
        ),
        (Leases { calm: 6, counts_from_request: false, steps: is_protocol, ..RULES }, two_owners),
        (
            Leases {
                calm: 6,
                checks_fence: false,
                steps: |step| is_protocol(step) || matches!(step, BeginWrite(_) | ExecuteWrite(_)),
                ..RULES
            },
            outdated,
        ),
        (Leases { calm: 6, releases_expired: false, steps: is_protocol, ..RULES }, reused),
    ];
    for (rules, broken) in cases {
        let finish = HasDiscoveries::AnyOf(BTreeSet::from([broken]));
        let checker = rules.checker().finish_when(finish).spawn_bfs().join();
        println!("{broken}: {} states", checker.unique_state_count());
        checker.assert_any_discovery(broken);
    }
}

/// A step without which no node owns anything; no fault.
fn is_protocol(step: Step) -> bool {
    matches!(step, Step::Tick | Step::Ask(_) | Step::Execute(_) | Step::Hear(_))
}
