//! No slot is given away twice and each player is on one server, for any events in any order.

use std::collections::{HashMap, HashSet};

use proptest::collection::vec;
use proptest::prelude::*;
use uuid::Uuid;

use super::reservation::{RESERVATION_TTL, Reservation};
use super::{NetworkPresence, PresenceError, SavedPlayer, SavedReservation, SavedServer, free_slots};
use crate::clock::Millis;
use crate::geo::Region;
use crate::presence::model::{Heartbeat, Registration, Role, ServerInfo, Software, SoftwareReport};
use crate::values::{Identifier, PlayerId};

const OFFLINE_AFTER: Millis = 30_000;
const MAX: u32 = 3;
const SERVERS: u8 = 2;
const PLAYERS: u8 = 12;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Reserves a free slot, like a match.
    Find(u8, u8),
    /// Joins the server with the reserved slot.
    Arrive(u8),
    Leave(u8, u8),
    /// A heartbeat with the full list of players.
    Heartbeat(u8),
    Wait(u16),
    Sweep,
    /// Another process restores the saved state.
    Restore,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..PLAYERS, 0..SERVERS).prop_map(|(player, server)| Step::Find(player, server)),
        4 => (0..PLAYERS).prop_map(Step::Arrive),
        1 => (0..PLAYERS, 0..SERVERS).prop_map(|(player, server)| Step::Leave(player, server)),
        1 => (0..SERVERS).prop_map(Step::Heartbeat),
        2 => (0..9_000u16).prop_map(Step::Wait),
        1 => Just(Step::Sweep),
        1 => Just(Step::Restore),
    ];
    vec(step, 1..120)
}

fn id(server: u8) -> Identifier {
    format!("s{server}").parse().unwrap()
}

fn player(number: u8) -> PlayerId {
    PlayerId(Uuid::from_u128(u128::from(number) + 1))
}

fn registration(server: u8) -> Registration {
    let info = ServerInfo {
        server_id: id(server),
        server_type: "arena".parse().unwrap(),
        game_type: None,
        role: Role::Game,
        display_name: None,
        max_players: MAX,
        host: "h".to_owned(),
        port: 1,
        region: Region::unknown(),
        country: None,
        software: Software::default(),
    };
    Registration { info, game_state: None, players_to_start: 0, worlds: vec![] }
}

fn heartbeat(server: u8, players: Option<Vec<PlayerId>>) -> Heartbeat {
    Heartbeat {
        server_id: id(server),
        game_state: None,
        players_to_start: None,
        worlds: None,
        players: players.map(|players| players.into_iter().map(|player| (player, None)).collect()),
        software: SoftwareReport::default(),
    }
}

fn online(servers: u8, now: Millis) -> NetworkPresence {
    let mut presence = NetworkPresence::new(true);
    for server in 0..servers {
        presence.register(registration(server), now, OFFLINE_AFTER);
    }
    presence
}

/// Content of a database.
#[derive(Default)]
struct Saved {
    servers: HashMap<String, SavedServer>,
    players: HashMap<PlayerId, SavedPlayer>,
    reservations: HashMap<Uuid, SavedReservation>,
}

impl Saved {
    fn save(&mut self, presence: &mut NetworkPresence) {
        let (_, changes) = presence.take_unsaved();
        for server in changes.servers {
            self.servers.insert(server.info.server_id.to_string(), server);
        }
        for (id, last_heartbeat) in changes.heartbeats {
            self.servers.get_mut(&*id).unwrap().last_heartbeat = last_heartbeat;
        }
        changes.joined.into_iter().for_each(|player| drop(self.players.insert(player.player, player)));
        changes.left.iter().for_each(|player| drop(self.players.remove(player)));
        changes.reserved.into_iter().for_each(|saved| drop(self.reservations.insert(saved.reservation.id, saved)));
        changes.released.iter().for_each(|id| drop(self.reservations.remove(id)));
    }

    fn restore(&self, now: Millis) -> NetworkPresence {
        let mut presence = NetworkPresence::new(true);
        let servers = self.servers.values().cloned().collect();
        let players = self.players.values().cloned().collect();
        let reservations = self.reservations.values().cloned().collect();
        presence.restore(servers, players, reservations, now, OFFLINE_AFTER);
        presence
    }
}

fn on(presence: &NetworkPresence, server: u8, now: Millis) -> Vec<PlayerId> {
    let all = presence.players(now, |it| it.info.server_id == id(server));
    all.into_iter().map(|location| location.player).collect()
}

