//! The best servers of a type, found by the index of presence, which evaluates a handful however many there are.

#[cfg(test)]
mod tests;

use super::Best;
use crate::matchmaking::candidate::{Candidate, PlayerContext};
use crate::matchmaking::policy;
use crate::presence::NetworkPresence;
use crate::values::Identifier;

/// Returns the best `wanted` servers of a type. Call it after [`NetworkPresence::release_expired`].
pub(super) fn best_servers<'a>(
    presence: &'a NetworkPresence,
    server_type: &Identifier,
    player: &PlayerContext,
    wanted: usize,
) -> Best<Candidate<'a>> {
    let known = known_servers(presence, player);
    let of_known = known.iter().filter_map(|id| presence.server(id, player.now));
    let of_known = of_known.filter(|server| server.info.server_type == *server_type);
    let of_known = of_known.map(|server| Candidate::evaluate(presence, server, None, player));
    let (mut open, not_open): (Vec<_>, Vec<_>) = of_known.partition(Candidate::is_open);
    let mut any_full = not_open.iter().any(Candidate::is_full);

    // All other servers rank for this player as they do for anyone: those of the player's region, then those of others.
    let needed = player.members().count().max(1) as u32;
    let region = player.region.as_ref();
    let in_region = region.into_iter().flat_map(|region| presence.join_ranks_in(server_type, region));
    let in_region = in_region.take_while(|rank| !rank.is_full()).map(|rank| (rank, true));
    let elsewhere = presence.join_ranks(server_type).map(|rank| (rank, false));
    let most = open.len() + wanted;
    for (rank, is_in_region) in in_region.chain(elsewhere) {
        if open.len() == most || rank.is_full() && (any_full || !open.is_empty()) {
            break;
        }
        if rank.free < needed && any_full || known.contains(&&*rank.server_id) {
            continue;
        }
        let Some(server) = presence.server(&rank.server_id, player.now) else { continue };
        if !is_in_region && !rank.is_full() && region == Some(&server.info.region) {
            continue;
        }
        let candidate = Candidate::evaluate(presence, server, None, player);
        any_full |= candidate.is_full();
        if candidate.is_open() {
            open.push(candidate);
        }
    }
    policy::keep_best(&mut open, wanted);
    Best { open, any_full }
}

/// Servers that rank differently for this player than for others: those with a slot reserved for one of the players to
/// match or with one of them present, and the one of the owner's world.
fn known_servers<'a>(presence: &'a NetworkPresence, player: &'a PlayerContext) -> Vec<&'a str> {
    let of_members = player.members().flat_map(|member| [presence.server_of(member), presence.reserved_on(member)]);
    let of_owner = player.owner_world.as_ref().map(|world| world.server_id.as_str());
    let mut known: Vec<_> = of_members.flatten().chain(of_owner).collect();
    known.sort_unstable();
    known.dedup();
    known
}
