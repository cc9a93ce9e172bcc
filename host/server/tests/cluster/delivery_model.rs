//! Model of the life of a delivery: every order of claims, effects, lost and repeated calls, crashes, time and decisions is
//! tried on the rules themselves ([`hub::deliveries::Delivery`]).
//!
//! Two game servers, which the player may change between. A server claims, carries the delivery out, and completes or fails
//! the claim; each call may arrive late, twice or never, and a server may crash at any time.

use std::hash::{Hash, Hasher};

use hub::deliveries::{Claim, ClaimText, Delivery, DeliveryState, Lapse, OnLost};
use hub::values::NetworkId;
use stateright::{Checker as _, Model, Property};
use uuid::Uuid;

const SERVERS: usize = 2;
/// Milliseconds of a tick: half of a claim's duration.
const TICK: i64 = 30_000;
const END: i64 = 5;

/// The delivery, compared by what its rules read.
#[derive(Clone, Debug)]
struct Stored(Delivery);

impl Stored {
    fn key(&self) -> impl Hash + Eq + '_ {
        let it = &self.0;
        (it.state, it.attempts, it.claim(), it.claimed_until, it.due_at, it.settled_at)
    }
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.0, &other.0);
        (mine.state, mine.attempts, mine.claim(), mine.claimed_until, mine.due_at, mine.settled_at)
            == (theirs.state, theirs.attempts, theirs.claim(), theirs.claimed_until, theirs.due_at, theirs.settled_at)
    }
}

impl Eq for Stored {}

impl Hash for Stored {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// A game server that holds a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Server {
    /// Number of its claim.
    claim: Option<u8>,
    /// True once it carried the delivery out.
    did: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    now: i64,
    delivery: Stored,
    servers: [Server; SERVERS],
    claims: u8,
    /// Times that it happened.
    happened: u8,
    /// Completions that settled it.
    completed: u8,
    /// Decisions of people to try it again.
    retried: u8,
    /// True if a settled one changed without a decision.
    changed_after_end: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Tick,
    /// The hub records what the time has changed, at some later moment.
    Lapse,
    Claim(usize),
    CarryOut(usize),
    /// The hub gets a call; its answer may be lost.
    Complete(usize, bool),
    Fail(usize, bool),
    Crash(usize),
    Retry,
    Cancel,
    Confirm,
}

#[derive(Clone)]
struct Deliveries {
    on_lost: OnLost,
    expires_at: Option<i64>,
    people_retry: bool,
}

fn claim(number: u8) -> Claim {
    Claim::parse(&ClaimText::try_from(format!("1.{number}")).unwrap()).unwrap()
}

impl Model for Deliveries {
    type State = State;
    type Action = Step;

    fn init_states(&self) -> Vec<State> {
        let mut delivery = Delivery::new(NetworkId(Uuid::nil()), 1, "kit", 0);
        delivery.on_lost = self.on_lost;
        delivery.expires_at = self.expires_at.map(|tick| tick * TICK);
        delivery.due_at = delivery.expires_at;
        vec![State {
            now: 0,
            delivery: Stored(delivery),
            servers: <[Server; SERVERS]>::default(),
            claims: 0,
            happened: 0,
            completed: 0,
            retried: 0,
            changed_after_end: false,
        }]
    }

    fn actions(&self, state: &State, steps: &mut Vec<Step>) {
        if state.now < END {
            steps.push(Step::Tick);
        }
        steps.extend([Step::Lapse, Step::Cancel, Step::Confirm]);
        if self.people_retry && state.retried < 1 {
            steps.push(Step::Retry);
        }
        for (at, server) in state.servers.iter().enumerate() {
            if server.claim.is_none() {
                if state.claims < 3 {
                    steps.push(Step::Claim(at));
                }
                continue;
            }
            steps.push(Step::Crash(at));
            if server.did {
                steps.extend([Step::Complete(at, true), Step::Complete(at, false)]);
            } else {
                steps.push(Step::CarryOut(at));
                steps.extend([Step::Fail(at, true), Step::Fail(at, false)]);
            }
        }
    }

