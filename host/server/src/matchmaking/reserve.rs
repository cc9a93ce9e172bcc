//! Reserves the slot of a match.

use uuid::Uuid;

use crate::matchmaking::candidate::{Candidate, PlayerContext};
use crate::matchmaking::model::{Destination, Match, MatchResult};
use crate::servers::{NetworkPresence, RESERVATION_TTL, Reservation};

/// Reserves a slot at that destination, if the player can still join it.
pub(super) fn reserve_slot(
    presence: &mut NetworkPresence,
    destination: &Destination,
    player: &PlayerContext,
    transfer: Uuid,
) -> Result<Match, MatchResult> {
    let candidate = Candidate::at(presence, destination, player).ok_or(MatchResult::ServerOffline)?;
    if let Some(ineligible) = candidate.ineligible {
        return Err(ineligible.result());
    }
    let matched = Match { transfer: Some(transfer), ..candidate.preview() };
    let reservation = Reservation {
        id: transfer,
        player: player.id,
        world: destination.world_id.clone(),
        promised: true,
        expires_at: player.now.saturating_add(RESERVATION_TTL),
    };
    presence.reserve(&destination.server_id, reservation);
    Ok(matched)
}
