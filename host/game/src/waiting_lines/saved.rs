//! Form of a ticket in the database.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::Millis;
use crate::geo::Region;
use crate::matchmaking::{Affinity, Destination, PlayerContext};
use crate::values::{Identifier, PlayerId, blank_as_absent};
use crate::waiting_lines::model::{LineName, MatchedSlots, Ticket, TicketState};
use crate::waiting_lines::order::Seq;

/// A stored ticket.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SavedTicket {
    pub(super) id: Uuid,
    seq: Seq,
    pub(super) player: PlayerId,
    player_name: Option<Identifier>,
    party: Vec<PlayerId>,
    line: String,
    #[serde(default, deserialize_with = "blank_as_absent")]
    region: Option<Region>,
    geo_routing: bool,
    affinity: [Option<Identifier>; 3],
    owner_world: Option<SavedPlace>,
    body: String,
    priority: i64,
    since: Millis,
    state: TicketState,
    returned: bool,
    matched_at: Option<SavedPlace>,
    slots: Vec<(Uuid, PlayerId)>,
    matched_until: Option<Millis>,
    answer: Option<String>,
    ended_at: Option<Millis>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct SavedPlace(Identifier, Option<Identifier>);

impl From<&Destination> for SavedPlace {
    fn from(at: &Destination) -> Self {
        Self(at.server_id.clone(), at.world_id.clone())
    }
}

impl From<SavedPlace> for Destination {
    fn from(SavedPlace(server_id, world_id): SavedPlace) -> Self {
        Self { server_id, world_id }
    }
}

impl From<&Ticket> for SavedTicket {
    fn from(ticket: &Ticket) -> Self {
        let matched = ticket.matched.as_ref();
        let Affinity { game_id, owner_scope, owner_id } = ticket.affinity.clone();
        Self {
            id: ticket.id,
            seq: ticket.seq,
            player: ticket.player,
            player_name: ticket.player_name.clone(),
            party: ticket.context.party.clone(),
            line: ticket.line.as_str().to_owned(),
            region: ticket.context.region.clone(),
            geo_routing: ticket.context.geo_routing,
            affinity: [game_id, owner_scope, owner_id],
            owner_world: ticket.context.owner_world.as_ref().map(SavedPlace::from),
            body: ticket.body.clone(),
            priority: ticket.priority,
            since: ticket.since,
            state: ticket.state,
            returned: ticket.returned,
            matched_at: matched.map(|matched| (&matched.at).into()),
            slots: matched.map(|matched| matched.slots.clone()).unwrap_or_default(),
            matched_until: matched.map(|matched| matched.until),
            answer: ticket.answer.as_deref().map(str::to_owned),
            ended_at: ticket.ended_at,
        }
    }
}

impl SavedTicket {
    /// The ticket; none if its line cannot be read.
    pub(super) fn into_ticket(self) -> Option<Ticket> {
        let mode = LineName::parse(&self.line)?;
        let [game_id, owner_scope, owner_id] = self.affinity;
        let matched = self.matched_at.zip(self.matched_until);
        let slots = self.slots;
        Some(Ticket {
            id: self.id,
            seq: self.seq,
            player: self.player,
            player_name: self.player_name,
            line: LineName::of(&mode),
            mode,
            affinity: Affinity { game_id, owner_scope, owner_id },
            context: PlayerContext {
                id: Some(self.player),
                party: self.party,
                geo_routing: self.geo_routing,
                region: self.region,
                owner_world: self.owner_world.map(Destination::from),
                withheld: None,
                now: self.since,
            },
            body: self.body,
            priority: self.priority,
            since: self.since,
            state: self.state,
            returned: self.returned,
            matched: matched.map(|(at, until)| MatchedSlots { at: at.into(), slots, until }),
            answer: self.answer.map(Into::into),
            ended_at: self.ended_at,
            offline_since: None,
            passed_at: None,
            keeps: false,
            kept: None,
            is_constant: false,
            due: None,
            told: None,
            told_at: 0,
        })
    }
}
