//! Match requests and their candidates as JSON: regions by name, texts beside the numbers.

use crate::contract::matchmaking::{GameState, MatchRequest, ServerCandidate, UNLIMITED_SLOTS, WorldCandidate};
use crate::operation::{AnyInput, Candidates};
use crate::texts::{CandidateText, CandidateTexts, PlainCandidate, PlainTexts};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

const MAX_CANDIDATES: usize = 2000;
const UNKNOWN_REGION: &str = "UNKNOWN";

/// A match request with the candidates to rank: servers, or worlds.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RankingInput {
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
    servers: Option<Vec<CandidateInput>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worlds: Option<Vec<CandidateInput>>,
}

/// A candidate: a server or world.
#[derive(Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct CandidateInput {
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
    /// 0 without a limit.
    #[serde(default)]
    max_players: u32,
    /// By default the remaining slots.
    #[serde(skip_serializing_if = "Option::is_none")]
    free_slots: Option<u32>,
    #[serde(default)]
    players_to_start: u32,
    /// Of a world's server.
    #[serde(skip_serializing_if = "Option::is_none")]
    server_free_slots: Option<u32>,
}

pub(super) fn parse(ranking: RankingInput) -> Result<AnyInput, String> {
    let (list, is_worlds) = match (ranking.servers, ranking.worlds) {
        (Some(servers), None) => (servers, false),
        (None, Some(worlds)) => (worlds, true),
        _ => return Err("needs either `servers` or `worlds`".to_owned()),
    };
    if list.len() > MAX_CANDIDATES {
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
    let servers: Vec<_> = list.iter().map(|candidate| candidate.server(&mut regions)).collect();
    let candidates = list
        .iter()
        .map(|candidate| PlainCandidate {
            server_id: candidate.server_id.clone(),
            server_type: candidate.server_type.clone().unwrap_or_else(|| ranking.server_type.clone()),
            display_name: candidate.display_name.clone().unwrap_or_default(),
            world_id: candidate.world_id.clone().unwrap_or_default(),
            world_type: candidate.world_type.clone().or_else(|| ranking.world_type.clone()).unwrap_or_default(),
            state_name: candidate.game_state.clone().unwrap_or_default(),
        })
        .collect();
    let texts = Arc::new(PlainTexts { candidates, regions });
    if !is_worlds {
        return Ok(AnyInput::Servers(Arc::new(Candidates::new(request, servers, texts))));
    }
    let mut ids = vec![];
    let candidates = servers
        .iter()
        .zip(&list)
        .map(|(server, candidate)| candidate.world(server, position(&mut ids, &candidate.server_id)))
        .collect();
    Ok(AnyInput::Worlds(Arc::new(Candidates::new(request, candidates, texts))))
}

impl CandidateInput {
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

    /// A candidate's texts; its numbers are zero.
    fn with_texts(texts: &dyn CandidateTexts, at: usize, region: u16) -> Self {
        let text = |text| texts.text(at, text).filter(|text| !text.is_empty()).map(str::to_owned);
        Self {
            server_id: text(CandidateText::ServerId).unwrap_or_default(),
            server_type: text(CandidateText::ServerType),
            world_id: text(CandidateText::WorldId),
            world_type: text(CandidateText::WorldType),
            display_name: text(CandidateText::DisplayName),
            region: texts.region_name(region).map(str::to_owned),
            game_state: text(CandidateText::StateName),
            ..Self::default()
        }
    }
}

/// Servers as JSON.
pub(super) fn servers(input: &Candidates<ServerCandidate>) -> Value {
    let list = input.candidates().iter().enumerate().map(|(at, it)| CandidateInput {
        affinity: it.affinity,
        current_players: it.current_players,
        max_players: it.max_players,
        free_slots: Some(it.free_slots),
        players_to_start: it.players_to_start,
        ..CandidateInput::with_texts(input.texts(), at, it.region)
    });
    json!(RankingInput { servers: Some(list.collect()), ..without_candidates(input.request(), input.texts()) })
}

/// Worlds as JSON.
pub(super) fn worlds(input: &Candidates<WorldCandidate>) -> Value {
    let list = input.candidates().iter().enumerate().map(|(at, it)| CandidateInput {
        affinity: it.affinity,
        current_players: it.current_players,
        max_players: it.max_players,
        free_slots: Some(it.free_slots),
        players_to_start: it.players_to_start,
        server_free_slots: Some(it.server_free_slots),
        ..CandidateInput::with_texts(input.texts(), at, it.region)
    });
    json!(RankingInput { worlds: Some(list.collect()), ..without_candidates(input.request(), input.texts()) })
}

fn without_candidates(request: &MatchRequest, texts: &dyn CandidateTexts) -> RankingInput {
    RankingInput {
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
    u16::try_from(position(regions, name.unwrap_or(UNKNOWN_REGION))).unwrap_or(u16::MAX)
}

/// A text's position among those seen so far.
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
        match AnyInput::parse(Point::Matchmaking, sample).unwrap() {
            AnyInput::Worlds(input) => input,
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
    fn candidates_share_the_numbers_of_their_servers_and_regions() {
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
    fn candidates_read_back_as_they_were_written() {
        let input = worlds_of(sample());
        let written = AnyInput::Worlds(Arc::clone(&input)).to_json();
        let read = worlds_of(written.clone());
        assert_eq!(read.candidates(), input.candidates());
        assert_eq!(read.request(), input.request());
        assert_eq!(read.texts().text(1, CandidateText::WorldId), Some("w2"));
        assert_eq!(AnyInput::Worlds(read).to_json(), written);
    }

    #[test]
    fn malformed_input_is_refused() {
        for bad in [
            json!(null),
            json!({"serverType": "x"}),
            json!({"serverType": "x", "servers": [], "worlds": []}),
            json!({"serverType": "x", "servers": [{"serverId": 5}]}),
            json!({"serverType": "x", "servers": [{"serverId": "a", "maxPlayers": -1}]}),
        ] {
            assert!(AnyInput::parse(Point::Matchmaking, bad.clone()).is_err(), "{bad}");
        }
        assert!(AnyInput::parse(Point::Chat, json!({"player": {"uuid": "u", "name": "n"}})).is_err());
    }
}