proptest! {
    #[test]
    fn slots_are_never_overbooked(steps in steps()) {
        let mut now = 0;
        let mut presence = online(SERVERS, now);
        // The server and the end of each player's reservation, as the test expects them.
        let mut slots: HashMap<u8, (u8, Millis)> = HashMap::new();
        let (mut saved, mut newest) = (Saved::default(), 0);
        for step in steps {
            match step {
                Step::Find(who, server) => {
                    let there = presence.server(id(server).as_str(), now).unwrap();
                    let own = (presence.reserved_on(player(who)) == Some(id(server).as_str())).then_some(player(who));
                    let here = there.has(player(who));
                    if !here && free_slots(MAX, there.taken(now, own.as_slice())) > 0 {
                        let (player, expires_at) = (Some(player(who)), now + RESERVATION_TTL);
                        newest += 1;
                        let slot = Reservation { id: Uuid::from_u128(newest), player, world: None, promised: false, expires_at };
                        presence.reserve(&id(server), slot);
                        slots.insert(who, (server, now + RESERVATION_TTL));
                    }
                }
                Step::Arrive(who) => {
                    if let Some((server, until)) = slots.remove(&who) && now < until {
                        presence.join(&id(server), player(who), None, now).unwrap();
                    }
                }
                Step::Leave(who, server) => presence.leave(player(who), Some(&id(server)), now),
                Step::Heartbeat(server) => {
                    let list = on(&presence, server, now);
                    presence.heartbeat(heartbeat(server, Some(list)), now, OFFLINE_AFTER).unwrap();
                }
                Step::Wait(millis) => {
                    for server in 0..SERVERS {
                        presence.heartbeat(heartbeat(server, None), now, OFFLINE_AFTER).unwrap();
                    }
                    now += Millis::from(millis);
                }
                Step::Sweep => presence.sweep(now),
                Step::Restore => {
                    saved.save(&mut presence);
                    presence = saved.restore(now);
                }
            }
            let mut seen = HashSet::new();
            for server in 0..SERVERS {
                let there = presence.server(id(server).as_str(), now).unwrap();
                let live = slots.values().filter(|(at, until)| *at == server && now < *until).count() as u32;
                prop_assert_eq!(there.taken(now, &[]), there.current_players() + live);
                prop_assert!(there.taken(now, &[]) <= MAX);
                for player in on(&presence, server, now) {
                    prop_assert!(seen.insert(player), "{} is in two places", player);
                }
            }
        }
    }
}

#[test]
fn a_stale_list_does_not_pull_a_player_back() {
    let mut presence = online(2, 0);
    presence.join(&id(0), player(1), None, 0).unwrap();
    presence.join(&id(1), player(1), None, 1_000).unwrap();
    presence.heartbeat(heartbeat(0, Some(vec![player(1)])), 1_100, OFFLINE_AFTER).unwrap();
    assert_eq!(on(&presence, 1, 1_100), [player(1)]);
    // A server without a list of its players confirms none of them after a while: then another's list counts.
    presence.heartbeat(heartbeat(1, None), 16_100, OFFLINE_AFTER).unwrap();
    presence.heartbeat(heartbeat(0, Some(vec![player(1)])), 16_100, OFFLINE_AFTER).unwrap();
    assert_eq!((on(&presence, 0, 16_100), on(&presence, 1, 16_100)), (vec![player(1)], vec![]));
    // A server with a list keeps them.
    presence.join(&id(1), player(1), None, 17_000).unwrap();
    presence.heartbeat(heartbeat(1, Some(vec![player(1)])), 31_900, OFFLINE_AFTER).unwrap();
    presence.heartbeat(heartbeat(0, Some(vec![player(1)])), 32_100, OFFLINE_AFTER).unwrap();
    assert_eq!(on(&presence, 1, 32_100), [player(1)]);
}

#[test]
fn what_is_offline_does_not_count_even_before_a_sweep() {
    let mut presence = online(1, 0);
    presence.join(&id(0), player(1), None, 0).unwrap();
    let end = OFFLINE_AFTER;
    assert!(presence.locate(player(1), end - 1).is_some());
    assert!(presence.locate(player(1), end).is_none());
    assert!(presence.server("s0", end).is_none());
    assert_eq!(presence.of_type(&"arena".parse().unwrap(), end).count(), 0);
    assert_eq!(presence.players(end, |_| true), []);
    assert_eq!(presence.heartbeat(heartbeat(0, None), end, OFFLINE_AFTER), Err(PresenceError::UnknownServer));
    assert_eq!(presence.join(&id(0), player(2), None, end), Err(PresenceError::UnknownServer));
    // It does not come back with its server either.
    presence.register(registration(0), end, OFFLINE_AFTER);
    assert_eq!(on(&presence, 0, end), []);
    assert!(presence.locate(player(1), end).is_none());
}

#[test]
fn changes_that_were_not_saved_are_put_back_under_newer_ones() {
    let mut presence = online(2, 0);
    presence.join(&id(0), player(1), None, 0).unwrap();
    let (unsaved, changes) = presence.take_unsaved();
    assert_eq!((changes.servers.len(), changes.joined.len(), changes.offline.len()), (2, 1, 0));
    assert!(!presence.has_unsaved());
    presence.heartbeat(heartbeat(0, None), 1, OFFLINE_AFTER).unwrap();
    presence.unregister("s1", 2);
    presence.put_back(unsaved);
    let (_, changes) = presence.take_unsaved();
    assert_eq!(changes.servers.len(), 1, "a heartbeat does not hide that the server was never saved");
    assert_eq!((changes.heartbeats.len(), changes.offline.len(), changes.joined.len()), (0, 1, 1));
}

#[test]
fn a_visit_goes_on_by_the_new_time_when_the_clock_is_set() {
    let mut presence = online(1, 0);
    presence.join(&id(0), player(1), None, 0).unwrap();
    presence.take_unsaved();
    presence.shift(1_000, 500_000);
    let (_, changes) = presence.take_unsaved();
    let visits: Vec<_> = changes.visits.iter().map(|visit| (visit.from, visit.to)).collect();
    assert_eq!(visits, [(0, Some(1_000)), (501_000, None)]);
    assert_eq!(changes.joined[0].joined_at, 501_000);
    assert_eq!(on(&presence, 0, 501_000), [player(1)]);
}