    fn next_state(&self, last: &State, step: Step) -> Option<State> {
        let mut state = last.clone();
        let now = state.now * TICK;
        let delivery = &mut state.delivery.0;
        let had_ended = !delivery.state.is_open();
        match step {
            Step::Tick => state.now += 1,
            Step::Lapse => {
                if delivery.lapse(now) == Lapse::Unchanged {
                    return None;
                }
            }
            Step::Claim(at) => {
                if delivery.state != DeliveryState::Pending || !delivery.is_due(now) {
                    return None;
                }
                state.claims += 1;
                delivery.start_claim("a", claim(state.claims).sha256().to_vec(), now);
                state.servers[at] = Server { claim: Some(state.claims), ..Server::default() };
            }
            Step::CarryOut(at) => {
                // The server knows how long its claim is good.
                let held = claim(state.servers[at].claim?);
                if !delivery.is_held_by(&held, now) {
                    return None;
                }
                state.servers[at].did = true;
                state.happened += 1;
            }
            Step::Complete(at, is_heard) => {
                let held = claim(state.servers[at].claim?);
                match delivery.complete(&held, now) {
                    Ok(true) => state.completed += 1,
                    Err(_) if !is_heard => return None,
                    Ok(false) | Err(_) => {}
                }
                if is_heard {
                    state.servers[at] = Server::default();
                }
            }
            Step::Fail(at, retry) => {
                let held = claim(state.servers[at].claim?);
                delivery.fail(&held, None, retry, now).ok()?;
                state.servers[at] = Server::default();
            }
            Step::Crash(at) => state.servers[at] = Server::default(),
            Step::Retry => {
                delivery.retry(now).ok()?;
                state.retried += 1;
            }
            Step::Cancel => delivery.cancel(now).ok()?,
            Step::Confirm => delivery.confirm(now).ok()?,
        }
        let changed = state.delivery.0.state != last.delivery.0.state;
        state.changed_after_end = last.changed_after_end || (had_ended && changed && step != Step::Retry);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "a held one happens once unless a person has it tried again",
                |model: &Self, state: &State| model.on_lost == OnLost::Retry || state.happened <= 1 + state.retried,
            ),
            Property::always("one claim is good", |_, state: &State| {
                let now = state.now * TICK;
                let good =
                    |it: &&Server| it.claim.is_some_and(|number| state.delivery.0.is_held_by(&claim(number), now));
                state.servers.iter().filter(good).count() <= 1
            }),
            Property::always("it is completed once, after it happened", |_, state: &State| {
                state.completed <= 1 + state.retried && state.completed <= state.happened
            }),
            Property::always("an end stays", |_, state: &State| !state.changed_after_end),
            Property::always(
                "what is open says when it ends, or waits for a player or a person",
                |_, state: &State| {
                    let delivery = &state.delivery.0;
                    match delivery.state {
                        DeliveryState::Claimed => {
                            delivery.due_at.is_some() && delivery.due_at == delivery.claimed_until
                        }
                        DeliveryState::Pending => delivery.due_at == delivery.expires_at,
                        _ => delivery.due_at.is_none(),
                    }
                },
            ),
            Property::sometimes("it is delivered", |_, state: &State| state.completed == 1),
        ]
    }
}

fn check(model: Deliveries) {
    model.checker().spawn_bfs().join().assert_properties();
}

#[test]
fn a_held_delivery_happens_once() {
    check(Deliveries { on_lost: OnLost::Hold, expires_at: None, people_retry: false });
    check(Deliveries { on_lost: OnLost::Hold, expires_at: Some(3), people_retry: true });
}

#[test]
fn a_delivery_that_is_retried_ends_once() {
    check(Deliveries { on_lost: OnLost::Retry, expires_at: Some(3), people_retry: true });
}

/// The checker sees the difference between the two.
#[test]
fn a_delivery_that_is_retried_may_happen_twice() {
    struct Twice(Deliveries);
    impl Model for Twice {
        type State = State;
        type Action = Step;
        fn init_states(&self) -> Vec<State> {
            self.0.init_states()
        }
        fn actions(&self, state: &State, steps: &mut Vec<Step>) {
            self.0.actions(state, steps);
        }
        fn next_state(&self, last: &State, step: Step) -> Option<State> {
            self.0.next_state(last, step)
        }
        fn properties(&self) -> Vec<Property<Self>> {
            vec![Property::sometimes("twice", |_, state: &State| state.happened > 1)]
        }
    }
    let model = Deliveries { on_lost: OnLost::Retry, expires_at: None, people_retry: false };
    Twice(model).checker().spawn_bfs().join().assert_properties();
}
