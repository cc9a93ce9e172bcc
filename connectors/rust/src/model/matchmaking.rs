//! Matchmaking.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::{LiveServer, LiveWorld};

/// What a player wants to play. Made by one of the four ways to look, then refined:
/// `MatchRequest { party: friends, ..MatchRequest::server_of_type("bedwars") }.for_player(uuid, name)`.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchRequest {
    /// Who looks: their current server is skipped, and their region is used where none is given.
    pub player_uuid: Option<Uuid>,
    /// Their name.
    pub player_name: Option<String>,
    /// The type of the server.
    pub server_type: Option<String>,
    /// The type of the world.
    pub world_type: Option<String>,
    /// This server.
    pub server_id: Option<String>,
    /// This world of the server.
    pub world_id: Option<String>,
    /// Near this region, such as `EUROPE`.
    pub region: Option<String>,
    /// Where an owner's world of this game is up already, if it is.
    pub affinity_game_id: Option<String>,
    /// The kind of that owner.
    pub affinity_owner_scope: Option<String>,
    /// That owner.
    pub affinity_owner_id: Option<String>,
    /// Whether the server and world that are named are meant.
    pub direct_join: Option<bool>,
    /// Whether a world is looked for.
    pub world_matchmaking: Option<bool>,
    /// Who comes along, up to 16 with the player: all of them get a slot in one place, or none does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub party: Vec<Uuid>,
}

impl MatchRequest {
    /// The best server of a type.
    pub fn server_of_type(server_type: &str) -> Self {
        Self { server_type: Some(server_type.to_owned()), ..Self::default() }
    }

    /// The best world of a type on servers of a type.
    pub fn world_of_type(server_type: &str, world_type: &str) -> Self {
        let world_type = Some(world_type.to_owned());
        Self { world_type, world_matchmaking: Some(true), ..Self::server_of_type(server_type) }
    }

    /// This server, if it can be joined.
    pub fn server(server_id: &str) -> Self {
        Self { server_id: Some(server_id.to_owned()), direct_join: Some(true), ..Self::default() }
    }

    /// This world of a server, if it can be joined.
    pub fn world(server_id: &str, world_id: &str) -> Self {
        Self { world_id: Some(world_id.to_owned()), ..Self::server(server_id) }
    }

    /// Who looks.
    #[must_use]
    pub fn for_player(self, player: Uuid, name: &str) -> Self {
        Self { player_uuid: Some(player), player_name: Some(name.to_owned()), ..self }
    }
}

/// The answer of matchmaking. Finding no place is an answer, too.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Match {
    /// Whether there is a place.
    pub success: bool,
    /// `SUCCESS`, or why not, such as `ALL_SERVERS_FULL`.
    pub result: String,
    /// The reason as a sentence.
    pub error_message: Option<String>,
    /// Where to.
    pub matched_server: Option<LiveServer>,
    /// The world there.
    pub matched_world: Option<LiveWorld>,
    /// Names the reservation: a slot for 15 seconds.
    pub transfer_id: Option<String>,
}

/// The servers and players of a region.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct RegionPopulation {
    /// The region, or `UNKNOWN`.
    pub region: String,
    /// Servers that players can be sent to.
    pub servers: u32,
    /// Players on them.
    pub players: u32,
}
