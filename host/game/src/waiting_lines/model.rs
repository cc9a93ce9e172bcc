//! Lines and tickets.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::{AsRefStr, EnumString};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::clock::Millis;
use crate::matchmaking::{Affinity, Destination, MatchRequest, Mode, PlayerContext};
use crate::presence::Server;
use crate::values::{Identifier, PlayerId};
use crate::waiting_lines::order::{Seq, Standing};

/// State of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema, AsRefStr, EnumString)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum TicketState {
    /// In its line.
    Waiting,
    /// Slots are reserved under `match.transferId`.
    Matched,
    /// The player, or one of the party, used a slot.
    Joined,
    /// It ended without a join: refused, unused twice, or its player was offline for too long.
    Expired,
    /// It was deleted, or gave way to another.
    Cancelled,
}

impl TicketState {
    /// True if the ticket has not ended.
    pub(super) fn is_active(self) -> bool {
        matches!(self, Self::Waiting | Self::Matched)
    }
}

/// Name of a line: the servers or worlds that its tickets wait for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LineName(Arc<str>);

impl fmt::Display for LineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// World type of lines for worlds of any type.
const ANY_WORLD: &str = "*";

impl LineName {
    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The line of a match's mode.
    pub(super) fn of(mode: &Mode) -> Self {
        let (kind, name, world) = match mode {
            Mode::Server { server_type } => ("type", server_type, None),
            Mode::World { server_type, world_type: None } => ("type", server_type, Some(ANY_WORLD.to_owned())),
            Mode::World { server_type, world_type: Some(world) } => ("type", server_type, Some(escape(world.as_str()))),
            Mode::Direct(at) => ("server", &at.server_id, at.world_id.as_ref().map(|world| escape(world.as_str()))),
        };
        let name = escape(name.as_str());
        Self(match world {
            Some(world) => format!("{kind}:{name}/world:{world}").into(),
            None => format!("{kind}:{name}").into(),
        })
    }

    /// The mode of the line with this name; none if it names no line.
    pub(super) fn parse(name: &str) -> Option<Mode> {
        let (kind, rest) = name.split_once(':')?;
        let (name, world) = match rest.split_once('/') {
            Some((name, world)) => (name, Some(world.strip_prefix("world:")?)),
            None => (rest, None),
        };
        let text = |escaped: &str| unescape(escaped)?.parse::<Identifier>().ok();
        let name = text(name)?;
        match (kind, world) {
            ("type", None) => Some(Mode::Server { server_type: name }),
            ("type", Some(ANY_WORLD)) => Some(Mode::World { server_type: name, world_type: None }),
            ("type", Some(world)) => Some(Mode::World { server_type: name, world_type: Some(text(world)?) }),
            ("server", None) => Some(Mode::Direct(Destination { server_id: name, world_id: None })),
            ("server", Some(world)) => {
                Some(Mode::Direct(Destination { server_id: name, world_id: Some(text(world)?) }))
            }
            _ => None,
        }
    }
}

/// Reads a line's name.
pub(super) fn read_line(name: &str) -> Result<(), String> {
    LineName::parse(name).map(drop).ok_or_else(|| "names no line".to_owned())
}

/// Escapes the characters that separate the parts of a line's name.
fn escape(name: &str) -> String {
    if name == ANY_WORLD { "%2A".to_owned() } else { name.replace('%', "%25").replace('/', "%2F") }
}

fn unescape(text: &str) -> Option<String> {
    if text.contains('/') {
        return None;
    }
    Some(text.replace("%2A", "*").replace("%2F", "/").replace("%25", "%"))
}

/// True if tickets of the mode can be matched with that server, or a world of it.
pub(super) fn covers(mode: &Mode, server: &Server) -> bool {
    match mode {
        Mode::Server { server_type } | Mode::World { server_type, .. } => server.info.server_type == *server_type,
        Mode::Direct(at) => server.info.server_id == at.server_id,
    }
}

