//! Match requests with their candidates: regions by name, texts beside the numbers.

use super::Input;
use crate::contract::matchmaking::{GameState, MatchRequest, ServerCandidate, UNLIMITED_SLOTS, WorldCandidate};
use crate::operation::Candidates;
use crate::texts::{CandidateTexts, PlainCandidate, PlainTexts, Text};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// The most candidates that are read.
const MAX_CANDIDATES: usize = 2000;
const NOWHERE: &str = "UNKNOWN";

/// A match request with the candidates to rank: servers, or worlds.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Ranking {
    #[serde(skip_serializing_if = "Option::is_none")]
    player_uuid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    player_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    server_type: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    world_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    affinity_game_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    affinity_owner_scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    affinity_owner_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    servers: Option<Vec<Sample>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worlds: Option<Vec<Sample>>,
}

/// A server or world that could be joined.
#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Sample {
    server_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    world_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    world_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    display_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    game_state: Option<String>,
    #[serde(default)]
    affinity: bool,
    #[serde(default)]
    current_players: u32,
    /// 0 where there is no limit.
    #[serde(default)]
    max_players: u32,
    /// What is left where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    free_slots: Option<u32>,
    #[serde(default)]
    players_to_start: u32,
    /// Of a world's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_free_slots: Option<u32>,
}

/// Makes candidates of what was read.
pub(super) fn parse(ranking: Ranking) -> Result<Input, String> {
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
        return Ok(Input::Servers(Arc::new(Candidates::new(request, servers, texts))));
    }
    let mut ids = vec![];
    let candidates = servers
        .iter()
        .zip(&samples)
        .map(|(server, sample)| sample.world(server, position(&mut ids, &sample.server_id)))
        .collect();
    Ok(Input::Worlds(Arc::new(Candidates::new(request, candidates, texts))))
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
            free_slots: self.free_slots.unwrap_or(match self.max_players {
                0 => UNLIMITED_SLOTS,
                most => most.saturating_sub(self.current_players),
            }),
            players_to_start: self.players_to_start,
            players_needed: self.players_to_start.saturating_sub(self.current_players),
        }
    }

    fn world(&self, world: &ServerCandidate, server: u32) -> WorldCandidate {
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
            server_free_slots: self.server_free_slots.unwrap_or(UNLIMITED_SLOTS),
        }
    }

    /// The texts of a candidate; its numbers are still those of an empty one.
    fn named(texts: &dyn CandidateTexts, at: usize, region: u16) -> Self {
        let text = |text| texts.text(at, text).filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            server_id: text(Text::ServerId).unwrap_or_default(),
            server_type: text(Text::ServerType),
            world_id: text(Text::WorldId),
            world_type: text(Text::WorldType),
            display_name: text(Text::DisplayName),
            region: texts.region_name(region).map(str::to_owned),
            game_state: text(Text::StateName),
            ..Self::default()
        }
    }
}

/// Servers as JSON.
pub(super) fn servers(input: &Candidates<ServerCandidate>) -> Value {
    let samples = input.candidates().iter().enumerate().map(|(at, it)| Sample {
        affinity: it.affinity,
        current_players: it.current_players,
        max_players: it.max_players,
        free_slots: Some(it.free_slots),
        players_to_start: it.players_to_start,
        ..Sample::named(input.texts(), at, it.region)
    });
    json!(Ranking { servers: Some(samples.collect()), ..asked(input.request(), input.texts()) })
}

/// Worlds as JSON.
pub(super) fn worlds(input: &Candidates<WorldCandidate>) -> Value {
    let samples = input.candidates().iter().enumerate().map(|(at, it)| Sample {
        affinity: it.affinity,
        current_players: it.current_players,
        max_players: it.max_players,
        free_slots: Some(it.free_slots),
        players_to_start: it.players_to_start,
        server_free_slots: Some(it.server_free_slots),
        ..Sample::named(input.texts(), at, it.region)
    });
    json!(Ranking { worlds: Some(samples.collect()), ..asked(input.request(), input.texts()) })
}

/// The request without its candidates.
fn asked(request: &MatchRequest, texts: &dyn CandidateTexts) -> Ranking {
    Ranking {
        player_uuid: request.player_uuid.clone(),
        player_name: request.player_name.clone(),
        region: texts.region_name(request.region).map(str::to_owned),
        server_type: request.server_type.clone(),
        world_type: request.world_type.clone(),
        affinity_game_id: request.affinity_game_id.clone(),
        affinity_owner_scope: request.affinity_owner_scope.clone(),
        affinity_owner_id: request.affinity_owner_id.clone(),
        servers: None,
        worlds: None,
    }
}

/// A region's number in this call.
fn number(regions: &mut Vec<String>, name: Option<&str>) -> u16 {
    // There are fewer candidates than numbers.
    u16::try_from(position(regions, name.unwrap_or(NOWHERE))).unwrap_or(u16::MAX)
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
    use crate::contract::Point;

    fn worlds_of(sample: Value) -> Arc<Candidates<WorldCandidate>> {
        match Input::parse(Point::Matchmaking, sample).unwrap() {
            Input::Worlds(input) => input,
            _ => panic!("not worlds"),
        }
    }

    fn sample() -> Value {
        json!({
            "playerUuid": "u", "region": "ASIA", "serverType": "lobby",
            "worlds": [
                {"serverId": "a", "worldId": "w1", "region": "EUROPE", "maxPlayers": 10, "currentPlayers": 4},
                {"serverId": "b", "worldId": "w2", "region": "ASIA", "playersToStart": 3, "freeSlots": 2},
                {"serverId": "a", "worldId": "w3", "region": "EUROPE", "gameState": "WAITING", "serverFreeSlots": 7},
            ],
        })
    }

    #[test]
    fn candidates_of_a_sample_are_numbered_by_what_they_share() {
        let input = worlds_of(sample());
        let numbers: Vec<_> = input.candidates().iter().map(|world| (world.server, world.region)).collect();
        assert_eq!(numbers, [(0, 1), (1, 0), (0, 1)]);
        assert_eq!(input.request().region, 0);
        assert_eq!((input.candidates()[0].free_slots, input.candidates()[1].free_slots), (6, 2));
        assert_eq!(input.candidates()[1].players_needed, 3);
        assert_eq!(input.candidates()[2].state, GameState::Waiting);
        assert_eq!(input.texts().region_name(1), Some("EUROPE"));
    }

    #[test]
    fn what_is_written_down_reads_back_the_same() {
        let input = worlds_of(sample());
        let written = Input::Worlds(Arc::clone(&input)).to_json();
        let read = worlds_of(written.clone());
        assert_eq!(read.candidates(), input.candidates());
        assert_eq!(read.request(), input.request());
        assert_eq!(read.texts().text(1, Text::WorldId), Some("w2"));
        assert_eq!(Input::Worlds(read).to_json(), written);
    }

    #[test]
    fn a_sample_that_is_not_what_the_point_takes_is_refused() {
        for bad in [
            json!(null),
            json!({"serverType": "x"}),
            json!({"serverType": "x", "servers": [], "worlds": []}),
            json!({"serverType": "x", "servers": [{"serverId": 5}]}),
            json!({"serverType": "x", "servers": [{"serverId": "a", "maxPlayers": -1}]}),
        ] {
            assert!(Input::parse(Point::Matchmaking, bad.clone()).is_err(), "{bad}");
        }
        assert!(Input::parse(Point::Chat, json!({"player": {"uuid": "u", "name": "n"}})).is_err());
    }
}
