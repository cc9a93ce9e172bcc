//! The index finds what a scan of all servers finds, whatever happened before.

use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use uuid::Uuid;

use super::best_servers;
use crate::clock::Millis;
use crate::geo::Region;
use crate::matchmaking::candidate::{Candidate, PlayerContext};
use crate::matchmaking::candidates::all;
use crate::matchmaking::model::{Destination, Mode};
use crate::matchmaking::policy;
use crate::presence::{Heartbeat, NetworkPresence, Registration, Reservation, Role, ServerInfo, Software};
use crate::values::{Identifier, PlayerId};

const OFFLINE_AFTER: Millis = 30_000;
const SERVERS: u8 = 12;
const PLAYERS: u8 = 16;
const REGIONS: [&str; 3] = ["EUROPE", "ASIA", "UNKNOWN"];
const STATES: [&str; 3] = ["WAITING", "RUNNING", "IDLE"];

#[derive(Clone, Debug)]
enum Step {
    Register { server: u8, kind: u8, is_proxy: bool, max: u32, to_start: u32, region: u8 },
    Unregister(u8),
    Heartbeat { server: u8, state: u8, to_start: Option<u32>, players: Option<Vec<u8>> },
    Join(u8, u8),
    Leave(u8),
    Reserve { server: u8, player: Option<u8>, lasts: u16 },
    Release(u8, u8),
    Wait(u16),
    Sweep,
}

#[derive(Clone, Debug)]
struct Search {
    player: Option<u8>,
    party: Vec<u8>,
    region: Option<u8>,
    owner_world: Option<u8>,
    kind: u8,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let server = || 0..SERVERS;
    let player = || 0..PLAYERS;
    let register = (server(), 0..2_u8, prop::bool::weighted(0.1), 0..4_u32, 0..4_u32, 0..3_u8).prop_map(
        |(server, kind, is_proxy, max, to_start, region)| Step::Register {
            server,
            kind,
            is_proxy,
            max,
            to_start,
            region,
        },
    );
    let players = prop::option::weighted(0.3, vec(player(), 0..5));
    let heartbeat = (server(), 0..3_u8, prop::option::of(0..4_u32), players)
        .prop_map(|(server, state, to_start, players)| Step::Heartbeat { server, state, to_start, players });
    let reserve = (server(), prop::option::weighted(0.8, player()), 1..15_000_u16)
        .prop_map(|(server, player, lasts)| Step::Reserve { server, player, lasts });
    let step = prop_oneof![
        6 => register,
        1 => server().prop_map(Step::Unregister),
        4 => heartbeat,
        4 => (player(), server()).prop_map(|(player, server)| Step::Join(player, server)),
        1 => player().prop_map(Step::Leave),
        6 => reserve,
        1 => (server(), player()).prop_map(|(server, player)| Step::Release(server, player)),
        2 => (0..20_000_u16).prop_map(Step::Wait),
        1 => Just(Step::Sweep),
    ];
    vec(step, 1..80)
}

fn searches() -> impl Strategy<Value = Vec<Search>> {
    let party = prop_oneof![Just(BTreeSet::new()), btree_set(0..PLAYERS, 0..4)];
    let search = (
        prop::option::weighted(0.8, 0..PLAYERS),
        party,
        prop::option::of(0..2_u8),
        prop::option::weighted(0.2, 0..SERVERS),
        0..2_u8,
    );
    let search = search.prop_map(|(player, party, region, owner_world, kind)| Search {
        player,
        party: party.into_iter().filter(|member| Some(*member) != player).collect(),
        region,
        owner_world,
        kind,
    });
    vec(search, 8)
}

fn id(server: u8) -> Identifier {
    format!("s{server}").parse().unwrap()
}

fn kind(number: u8) -> Identifier {
    format!("kind{number}").parse().unwrap()
}

fn player(number: u8) -> PlayerId {
    PlayerId(Uuid::from_u128(u128::from(number) + 1))
}

