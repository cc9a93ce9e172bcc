//! Model of a purchase that is saved with its player's session: every order of openings, claims, saves that come late, twice or
//! never, crashes and time is tried on the rules of both ([`hub::player_sessions::SavedSession`],
//! [`hub::deliveries::Delivery`]).
//!
//! Two game servers take the player from each other at any time. Who has the session claims the purchase, gives the item, and
//! names the claim in each save until one is answered. The item is then there exactly as often as it was delivered, also
//! where a lost claim is handed out again.

use std::hash::{Hash, Hasher};

use hub::deliveries::{Claim, ClaimText, Delivery, DeliveryState, Lapse, OnLost};
use hub::player_sessions::{SaveDecision, SavedSession, Session, SessionState};
use hub::values::{NetworkId, PlayerId};
use stateright::{Checker as _, Model, Property};
use uuid::Uuid;

const SERVERS: usize = 2;
const FENCES: i64 = 3;
const CLAIMS: u8 = 2;
const SAVES: usize = 2;
/// Milliseconds of a tick: a claim's duration.
const TICK: i64 = 60_000;
const END: i64 = 2;

/// The delivery, compared by what its rules read.
#[derive(Clone, Debug)]
struct Purchase(Delivery);

impl Purchase {
    fn key(&self) -> impl Hash + Eq + '_ {
        let it = &self.0;
        (it.state, it.attempts, it.claim(), &it.claimed_by, it.claimed_until, it.due_at)
    }
}

impl PartialEq for Purchase {
    fn eq(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.0, &other.0);
        (mine.state, mine.attempts, mine.claim(), &mine.claimed_by, mine.claimed_until, mine.due_at)
            == (theirs.state, theirs.attempts, theirs.claim(), &theirs.claimed_by, theirs.claimed_until, theirs.due_at)
    }
}

impl Eq for Purchase {}

impl Hash for Purchase {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// A save on its way. It may arrive at any time, and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Sent {
    server: usize,
    fence: i64,
    items: u8,
    claim: Option<u8>,
    number: i64,
    closes: bool,
}

/// A game server that believes to have the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Server {
    fence: i64,
    items: u8,
    claim: Option<u8>,
    number: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    now: i64,
    fence: i64,
    holder: usize,
    is_open: bool,
    last: Option<Sent>,
    stored: u8,
    purchase: Purchase,
    claims: u8,
    servers: [Option<Server>; SERVERS],
    sent: Vec<Sent>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Tick,
    /// The hub records what the time has changed, at some later moment.
    Lapse,
    Open(usize),
    /// Claims the purchase and gives the item.
    Claim(usize),
    Send(usize, bool),
    /// A save reaches the hub. Its server hears the answer, or not.
    Arrive(usize, bool),
    Crash(usize),
}

struct Shop {
    on_lost: OnLost,
    /// True if a save may leave out the claim of an item that it holds.
    is_careless: bool,
}

fn claim(number: u8) -> Claim {
    Claim::parse(&ClaimText::try_from(format!("1.{number}")).unwrap()).unwrap()
}

fn name(server: usize) -> &'static str {
    ["a", "b"][server]
}

fn digest(sent: Sent) -> Vec<u8> {
    format!("{sent:?}").into_bytes()
}

impl State {
    fn saved(&self) -> SavedSession {
        let state = if self.is_open { SessionState::Open } else { SessionState::Closed };
        SavedSession {
            session: Session {
                player_uuid: PlayerId(Uuid::nil()),
                fence: self.fence,
                server_id: name(self.holder).parse().unwrap(),
                state,
                opened_at: 0,
                ended_at: None,
                is_current: true,
            },
            saved_digest: self.last.map(digest),
            saved_number: self.last.map(|last| last.number),
            saved_answer: self.last.map(|_| String::new()),
        }
    }

    /// Makes a save, all or none of it. True if it is answered as made.
    fn arrive(&mut self, save: Sent) -> bool {
        let now = self.now * TICK;
        match self.saved().decide(save.fence, &digest(save), Some(save.number), false) {
            SaveDecision::Repeated => return true,
            SaveDecision::StaleSession | SaveDecision::StaleSave => return false,
            SaveDecision::Due => {}
        }
        if let Some(held) = save.claim.map(claim) {
            let purchase = &mut self.purchase.0;
            let is_theirs = purchase.claimed_by.as_deref() == Some(name(self.holder));
            if !is_theirs || !purchase.is_held_by(&held, now) || purchase.complete(&held, now).is_err() {
                return false;
            }
        }
        self.stored = save.items;
        self.last = Some(save);
        self.is_open = !save.closes;
        true
    }

