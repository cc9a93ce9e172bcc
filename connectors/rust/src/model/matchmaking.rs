// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{LiveServer, LiveWorld};

/// Who put the candidates into their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum MatchDecider {
    BuiltIn,
    Modules,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// How a match went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum MatchResult {
    Success,
    NoServersAvailable,
    AllServersFull,
    NoWorldsAvailable,
    AllWorldsFull,
    ServerNotFound,
    ServerOffline,
    ServerFull,
    ServerNotJoinable,
    WorldNotFound,
    WorldFull,
    WorldNotJoinable,
    AlreadyOnServer,
    PolicyRejected,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Match {
    /// The reason, for a person; null for a success.
    pub error_message: Option<String>,
    /// With `explain=true` only.
    pub explanation: Option<MatchExplanation>,
    /// Where to send the player.
    pub matched_server: Option<LiveServer>,
    /// Where on it, when a world was asked for.
    pub matched_world: Option<LiveWorld>,
    pub result: MatchResult,
    pub success: bool,
    /// Names the slot, which is kept for 15 seconds.
    pub transfer_id: Option<String>,
    /// The world of the owner asked for was live.
    pub warm: bool,
}

/// One candidate and what spoke for and against it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MatchCandidate {
    /// What counted against it.
    pub against: Vec<String>,
    pub current_players: u32,
    /// What counted for it.
    pub r#for: Vec<String>,
    pub game_state: Option<String>,
    /// 0: no limit.
    pub max_players: u32,
    /// 0: it is no minigame.
    pub players_to_start: u32,
    /// 1 is the one that is chosen; null: it cannot be joined, or the modules do not want it.
    pub rank: Option<u32>,
    pub region: String,
    /// Players on their way there.
    pub reserved: u32,
    pub server_id: String,
    /// Null where servers were matched.
    pub world_id: Option<String>,
}

/// Why a match went as it did.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MatchExplanation {
    /// All that were looked at, the best first.
    pub candidates: Vec<MatchCandidate>,
    pub decided_by: MatchDecider,
    /// How many more there were than fit into the answer.
    pub left_out: u64,
    /// The player's region, where it is known and counts.
    pub player_region: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchRequest {
    /// With the other two: whose live world comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_game_id: Option<String>,
    /// See `affinityGameId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_owner_id: Option<String>,
    /// See `affinityGameId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_owner_scope: Option<String>,
    /// Says that `serverId` must be set; a `serverId` alone says as much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct_join: Option<bool>,
    /// The player's party: all of them get slots on the same server or world, or none does. At most 16 with the player,
    /// who counts, named in it or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub party: Option<Vec<Uuid>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    /// Who is to be sent. Without it nobody's current server is left out, and the slot is kept for whoever comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_uuid: Option<Uuid>,
    /// The player's region; absent: the one of the address they were last loaded with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// A direct join of this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
    /// The best server of this type, unless more is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// With `serverId`: of this world on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_id: Option<String>,
    /// Says that a world is wanted; without `worldType`, one of any type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_matchmaking: Option<bool>,
    /// With `serverType`: the best world of this type on those servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_type: Option<String>,
}

/// A region with game servers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegionPopulation {
    pub players: u32,
    pub region: String,
    pub servers: u32,
}
