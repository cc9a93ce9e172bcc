//! Inputs for dry runs as people write them: regions by name, texts beside the numbers.

use std::sync::Arc;

use hub_sandbox::contract::Point;
use hub_sandbox::contract::matchmaking::{GameState, MatchRequest, ServerCandidate, UNLIMITED_SLOTS, WorldCandidate};
use hub_sandbox::{Candidates, PlainCandidate, PlainTexts};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::modules::service::dry_run::Input;

/// The most candidates.
const MAX_CANDIDATES: usize = 2000;

/// A matchmaking request with the candidates to rank: servers, or worlds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Ranking {
    player_uuid: Option<String>,
    player_name: Option<String>,
    region: Option<String>,
    server_type: String,
    world_type: Option<String>,
    affinity_game_id: Option<String>,
    affinity_owner_scope: Option<String>,
    affinity_owner_id: Option<String>,
    servers: Option<Vec<Sample>>,
    worlds: Option<Vec<Sample>>,
}

/// A server or world that could be joined.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sample {
    server_id: String,
    server_type: Option<String>,
    world_id: Option<String>,
    world_type: Option<String>,
    display_name: Option<String>,
    region: Option<String>,
    game_state: Option<String>,
    #[serde(default)]
    affinity: bool,
    #[serde(default)]
    current_players: u32,
    /// 0 where there is no limit.
    #[serde(default)]
    max_players: u32,
    #[serde(default)]
    players_to_start: u32,
}

/// Reads the input that a point takes; says what is wrong with it.
pub(super) fn input(point: Point, input: Value) -> Result<Input, String> {
    Ok(match point {
        Point::Chat => Input::Line(read(input)?),
        Point::Punishment => Input::Proposal(read(input)?),
        Point::Matchmaking => ranking(read(input)?)?,
    })
}

fn read<T: DeserializeOwned>(input: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(input).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner();
        if path == "." { reason.to_string() } else { format!("`{path}`: {reason}") }
    })
}

fn ranking(ranking: Ranking) -> Result<Input, String> {
    let (samples, worlds) = match (ranking.servers, ranking.worlds) {
        (Some(servers), None) => (servers, false),
        (None, Some(worlds)) => (worlds, true),
        _ => return Err("needs either `servers` or `worlds`".to_owned()),
    };
    if samples.len() > MAX_CANDIDATES {
        return Err(format!("has more than {MAX_CANDIDATES} candidates"));
    }
    let mut regions = vec![];
    let request = Arc::new(MatchRequest {
        player_uuid: ranking.player_uuid,
        player_name: ranking.player_name,
        region: number(&mut regions, ranking.region.as_deref()),
        server_type: ranking.server_type.clone(),
        world_type: ranking.world_type.clone(),
        affinity_game_id: ranking.affinity_game_id,
        affinity_owner_scope: ranking.affinity_owner_scope,
        affinity_owner_id: ranking.affinity_owner_id,
    });
    let servers: Vec<_> = samples.iter().map(|sample| sample.server(&mut regions)).collect();
    let candidates = samples
        .iter()
        .map(|sample| PlainCandidate {
            server_id: sample.server_id.clone(),
            server_type: sample.server_type.clone().unwrap_or_else(|| ranking.server_type.clone()),
            display_name: sample.display_name.clone().unwrap_or_default(),
            world_id: sample.world_id.clone().unwrap_or_default(),
            world_type: sample.world_type.clone().or_else(|| ranking.world_type.clone()).unwrap_or_default(),
            state_name: sample.game_state.clone().unwrap_or_default(),
        })
        .collect();
    let texts = Arc::new(PlainTexts { candidates, regions });
    if !worlds {
        return Ok(Input::Servers(Candidates::new(request, servers, texts)));
    }
    let mut ids = vec![];
    let candidates =
        servers.iter().zip(&samples).map(|(server, sample)| world(server, position(&mut ids, &sample.server_id)));
    Ok(Input::Worlds(Candidates::new(request, candidates.collect(), texts)))
}

impl Sample {
    fn server(&self, regions: &mut Vec<String>) -> ServerCandidate {
        ServerCandidate {
            index: 0,
            region: number(regions, self.region.as_deref()),
            state: GameState::from_text(self.game_state.as_deref().unwrap_or_default()),
            affinity: self.affinity,
            current_players: self.current_players,
            max_players: self.max_players,
            free_slots: match self.max_players {
                0 => UNLIMITED_SLOTS,
                most => most.saturating_sub(self.current_players),
            },
            players_to_start: self.players_to_start,
            players_needed: self.players_to_start.saturating_sub(self.current_players),
        }
    }
}

fn world(world: &ServerCandidate, server: u32) -> WorldCandidate {
    WorldCandidate {
        index: 0,
        region: world.region,
        state: world.state,
        affinity: world.affinity,
        current_players: world.current_players,
        max_players: world.max_players,
        free_slots: world.free_slots,
        players_to_start: world.players_to_start,
        players_needed: world.players_needed,
        server,
        server_free_slots: UNLIMITED_SLOTS,
    }
}

/// A region's number in this call.
fn number(regions: &mut Vec<String>, name: Option<&str>) -> u16 {
    // There are fewer candidates than numbers.
    u16::try_from(position(regions, name.unwrap_or("UNKNOWN"))).unwrap_or(u16::MAX)
}

/// A text's place among those seen so far.
fn position(seen: &mut Vec<String>, text: &str) -> u32 {
    let at = seen.iter().position(|known| known == text).unwrap_or_else(|| {
        seen.push(text.to_owned());
        seen.len() - 1
    });
    at as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn candidates_of_a_sample_are_numbered_by_what_they_share() {
        let sample = json!({
            "player": {"uuid": "u", "name": "n"}, "region": "ASIA", "serverType": "lobby",
            "worlds": [
                {"serverId": "a", "worldId": "w1", "region": "EUROPE", "maxPlayers": 10, "currentPlayers": 4},
                {"serverId": "b", "worldId": "w2", "region": "ASIA", "playersToStart": 3},
                {"serverId": "a", "worldId": "w3", "region": "EUROPE", "gameState": "WAITING"},
            ],
        });
        let Ok(Input::Worlds(input)) = input(Point::Matchmaking, sample) else { panic!("not worlds") };
        let numbers: Vec<_> = input.candidates().iter().map(|world| (world.server, world.region)).collect();
        assert_eq!(numbers, [(0, 1), (1, 0), (0, 1)]);
        assert_eq!(input.request().region, 0);
        assert_eq!((input.candidates()[0].free_slots, input.candidates()[1].free_slots), (6, UNLIMITED_SLOTS));
        assert_eq!(input.candidates()[1].players_needed, 3);
        assert_eq!(input.candidates()[2].state, GameState::Waiting);
        assert_eq!(input.texts().region_name(1), Some("EUROPE"));
    }

    #[test]
    fn a_sample_that_is_not_what_the_point_takes_is_refused() {
        let player = json!({"uuid": "u", "name": "n"});
        for bad in [
            json!(null),
            json!({"player": player, "serverType": "x"}),
            json!({"player": player, "serverType": "x", "servers": [], "worlds": []}),
            json!({"player": player, "serverType": "x", "servers": [{"serverId": 5}]}),
            json!({"player": player, "serverType": "x", "servers": [{"serverId": "a", "maxPlayers": -1}]}),
        ] {
            assert!(input(Point::Matchmaking, bad.clone()).is_err(), "{bad}");
        }
        assert!(input(Point::Chat, json!({"player": player})).is_err());
    }
}
