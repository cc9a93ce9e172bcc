//! Explains a match without reserving a slot.

use std::collections::HashMap;

use crate::app::App;
use crate::compute::compute;
use crate::matchmaking::candidate::Candidate;
use crate::matchmaking::explanation::{DecidedBy, Explanation};
use crate::matchmaking::find::{offer, player_context};
use crate::matchmaking::model::{Match, MatchRequest, Mode};
use crate::matchmaking::ranking::Ranked;
use crate::matchmaking::{candidates, direct};
use crate::modules::service::Ranking;
use crate::presence::{NetworkPresence, Presence};
use crate::values::NetworkId;

/// Explains what [`find`](super::find::find) would return now.
pub(super) async fn explain(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
) -> Result<(Match, Explanation), hub_db::Error> {
    let (mode, player) = (&request.mode, player_context(app, network, request).await?);
    if let Mode::Direct(destination) = mode {
        return direct::explain(app, network, destination, &player).await;
    }
    let (ranked, none) = match offer(app, network, request, &player).await {
        Ok(offer) => (offer.rank(app, network).await, None),
        Err(none) => (Ranked::default(), Some(none.into_match().unwrap_or_else(|| Match::none(mode.all_full())))),
    };
    let explain = |presence: &mut NetworkPresence| {
        let destinations: Vec<_> = ranked.destinations().collect();
        let candidates = if candidates::are_many(presence, mode, &player) {
            destinations.iter().filter_map(|it| Candidate::at(presence, it, &player)).collect()
        } else {
            candidates::all(presence, mode, &player)
        };
        let ranks: HashMap<_, _> = destinations.iter().zip(1_u32..).collect();
        let rank = |it: &Candidate<'_>| ranks.get(&it.destination()).copied();
        let decided_by = if ranked.ranking == Ranking::BuiltIn { DecidedBy::BuiltIn } else { DecidedBy::Modules };
        let explanation = Explanation::of(decided_by, &candidates, &player, rank);
        let open = candidates.iter().filter(|it| it.is_open());
        let best = open.filter_map(|it| Some((rank(it)?, it))).min_by_key(|(rank, _)| *rank);
        let matched = match (ranked.ranking, best) {
            (Ranking::Refused(reason), _) => Match::refused(reason),
            (_, Some((_, best))) => best.preview(),
            (_, None) => none.unwrap_or_else(|| Match::none(mode.none_open(candidates.iter().any(Candidate::is_full)))),
        };
        (matched, explanation)
    };
    Ok(compute(|| app.state::<Presence>().with(network, explain)).await)
}
