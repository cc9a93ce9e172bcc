//! The built-in policy.

use std::cmp::Ordering;

use crate::matchmaking::candidate::Candidate;
use crate::matchmaking::model::Destination;
use crate::presence::join_order;

/// Compares two candidates; the better one is less. Order: the requested owner's live world, the player's region, then
/// for minigames the fewest missing players and the fullest, for others the emptiest, then the server's and the world's
/// id. Players on their way count as present, so that concurrent requests fill one game, or spread over many lobbies.
pub(crate) fn compare(a: &Candidate<'_>, b: &Candidate<'_>) -> Ordering {
    key(a).cmp(&key(b)).then_with(|| {
        let ids = (&a.server.info.server_id, a.world.map(|it| &it.report.world_id));
        ids.cmp(&(&b.server.info.server_id, b.world.map(|it| &it.report.world_id)))
    })
}

/// Keeps the best `wanted` candidates, sorted.
pub(crate) fn keep_best(candidates: &mut Vec<Candidate<'_>>, wanted: usize) {
    if candidates.len() > wanted {
        candidates.select_nth_unstable_by(wanted, compare);
        candidates.truncate(wanted);
    }
    candidates.sort_unstable_by(compare);
}

/// A candidate's position in the built-in order, comparable after presence is unlocked.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    key: Key,
    destination: Destination,
}

impl Rank {
    pub(crate) fn of(candidate: &Candidate<'_>) -> Self {
        Self { key: key(candidate), destination: candidate.destination() }
    }

    /// True if the candidate comes before this one.
    pub(crate) fn is_after(&self, candidate: &Candidate<'_>) -> bool {
        key(candidate).cmp(&self.key).then_with(|| {
            let ids = (&candidate.server.info.server_id, candidate.world.map(|it| &it.report.world_id));
            ids.cmp(&(&self.destination.server_id, self.destination.world_id.as_ref()))
        }) == Ordering::Less
    }

    pub(crate) fn into_destination(self) -> Destination {
        self.destination
    }
}

type Key = (bool, bool, (u32, i64));

fn key(candidate: &Candidate<'_>) -> Key {
    (!candidate.affinity, !candidate.same_region, join_order(candidate.players_to_start(), candidate.taken))
}
