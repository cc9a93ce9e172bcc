//! Requests of the measurements.

use hub_sandbox::contract::matchmaking::{GameState, MatchRequest, ServerCandidate};

/// A player's request for a lobby.
pub(crate) fn request() -> MatchRequest {
    MatchRequest {
        player_uuid: Some("6f1c1c1e-0000-4000-8000-000000000001".into()),
        player_name: Some("Steve".into()),
        region: 1,
        server_type: "lobby".into(),
        world_type: None,
        affinity_game_id: None,
        affinity_owner_scope: None,
        affinity_owner_id: None,
    }
}

/// Servers of seven regions that are filled differently.
pub(crate) fn servers(size: u32) -> Vec<ServerCandidate> {
    let server = |at: u32| ServerCandidate {
        index: at,
        region: (at % 7) as u16,
        state: GameState::Waiting,
        affinity: false,
        current_players: at % 16,
        max_players: 16,
        free_slots: 16 - at % 16,
        players_to_start: 8,
        players_needed: at * 31 % 8,
    };
    (0..size).map(server).collect()
}