/// Slots that a matched ticket holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MatchedSlots {
    pub(super) at: Destination,
    /// Each slot with its player.
    pub(super) slots: Vec<(Uuid, PlayerId)>,
    pub(super) until: Millis,
}

/// Place, number of those who wait and estimated time, as a player was told.
pub(super) type ToldPlace = (usize, usize, Option<i64>);

/// A ticket.
#[derive(Clone, Debug)]
pub(super) struct Ticket {
    pub(super) id: Uuid,
    pub(super) seq: Seq,
    /// The leader of the party, whose ticket it is.
    pub(super) player: PlayerId,
    pub(super) player_name: Option<Identifier>,
    pub(super) mode: Mode,
    pub(super) affinity: Affinity,
    pub(super) line: LineName,
    /// Players to match, with the party as it is now.
    pub(super) context: PlayerContext,
    /// SHA-256 of the body that was sent: the same one again keeps the ticket.
    pub(super) body: String,
    pub(super) priority: i64,
    pub(super) since: Millis,
    pub(super) state: TicketState,
    /// True if nobody used an earlier match.
    pub(super) returned: bool,
    pub(super) matched: Option<MatchedSlots>,
    /// JSON of its match, or of the result that ended it.
    pub(super) answer: Option<Arc<str>>,
    pub(super) ended_at: Option<Millis>,
    /// Time since which its player is on no server.
    pub(super) offline_since: Option<Millis>,
    /// Time at which a later ticket was first matched with slots that this party could have used.
    pub(super) passed_at: Option<Millis>,
    /// True if slots are, or would be, kept for it.
    pub(super) keeps: bool,
    /// Place where slots are kept for it.
    pub(super) kept: Option<Destination>,
    /// True if its points no longer rise.
    pub(super) is_constant: bool,
    /// Time of its next change.
    pub(super) due: Option<Millis>,
    pub(super) told: Option<ToldPlace>,
    pub(super) told_at: Millis,
}

impl Ticket {
    /// Number of its players.
    pub(super) fn size(&self) -> usize {
        1 + self.context.party.len()
    }

    pub(super) fn players(&self) -> impl Iterator<Item = PlayerId> + '_ {
        self.context.members()
    }

    pub(super) fn standing(&self) -> Standing {
        Standing { priority: self.priority, since: self.since, seq: self.seq, leads: self.returned }
    }

    /// The request of a match, for modules.
    pub(super) fn request(&self) -> MatchRequest {
        MatchRequest {
            player: Some(self.player),
            party: self.context.party.clone(),
            player_name: self.player_name.clone(),
            region: self.context.region.clone(),
            affinity: self.affinity.clone(),
            mode: self.mode.clone(),
        }
    }

    /// True if it could be matched now.
    pub(super) fn is_ready(&self) -> bool {
        self.state == TicketState::Waiting && self.offline_since.is_none()
    }
}

/// Settings of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineSettings {
    pub(super) paused: bool,
    /// End of the pause.
    pub(super) paused_until: Option<Millis>,
    /// Maximum number of players who wait.
    pub(super) max_waiting: Option<i64>,
}

impl LineSettings {
    /// The settings at `now`, without a pause that is over.
    pub(super) fn at(self, now: Millis) -> Self {
        if self.paused_until.is_some_and(|until| until <= now) {
            return Self { paused: false, paused_until: None, ..self };
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_name() {
        for name in [
            "type:bedwars",
            "type:bedwars/world:duel",
            "type:bedwars/world:*",
            "type:bedwars/world:%2A",
            "server:bw-1",
            "server:bw-1/world:arena 3",
            "type:a%2Fworld:b%25",
        ] {
            let mode = LineName::parse(name).unwrap();
            assert_eq!(LineName::of(&mode).as_str(), name);
        }
        for wrong in
            ["", "bedwars", "type:", "type: /world:x", "kind:x", "type:a/b", "type:a/world:", "server:a/world:b/c"]
        {
            assert!(LineName::parse(wrong).is_none(), "{wrong}");
        }
    }
}
