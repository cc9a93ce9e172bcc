//! Model of a player's session: every order of openings, saves that come late, twice or never, and crashes is tried on the
//! rule that decides about saves ([`hub::player_sessions::SavedSession`]).
//!
//! Two game servers take the player from each other at any time. A server keeps the items that it read when it opened its
//! session, gives the player more, and saves all of them.

use hub::player_sessions::{SaveDecision, SavedSession, Session, SessionState};
use hub::values::PlayerId;
use stateright::{Checker as _, Model, Property};
use uuid::Uuid;

const SERVERS: usize = 2;
/// Items that are given out.
const ITEMS: u8 = 3;
/// Fences that are given out.
const FENCES: i64 = 3;
/// Saves that are sent.
const SAVES: usize = 3;

/// A save on its way. It may arrive at any time, and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Sent {
    fence: i64,
    /// Set of items, a bit each.
    items: u8,
    number: Option<i64>,
    closes: bool,
}

/// A game server that believes to have the player.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Server {
    fence: i64,
    items: u8,
    number: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    fence: i64,
    is_open: bool,
    last: Option<Sent>,
    number: Option<i64>,
    stored: u8,
    servers: [Option<Server>; SERVERS],
    sent: Vec<Sent>,
    given: u8,
    /// Items whose save was acknowledged.
    acknowledged: u8,
    /// Writes of saves.
    written: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Open(usize),
    Give(usize),
    Send(usize, bool),
    Arrive(usize),
    Crash(usize),
}

struct Switching {
    /// True if saves carry numbers.
    is_numbered: bool,
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
                server_id: "a".parse().unwrap(),
                state,
                opened_at: 0,
                ended_at: None,
                is_current: true,
            },
            saved_digest: self.last.map(digest),
            saved_number: self.number,
            saved_answer: self.last.map(|_| String::new()),
        }
    }

    fn arrive(&mut self, save: Sent) {
        match self.saved().decide(save.fence, &digest(save), save.number, false) {
            SaveDecision::Due => {
                self.stored = save.items;
                self.written += 1;
                self.last = Some(save);
                self.number = save.number.or(self.number);
                self.is_open = !save.closes;
            }
            SaveDecision::Repeated => {}
            SaveDecision::StaleSession | SaveDecision::StaleSave => return,
        }
        self.acknowledged |= save.items;
    }
}

impl Model for Switching {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State {
            fence: 0,
            is_open: false,
            last: None,
            number: None,
            stored: 0,
            servers: [None; SERVERS],
            sent: vec![],
            given: 0,
            acknowledged: 0,
            written: 0,
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for server in 0..SERVERS {
            if state.fence < FENCES {
                actions.push(Action::Open(server));
            }
            if state.servers[server].is_some() {
                actions.push(Action::Crash(server));
                if state.given < ITEMS {
                    actions.push(Action::Give(server));
                }
                if state.sent.len() < SAVES {
                    actions.extend([Action::Send(server, false), Action::Send(server, true)]);
                }
            }
        }
        actions.extend((0..state.sent.len()).map(Action::Arrive));
    }

    fn next_state(&self, state: &State, action: Action) -> Option<State> {
        let mut next = state.clone();
        match action {
            Action::Open(at) => {
                next.fence += 1;
                next.is_open = true;
                (next.last, next.number) = (None, None);
                next.servers[at] = Some(Server { fence: next.fence, items: next.stored, number: 0 });
            }
            Action::Give(at) => {
                next.servers[at].as_mut()?.items |= 1 << next.given;
                next.given += 1;
            }
            Action::Send(at, closes) => {
                let server = next.servers[at].as_mut()?;
                server.number += 1;
                let number = self.is_numbered.then_some(server.number);
                let save = Sent { fence: server.fence, items: server.items, number, closes };
                if closes {
                    next.servers[at] = None;
                }
                next.sent.push(save);
                next.sent.sort_unstable();
            }
            Action::Arrive(index) => next.arrive(next.sent[index]),
            Action::Crash(at) => next.servers[at] = None,
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("what was acknowledged is not lost", |_, state: &State| {
                state.acknowledged & !state.stored == 0
            }),
            Property::always("a save is written once", |_, state: &State| {
                usize::from(state.written) <= state.sent.len()
            }),
            Property::sometimes("players switch", |_, state: &State| state.fence == FENCES && state.written > 1),
        ]
    }
}

#[test]
fn no_order_of_saves_loses_an_acknowledged_item() {
    let checker = Switching { is_numbered: true }.checker().threads(2).spawn_bfs().join();
    checker.assert_properties();
}

/// A save that was given up and arrives after a later one would undo it.
#[test]
fn without_numbers_a_late_save_undoes_a_later_one() {
    let checker = Switching { is_numbered: false }.checker().threads(2).spawn_bfs().join();
    assert!(checker.discovery("what was acknowledged is not lost").is_some());
}
