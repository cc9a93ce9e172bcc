//! A find among 100 servers in three regions, each with some players.

use uuid::Uuid;

use super::*;
use crate::clock::Millis;
use crate::geo::Region;
use crate::ids::Ids;
use crate::instruction_counts::measured;
use crate::presence::{Heartbeat, NetworkPresence, Registration, Role, ServerInfo, Software};
use crate::values::{Identifier, PlayerId};

const SERVERS: u32 = 100;
const NOW: Millis = 1_000;

fn server_type() -> Identifier {
    "lobby".parse().unwrap()
}

fn player(number: u32) -> PlayerId {
    PlayerId(Uuid::from_u128(u128::from(number) + 1))
}

fn region(name: &str) -> Region {
    name.to_owned().try_into().unwrap()
}

fn online() -> NetworkPresence {
    let mut presence = NetworkPresence::default();
    for number in 0..SERVERS {
        let server_id: Identifier = format!("lobby-{number}").parse().unwrap();
        let info = ServerInfo {
            server_id: server_id.clone(),
            server_type: server_type(),
            game_type: None,
            role: Role::Game,
            display_name: Some(format!("Lobby {number}")),
            max_players: 50,
            host: format!("10.0.0.{number}"),
            port: 25_565,
            region: region(["EUROPE", "ASIA", "AFRICA"][number as usize % 3]),
            country: None,
            software: Software::default(),
        };
        let new =
            Registration { info, game_state: Some("WAITING".parse().unwrap()), players_to_start: 0, worlds: vec![] };
        presence.register(new, NOW, 30_000);
        let players = (0..number % 7).map(|it| (player(1_000 + number * 10 + it), None)).collect();
        let heartbeat = Heartbeat { players: Some(players), ..Heartbeat::sign_of_life(server_id) };
        presence.heartbeat(heartbeat, NOW, 30_000).unwrap();
    }
    presence
}

fn request(number: u32) -> (MatchRequest, PlayerContext) {
    let request = MatchRequest {
        player: Some(player(number)),
        party: vec![],
        player_name: Some("Notch".parse().unwrap()),
        region: Some(region("ASIA")),
        affinity: Affinity::default(),
        mode: Mode::Server { server_type: server_type() },
    };
    let context = PlayerContext {
        id: request.player,
        party: vec![],
        geo_routing: true,
        region: request.region.clone(),
        owner_world: None,
        withheld: None,
        now: NOW,
    };
    (request, context)
}

#[test]
fn choose_among_100_servers() {
    let (mut presence, ids) = (online(), Ids::seeded(1));
    let mut choose = |(request, player): &(MatchRequest, PlayerContext)| {
        presence.release_expired(player.now);
        let best = candidates::best(&presence, &request.mode, player, None, 1).ok().unwrap()[0].destination();
        reserve_slot(&mut presence, &best, player, &ids).unwrap()
    };
    let (first, second) = (request(0), request(1));
    assert_eq!(choose(&first).server.unwrap().server_id.as_str(), "lobby-28", "the emptiest of the region");
    assert_eq!(measured(|| choose(&second)).server.unwrap().server_id.as_str(), "lobby-49", "the next");
}

#[test]
fn prepare_100_candidates() {
    let presence = online();
    let (request, player) = request(0);
    let prepare = || {
        let best = candidates::best(&presence, &request.mode, &player, None, MOST_OFFERED).ok().unwrap();
        Offer::new(&request, &player, &best)
    };
    drop(prepare());
    assert_eq!(measured(prepare).count(), SERVERS as usize);
}
