//! Match requests and matches.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::geo::Region;
use crate::presence::{LiveServer, World};
use crate::values::{Identifier, PlayerId};

/// A request to match a player.
#[derive(Clone, Debug)]
pub(crate) struct MatchRequest {
    pub(crate) player: Option<PlayerId>,
    /// The rest of the party, without the player.
    pub(crate) party: Vec<PlayerId>,
    pub(crate) player_name: Option<Identifier>,
    /// The player's region.
    pub(crate) region: Option<Region>,
    pub(crate) affinity: Affinity,
    pub(crate) mode: Mode,
}

/// Owner of the preferred live world.
#[derive(Clone, Debug, Default)]
pub(crate) struct Affinity {
    pub(crate) game_id: Option<Identifier>,
    pub(crate) owner_scope: Option<Identifier>,
    pub(crate) owner_id: Option<Identifier>,
}

/// Set of candidates of a match.
#[derive(Clone, Debug)]
pub(crate) enum Mode {
    /// The best server of a type.
    Server { server_type: Identifier },
    /// The best world of a type, or of any, on the servers of a type.
    World { server_type: Identifier, world_type: Option<Identifier> },
    /// This server, and this world if one is named, if they can be joined.
    Direct(Destination),
}

impl Mode {
    /// Result if nothing can be joined.
    pub(crate) fn none_available(&self) -> MatchResult {
        match self {
            Self::World { .. } => MatchResult::NoWorldsAvailable,
            Self::Server { .. } | Self::Direct(_) => MatchResult::NoServersAvailable,
        }
    }

    /// Result if no candidate is open.
    pub(crate) fn none_open(&self, any_full: bool) -> MatchResult {
        if any_full { self.all_full() } else { self.none_available() }
    }

    /// Result if all joinable candidates are full.
    pub(crate) fn all_full(&self) -> MatchResult {
        match self {
            Self::World { .. } => MatchResult::AllWorldsFull,
            Self::Server { .. } | Self::Direct(_) => MatchResult::AllServersFull,
        }
    }
}

/// Destination of a player.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Destination {
    pub(crate) server_id: Identifier,
    pub(crate) world_id: Option<Identifier>,
}

/// Result of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum MatchResult {
    /// A slot is reserved for the player.
    Success,
    /// No server of the type can be joined.
    NoServersAvailable,
    /// Servers of the type could be joined if they were not full.
    AllServersFull,
    /// No world of the type can be joined.
    NoWorldsAvailable,
    /// Worlds of the type could be joined if they or their servers were not full.
    AllWorldsFull,
    /// The network has no such server.
    ServerNotFound,
    /// The server is not online.
    ServerOffline,
    /// The server has no free slot.
    ServerFull,
    /// The server accepts no players now: its game runs, or it is a proxy.
    ServerNotJoinable,
    /// The server has no such world.
    WorldNotFound,
    /// The world has no free slot.
    WorldFull,
    /// The world accepts no players now: its game runs.
    WorldNotJoinable,
    /// The player is on that server.
    AlreadyOnServer,
    /// The network's modules refused.
    PolicyRejected,
    /// No online server of the line could hold the party. Only of tickets.
    PartyTooLarge,
    /// The line accepts no more players. Only of tickets.
    LineFull,
}

impl MatchResult {
    /// Human-readable reason; none for a success.
    pub(crate) fn reason(self) -> Option<&'static str> {
        Some(match self {
            Self::Success => return None,
            Self::NoServersAvailable => "No server of this type can be joined now.",
            Self::AllServersFull => "All servers of this type are full.",
            Self::NoWorldsAvailable => "No world of this type can be joined now.",
            Self::AllWorldsFull => "All worlds of this type are full.",
            Self::ServerNotFound => "No such server.",
            Self::ServerOffline => "The server is offline.",
            Self::ServerFull => "The server is full.",
            Self::ServerNotJoinable => "The server accepts no players now.",
            Self::WorldNotFound => "The server has no such world.",
            Self::WorldFull => "The world is full.",
            Self::WorldNotJoinable => "The world accepts no players now.",
            Self::AlreadyOnServer => "The player is already on this server.",
            Self::PolicyRejected => "The network's policy rejected the match.",
            Self::PartyTooLarge => "No online server of this line could hold the party.",
            Self::LineFull => "This line accepts no more players.",
        })
    }
}

/// A match, or the reason for none.
#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) result: MatchResult,
    pub(crate) reason: Option<String>,
    pub(crate) server: Option<LiveServer>,
    pub(crate) world: Option<World>,
    /// Id of the reserved slot.
    pub(crate) transfer: Option<Uuid>,
    /// Ids of all slots reserved for this match.
    pub(crate) slots: Vec<Uuid>,
    /// True if the requested owner's world was live.
    pub(crate) warm: bool,
}

impl Match {
    /// No match, with the reason.
    pub(crate) fn none(result: MatchResult) -> Self {
        let reason = result.reason().map(str::to_owned);
        Self { result, reason, server: None, world: None, transfer: None, slots: vec![], warm: false }
    }

    /// Rejected by the network's modules, with a default reason if they give none.
    pub(crate) fn refused(reason: Option<String>) -> Self {
        let reason = reason.unwrap_or_else(|| "No match is available right now.".to_owned());
        let reason = Some(reason).filter(|reason| !reason.trim().is_empty());
        let none = Self::none(MatchResult::PolicyRejected);
        Self { reason: reason.or(none.reason), ..none }
    }
}
