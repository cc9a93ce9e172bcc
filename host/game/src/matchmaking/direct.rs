//! Direct joins: no choice, only a check that the join is possible.

use crate::app::App;
use crate::matchmaking::candidate::{Candidate, PlayerContext};
use crate::matchmaking::explanation::{DecidedBy, Explanation};
use crate::matchmaking::model::{Destination, Match, MatchResult};
use crate::matchmaking::reserve::reserve_slot;
use crate::presence::{self, NetworkPresence, Presence};
use crate::values::NetworkId;

/// Reserves a slot at that destination, or returns the reason against it.
pub(super) async fn join(
    app: &App,
    network: NetworkId,
    destination: &Destination,
    player: &PlayerContext,
) -> Result<Match, hub_db::Error> {
    let decided = app.state::<Presence>().with(network, |presence| {
        evaluate(presence, destination, player).map(|result| {
            let reserved = result.and_then(|()| reserve_slot(presence, destination, player, &app.ids));
            reserved.unwrap_or_else(Match::none)
        })
    });
    match decided {
        Some(decided) => Ok(decided),
        None => Ok(Match::none(absence(app, network, destination).await?)),
    }
}

/// Explains what [`join`] would return. Reserves nothing.
pub(super) async fn explain(
    app: &App,
    network: NetworkId,
    destination: &Destination,
    player: &PlayerContext,
) -> Result<(Match, Explanation), hub_db::Error> {
    let decided = app.state::<Presence>().with(network, |presence| {
        let result = evaluate(presence, destination, player)?;
        let candidate = Candidate::at(presence, destination, player);
        let explanation = Explanation::of(DecidedBy::BuiltIn, candidate.as_slice(), player, |_| Some(1));
        let matched = match (result, candidate) {
            (Ok(()), Some(candidate)) => candidate.preview(),
            (Ok(()), None) => Match::none(MatchResult::WorldNotFound),
            (Err(result), _) => Match::none(result),
        };
        Some((matched, explanation))
    });
    match decided {
        Some(decided) => Ok(decided),
        None => Ok((Match::none(absence(app, network, destination).await?), Explanation::empty())),
    }
}

/// Evaluates the destination; none if the server is not online.
fn evaluate(
    presence: &NetworkPresence,
    destination: &Destination,
    player: &PlayerContext,
) -> Option<Result<(), MatchResult>> {
    let server = presence.server(destination.server_id.as_str(), player.now)?;
    if player.id.is_some_and(|id| server.has(id)) {
        return Some(Err(MatchResult::AlreadyOnServer));
    }
    let candidate = Candidate::at(presence, destination, player).ok_or(MatchResult::WorldNotFound);
    Some(candidate.and_then(|candidate| candidate.ineligible.map_or(Ok(()), |ineligible| Err(ineligible.result()))))
}

/// Result for a server that is not online.
async fn absence(app: &App, network: NetworkId, destination: &Destination) -> Result<MatchResult, hub_db::Error> {
    let known = presence::service::is_known_server(app, network, &destination.server_id).await?;
    Ok(if known { MatchResult::ServerOffline } else { MatchResult::ServerNotFound })
}