    /// The server's part of an answer: a claim that was settled is named no more, and what could not be saved is given up.
    fn hear(&mut self, save: Sent, is_made: bool) {
        let Some(server) = self.servers[save.server].as_mut().filter(|it| it.fence == save.fence) else { return };
        if !is_made {
            self.servers[save.server] = None;
        } else if server.claim == save.claim {
            server.claim = None;
        }
    }
}

impl Model for Shop {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut delivery = Delivery::new(NetworkId(Uuid::nil()), 1, "kit", 0);
        delivery.on_lost = self.on_lost;
        vec![State {
            now: 0,
            fence: 0,
            holder: 0,
            is_open: false,
            last: None,
            stored: 0,
            purchase: Purchase(delivery),
            claims: 0,
            servers: [None; SERVERS],
            sent: vec![],
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.now < END {
            actions.push(Action::Tick);
        }
        actions.push(Action::Lapse);
        for at in 0..SERVERS {
            if state.fence < FENCES {
                actions.push(Action::Open(at));
            }
            let Some(server) = state.servers[at] else { continue };
            actions.push(Action::Crash(at));
            if state.claims < CLAIMS && server.claim.is_none() {
                actions.push(Action::Claim(at));
            }
            if state.sent.len() < SAVES {
                actions.extend([Action::Send(at, false), Action::Send(at, true)]);
            }
        }
        actions
            .extend((0..state.sent.len()).flat_map(|save| [Action::Arrive(save, true), Action::Arrive(save, false)]));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        let now = state.now * TICK;
        match action {
            Action::Tick => next.now += 1,
            Action::Lapse => {
                if next.purchase.0.lapse(now) == Lapse::Unchanged {
                    return None;
                }
            }
            Action::Open(at) => {
                next.fence += 1;
                (next.holder, next.is_open, next.last) = (at, true, None);
                next.servers[at] = Some(Server { fence: next.fence, items: next.stored, claim: None, number: 0 });
            }
            Action::Claim(at) => {
                let delivery = &mut next.purchase.0;
                if delivery.state != DeliveryState::Pending || !delivery.is_due(now) {
                    return None;
                }
                next.claims += 1;
                delivery.start_claim(name(at), claim(next.claims).sha256().to_vec(), now);
                let server = next.servers[at].as_mut()?;
                server.items += 1;
                server.claim = Some(next.claims);
            }
            Action::Send(at, closes) => {
                let server = next.servers[at].as_mut()?;
                server.number += 1;
                let Server { fence, items, claim, number } = *server;
                let claim = claim.filter(|_| !self.is_careless || number > 1);
                next.sent.push(Sent { server: at, fence, items, claim, number, closes });
                next.sent.sort_unstable();
            }
            Action::Arrive(index, is_heard) => {
                let save = next.sent[index];
                let is_made = next.arrive(save);
                if is_heard {
                    next.hear(save, is_made);
                }
            }
            Action::Crash(at) => next.servers[at] = None,
        }
        (next != *state).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("the item is there as often as it was delivered", |_, state: &State| {
                state.stored == u8::from(state.purchase.0.state == DeliveryState::Delivered)
            }),
            Property::sometimes("it is delivered after a switch", |_, state: &State| {
                state.fence > 1 && state.purchase.0.state == DeliveryState::Delivered
            }),
            Property::sometimes("a claim is lost and handed out again, or held", |model: &Self, state: &State| {
                match model.on_lost {
                    OnLost::Retry => state.claims == CLAIMS && state.purchase.0.state == DeliveryState::Delivered,
                    OnLost::Hold => state.purchase.0.state == DeliveryState::Held,
                }
            }),
        ]
    }
}

#[test]
fn a_purchase_that_is_saved_with_its_session_is_there_once() {
    for on_lost in [OnLost::Retry, OnLost::Hold] {
        let shop = Shop { on_lost, is_careless: false };
        shop.checker().threads(2).spawn_bfs().join().assert_properties();
    }
}

/// An item that is saved before its claim is there twice, or without one.
#[test]
fn a_save_that_leaves_out_the_claim_is_found() {
    let shop = Shop { on_lost: OnLost::Retry, is_careless: true };
    let checker = shop.checker().threads(2).spawn_bfs().join();
    assert!(checker.discovery("the item is there as often as it was delivered").is_some());
}
