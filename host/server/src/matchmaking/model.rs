//! Match requests and matches.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::geo::Region;
use crate::presence::{LiveServer, World};
use crate::values::{Identifier, PlayerId};

/// A request to match a player.
#[derive(Clone, Debug)]
pub(super) struct MatchRequest {
    pub(super) player: Option<PlayerId>,
    /// Who comes along, without the player.
    pub(super) party: Vec<PlayerId>,
    pub(super) player_name: Option<Identifier>,
    /// The player's region.
    pub(super) region: Option<Region>,
    pub(super) affinity: Affinity,
    pub(super) mode: Mode,
}

/// Whose live world is preferred.
#[derive(Clone, Debug, Default)]
pub(super) struct Affinity {
    pub(super) game_id: Option<Identifier>,
    pub(super) owner_scope: Option<Identifier>,
    pub(super) owner_id: Option<Identifier>,
}

/// What the match chooses from.
#[derive(Clone, Debug)]
pub(super) enum Mode {
    /// The best server of a type.
    Server { server_type: Identifier },
    /// The best world of a type, or of any, on the servers of a type.
    World { server_type: Identifier, world_type: Option<Identifier> },
    /// This server, and this world if one is named, provided they can be joined.
    Direct(Destination),
}

impl Mode {
    /// The result where nothing can be joined.
    pub(super) fn none_available(&self) -> MatchResult {
        match self {
            Self::World { .. } => MatchResult::NoWorldsAvailable,
            Self::Server { .. } | Self::Direct(_) => MatchResult::NoServersAvailable,
        }
    }

    /// The result where nothing is open, and something is full or nothing is.
    pub(super) fn none_open(&self, any_full: bool) -> MatchResult {
        if any_full { self.all_full() } else { self.none_available() }
    }

    /// The result where everything that could be joined is full.
    pub(super) fn all_full(&self) -> MatchResult {
        match self {
            Self::World { .. } => MatchResult::AllWorldsFull,
            Self::Server { .. } | Self::Direct(_) => MatchResult::AllServersFull,
        }
    }
}

/// Where a player is sent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Destination {
    pub(super) server_id: Identifier,
    pub(super) world_id: Option<Identifier>,
}

/// How a match went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum MatchResult {
    /// A slot is kept for the player.
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
    /// The server takes no players now: its game runs, or it is a proxy.
    ServerNotJoinable,
    /// The server has no such world.
    WorldNotFound,
    /// The world has no free slot.
    WorldFull,
    /// The world takes no players now: its game runs.
    WorldNotJoinable,
    /// The player is on that server.
    AlreadyOnServer,
    /// The network's modules refused.
    PolicyRejected,
}

impl MatchResult {
    /// The reason, for a person; none for a success.
    pub(super) fn reason(self) -> Option<&'static str> {
        Some(match self {
            Self::Success => return None,
            Self::NoServersAvailable => "There is no server of this type that can be joined now.",
            Self::AllServersFull => "All servers of this type are full.",
            Self::NoWorldsAvailable => "There is no world of this type that can be joined now.",
            Self::AllWorldsFull => "All worlds of this type are full.",
            Self::ServerNotFound => "There is no such server.",
            Self::ServerOffline => "The server is offline.",
            Self::ServerFull => "The server is full.",
            Self::ServerNotJoinable => "The server takes no players now.",
            Self::WorldNotFound => "The server has no such world.",
            Self::WorldFull => "The world is full.",
            Self::WorldNotJoinable => "The world takes no players now.",
            Self::AlreadyOnServer => "The player is on this server already.",
            Self::PolicyRejected => "The network's own policy refused.",
        })
    }
}

/// A match, or why there is none.
#[derive(Debug)]
pub(super) struct Match {
    pub(super) result: MatchResult,
    pub(super) reason: Option<String>,
    pub(super) server: Option<LiveServer>,
    pub(super) world: Option<World>,
    /// The id of the reserved slot.
    pub(super) transfer: Option<Uuid>,
    /// All slots that are reserved for it, each by its id.
    pub(super) slots: Vec<Uuid>,
    /// The world of the requested owner was live.
    pub(super) warm: bool,
}

impl Match {
    /// No match, for this reason.
    pub(super) fn none(result: MatchResult) -> Self {
        let reason = result.reason().map(str::to_owned);
        Self { result, reason, server: None, world: None, transfer: None, slots: vec![], warm: false }
    }

    /// The network's modules refused; a refusal without a reason has a default one.
    pub(super) fn refused(reason: Option<String>) -> Self {
        let reason = reason.unwrap_or_else(|| "There is no match for you right now.".to_owned());
        let reason = Some(reason).filter(|reason| !reason.trim().is_empty());
        let none = Self::none(MatchResult::PolicyRejected);
        Self { reason: reason.or(none.reason), ..none }
    }
}
