//! The last stage: reserves the slot of a match.

use crate::app::App;
use crate::ids::Ids;
use crate::limits::{self, Limit, QuotaExceeded};
use crate::matchmaking::candidate::{Candidate, PlayerContext, coming};
use crate::matchmaking::model::{Destination, Match, MatchResult};
use crate::presence::{NetworkPresence, Presence, RESERVATION_TTL, Reservation};
use crate::values::NetworkId;

/// Refuses further reservations if the network has too many.
pub(crate) fn check_reservations(app: &App, network: NetworkId, slots: usize) -> Result<(), QuotaExceeded> {
    let reserved = app.state::<Presence>().with(network, |presence| presence.reservation_count(app.clock.now()));
    limits::check(app, Limit::Reservations, reserved, i64::try_from(slots).unwrap_or(i64::MAX))
}

/// Reserves a slot at that destination for the player and each party member, if all of them can still join. The match
/// has the id of the first slot.
pub(crate) fn reserve_slot(
    presence: &mut NetworkPresence,
    destination: &Destination,
    player: &PlayerContext,
    ids: &Ids,
) -> Result<Match, MatchResult> {
    let candidate = Candidate::at(presence, destination, player).ok_or(MatchResult::ServerOffline)?;
    if let Some(ineligible) = candidate.ineligible {
        return Err(ineligible.result());
    }
    let transfer = ids.uuid();
    let mut matched = Match { transfer: Some(transfer), ..candidate.preview() };
    let is_anonymous = player.members().next().is_none();
    let members: Vec<_> =
        if is_anonymous { vec![None] } else { coming(candidate.server, candidate.world, player).map(Some).collect() };
    for (at, member) in members.into_iter().enumerate() {
        let is_first = at == 0;
        let reservation = Reservation {
            id: if is_first { transfer } else { ids.uuid() },
            player: member,
            world: destination.world_id.clone(),
            // Ids of the other slots are not published.
            promised: is_first,
            expires_at: player.now.saturating_add(RESERVATION_TTL),
        };
        matched.slots.push(reservation.id);
        presence.reserve(&destination.server_id, reservation);
    }
    Ok(matched)
}
