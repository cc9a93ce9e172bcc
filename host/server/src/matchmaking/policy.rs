//! The built-in policy.

use std::cmp::Ordering;

use crate::matchmaking::candidate::Candidate;

/// Compares two candidates; the better one is less. First the live world of the requested owner, then the player's
/// region, then, for minigames, the one whose game lacks fewest players and then the fullest, for others the emptiest,
/// then the server's and the world's id. Players on their way count as present, so that concurrent requests fill one
/// game, or spread over many lobbies.
pub(super) fn compare(a: &Candidate<'_>, b: &Candidate<'_>) -> Ordering {
    key(a).cmp(&key(b)).then_with(|| {
        let ids = (&a.server.info.server_id, a.world.map(|it| &it.report.world_id));
        ids.cmp(&(&b.server.info.server_id, b.world.map(|it| &it.report.world_id)))
    })
}

fn key(candidate: &Candidate<'_>) -> (bool, bool, u32, i64) {
    let to_start = candidate.players_to_start();
    let players = i64::from(candidate.taken);
    let filling = if to_start > 0 { -players } else { players };
    (!candidate.affinity, !candidate.same_region, to_start.saturating_sub(candidate.taken), filling)
}