fn region(number: u8) -> Region {
    REGIONS[usize::from(number)].to_owned().try_into().unwrap()
}

fn run(steps: Vec<Step>) -> (NetworkPresence, Millis) {
    let (mut presence, mut now, mut reservations) = (NetworkPresence::default(), 0, 0);
    for step in steps {
        match step {
            Step::Register { server, kind: number, is_proxy, max, to_start, region: at } => {
                let info = ServerInfo {
                    server_id: id(server),
                    server_type: kind(number),
                    game_type: None,
                    role: if is_proxy { Role::Proxy } else { Role::Game },
                    display_name: None,
                    max_players: max,
                    host: "h".to_owned(),
                    port: 1,
                    region: region(at),
                    country: None,
                    software: Software::default(),
                };
                let game_state = Some("WAITING".parse().unwrap());
                let new = Registration { info, game_state, players_to_start: to_start, worlds: vec![] };
                presence.register(new, now, OFFLINE_AFTER);
            }
            Step::Unregister(server) => presence.unregister(id(server).as_str(), now),
            Step::Heartbeat { server, state, to_start, players } => {
                let heartbeat = Heartbeat {
                    game_state: Some(STATES[usize::from(state)].parse().unwrap()),
                    players_to_start: to_start,
                    players: players.map(|players| players.into_iter().map(|it| (player(it), None)).collect()),
                    ..Heartbeat::sign_of_life(id(server))
                };
                // No effect on a server that is not online.
                let _ = presence.heartbeat(heartbeat, now, OFFLINE_AFTER);
            }
            Step::Join(who, server) => _ = presence.join(&id(server), player(who), None, now),
            Step::Leave(who) => presence.leave(player(who), None, now),
            Step::Reserve { server, player: who, lasts } => {
                if presence.server(id(server).as_str(), now).is_some() {
                    reservations += 1;
                    let reservation = Reservation {
                        id: Uuid::from_u128(reservations),
                        player: who.map(player),
                        world: None,
                        promised: true,
                        expires_at: now + Millis::from(lasts),
                    };
                    presence.reserve(&id(server), reservation);
                }
            }
            Step::Release(server, who) => presence.release(&id(server), player(who)),
            Step::Wait(millis) => now += Millis::from(millis),
            Step::Sweep => presence.sweep(now),
        }
    }
    (presence, now)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn the_index_finds_what_a_full_scan_finds(steps in steps(), searches in searches(), wanted in 1..5_usize) {
        let (mut presence, now) = run(steps);
        for search in searches {
            let context = PlayerContext {
                id: search.player.map(player),
                party: search.party.iter().copied().map(player).collect(),
                geo_routing: true,
                region: search.region.map(region),
                owner_world: search
                    .owner_world
                    .map(|server| Destination { server_id: id(server), world_id: Some("w".parse().unwrap()) }),
                withheld: None,
                now,
            };
            let server_type = kind(search.kind);
            let mode = Mode::Server { server_type: server_type.clone() };
            // Evaluated before expired reservations are released, which therefore must not count.
            let scanned: (Vec<_>, bool, usize) = {
                let all = all(&presence, &mode, &context);
                let mut open: Vec<_> = all.iter().filter(|it| it.is_open()).collect();
                open.sort_by(|a, b| policy::compare(a, b));
                let reserved = presence.online(now).map(|it| it.taken(now, &[]) - it.current_players()).sum::<u32>();
                (open.iter().take(wanted).map(|it| it.destination()).collect(), all.iter().any(Candidate::is_full), reserved as usize)
            };
            presence.release_expired(now);
            let best = best_servers(&presence, &server_type, &context, wanted);
            let found: Vec<_> = best.open.iter().map(Candidate::destination).collect();
            prop_assert_eq!(&found, &scanned.0);
            if found.is_empty() {
                prop_assert_eq!(best.any_full, scanned.1);
            }
            presence.sweep(now);
            prop_assert_eq!(presence.reservation_count(now), scanned.2 as i64);
        }
    }
}
