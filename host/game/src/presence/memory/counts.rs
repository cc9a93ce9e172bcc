//! A heartbeat of a busy server without any change.

use uuid::Uuid;

use super::NetworkPresence;
use crate::geo::Region;
use crate::instruction_counts::measured;
use crate::presence::model::{Count, Heartbeat, Registration, Role, ServerInfo, Software, SoftwareReport, WorldReport};
use crate::values::{Identifier, PlayerId};

const PLAYERS: u32 = 50;

fn id() -> Identifier {
    "lobby-1".parse().unwrap()
}

fn worlds() -> Vec<WorldReport> {
    let world = |number: u32| WorldReport {
        world_id: format!("world-{number}").parse().unwrap(),
        display_name: Some(format!("World {number}").try_into().unwrap()),
        current_players: Some(Count(10)),
        max_players: Some(Count(20)),
        game_state: Some("WAITING".parse().unwrap()),
        players_to_start: Some(Count(2)),
        world_type: Some("duel".parse().unwrap()),
    };
    (0..5).map(world).collect()
}

fn heartbeat() -> Heartbeat {
    let player = |number: u32| {
        let name = format!("Player{number}").parse().unwrap();
        (PlayerId(Uuid::from_u128(u128::from(number) + 1)), Some(name))
    };
    Heartbeat {
        game_state: Some("WAITING".parse().unwrap()),
        players_to_start: Some(2),
        worlds: Some(worlds()),
        players: Some((0..PLAYERS).map(player).collect()),
        software: SoftwareReport { version: Some("1.0".to_owned()), ..SoftwareReport::default() },
        ..Heartbeat::sign_of_life(id())
    }
}

#[test]
fn apply_a_heartbeat() {
    let info = ServerInfo {
        server_id: id(),
        server_type: "lobby".parse().unwrap(),
        game_type: None,
        role: Role::Game,
        display_name: None,
        max_players: 100,
        host: "10.0.0.1".to_owned(),
        port: 25_565,
        region: Region::unknown(),
        country: None,
        software: Software::default(),
    };
    let mut presence = NetworkPresence::default();
    presence.register(Registration { info, game_state: None, players_to_start: 0, worlds: vec![] }, 0, 30_000);
    // The first one brings the players, the second is an ordinary one.
    presence.heartbeat(heartbeat(), 0, 30_000).unwrap();
    presence.heartbeat(heartbeat(), 5_000, 30_000).unwrap();
    let next = heartbeat();
    measured(|| presence.heartbeat(next, 10_000, 30_000)).unwrap();
    let server = presence.server("lobby-1", 39_999).unwrap();
    assert_eq!((server.current_players(), server.worlds.len()), (PLAYERS, 5));
}
