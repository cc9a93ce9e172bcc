// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{LiveServer, LiveWorld};

/// Origin of the candidates' order.
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

/// Result of a match.
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
    PartyTooLarge,
    LineFull,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// State of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum TicketState {
    Waiting,
    Matched,
    Joined,
    Expired,
    Cancelled,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Match {
    /// Human-readable reason; null on success.
    pub error_message: Option<String>,
    /// Only with `explain=true`.
    pub explanation: Option<MatchExplanation>,
    /// Destination server.
    pub matched_server: Option<LiveServer>,
    /// Destination world, if a world was requested.
    pub matched_world: Option<LiveWorld>,
    /// Only of tickets that the network's modules refused: their reason.
    pub reason: Option<String>,
    pub result: MatchResult,
    pub success: bool,
    /// Id of the slot, which is reserved for 15 seconds.
    pub transfer_id: Option<Uuid>,
    /// True if the requested owner's world was live.
    pub warm: bool,
}

/// A candidate with its pros and cons.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MatchCandidate {
    /// Reasons against it.
    pub against: Vec<String>,
    pub current_players: u32,
    /// Reasons for it.
    pub r#for: Vec<String>,
    pub game_state: Option<String>,
    /// 0: no limit.
    pub max_players: u32,
    /// 0: it is no minigame.
    pub players_to_start: u32,
    /// 1 is the match. Null if it cannot be joined or the modules left it out.
    pub rank: Option<u32>,
    pub region: String,
    /// Players on their way there.
    pub reserved: u32,
    pub server_id: String,
    /// Null if servers were matched.
    pub world_id: Option<String>,
}

/// Explanation of a match.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MatchExplanation {
    /// All candidates that were considered, best first.
    pub candidates: Vec<MatchCandidate>,
    pub decided_by: MatchDecider,
    /// Number of further candidates that did not fit into the answer.
    pub left_out: u64,
    /// The player's region, if it is known and counts.
    pub player_region: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchRequest {
    /// With the other two `affinity` fields: owner of the preferred live world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_game_id: Option<String>,
    /// See `affinityGameId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_owner_id: Option<String>,
    /// See `affinityGameId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_owner_scope: Option<String>,
    /// Requires `serverId` to be set; `serverId` alone has the same effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct_join: Option<bool>,
    /// The player's party: all get slots on the same server or world, or none does. At most 16 players including
    /// `playerUuid`, whether listed or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub party: Option<Vec<Uuid>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    /// Player to match. If absent, no current server is excluded and the slot is anonymous.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_uuid: Option<Uuid>,
    /// The player's region. Default: the region of the address they last loaded with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Direct join of this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
    /// Server type: the match is the best server of this type, unless other fields say more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// With `serverId`: direct join of this world on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_id: Option<String>,
    /// Matches a world; without `worldType`, one of any type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_matchmaking: Option<bool>,
    /// With `serverType`: the match is the best world of this type on those servers.
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

/// A ticket of a waiting line.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Ticket {
    /// Estimated time until the match, in milliseconds; null if unknown.
    pub eta_ms: Option<i64>,
    /// Name of the line: `type:T`, `type:T/world:W`, `server:S` or `server:S/world:W`.
    pub line: String,
    /// The match of a matched or used ticket, or the result that ended it at once.
    #[serde(rename = "match")]
    pub matched: Option<Match>,
    /// Place among the players who wait in the line, from 1; null unless it waits.
    pub position: Option<u64>,
    pub state: TicketState,
    pub ticket_id: Uuid,
    /// Number of players who wait in the line.
    pub waiting: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TicketRequest {
    /// With the other two `affinity` fields: owner of the preferred live world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_game_id: Option<String>,
    /// See `affinityGameId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_owner_id: Option<String>,
    /// See `affinityGameId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_owner_scope: Option<String>,
    /// Requires `serverId` to be set; `serverId` alone has the same effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct_join: Option<bool>,
    /// The player's party: all get slots on the same server or world. At most 16 players including `playerUuid`,
    /// whether listed or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub party: Option<Vec<Uuid>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    /// Player who waits, the leader of the party.
    pub player_uuid: Uuid,
    /// The highest goes first; each second of waiting counts one point, up to 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// The player's region. Default: the region of the address they last loaded with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Waits for this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
    /// Server type: waits for a server of this type, unless other fields say more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// With `serverId`: waits for this world on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_id: Option<String>,
    /// Waits for a world; without `worldType`, for one of any type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_matchmaking: Option<bool>,
    /// With `serverType`: waits for a world of this type on those servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_type: Option<String>,
}
