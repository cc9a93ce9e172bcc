//! A direct join: no choice, only whether it is possible.

use crate::app::App;
use crate::matchmaking::candidate::{Asker, Candidate};
use crate::matchmaking::explanation::{DecidedBy, Explanation};
use crate::matchmaking::model::{Match, MatchResult, Place};
use crate::matchmaking::service::keep_slot;
use crate::servers;
use crate::servers::NetworkPresence;
use crate::values::NetworkId;

/// Keeps a slot at that place, or says why not.
pub(super) async fn join(app: &App, network: NetworkId, place: &Place, asker: &Asker) -> Result<Match, hub_db::Error> {
    let decided = app.presence.with(network, |presence| {
        judge(presence, place, asker).map(|result| match result {
            Ok(()) => keep_slot(presence, place, asker, app.ids.uuid()).unwrap_or_else(Match::none),
            Err(result) => Match::none(result),
        })
    });
    match decided {
        Some(decided) => Ok(decided),
        None => Ok(Match::none(absent(app, network, place).await?)),
    }
}

/// What [`join`] would answer, and why. Keeps nothing.
pub(super) async fn explain(
    app: &App,
    network: NetworkId,
    place: &Place,
    asker: &Asker,
) -> Result<(Match, Explanation), hub_db::Error> {
    let decided = app.presence.with(network, |presence| {
        let result = judge(presence, place, asker)?;
        let candidates: Vec<_> = candidate(presence, place, asker).into_iter().collect();
        let shown = candidates.first().filter(|_| result.is_ok()).map(Candidate::shown);
        let explanation = Explanation::of(DecidedBy::BuiltIn, &candidates, asker, |_| Some(1));
        Some((
            result.map_or_else(Match::none, |()| shown.unwrap_or_else(|| Match::none(MatchResult::WorldNotFound))),
            explanation,
        ))
    });
    match decided {
        Some(decided) => Ok(decided),
        None => Ok((Match::none(absent(app, network, place).await?), Explanation::empty())),
    }
}

/// Whether the place can be joined; none where the server is not online.
fn judge(presence: &NetworkPresence, place: &Place, asker: &Asker) -> Option<Result<(), MatchResult>> {
    let server = presence.server(place.server_id.as_str(), asker.now)?;
    if asker.player.is_some_and(|player| server.has(player)) {
        return Some(Err(MatchResult::AlreadyOnServer));
    }
    let found = candidate(presence, place, asker);
    Some(match found.map(|candidate| candidate.bar) {
        None => Err(MatchResult::WorldNotFound),
        Some(Some(bar)) => Err(bar.result()),
        Some(None) => Ok(()),
    })
}

/// The place, if there is such a one.
pub(super) fn candidate<'a>(presence: &'a NetworkPresence, place: &Place, asker: &Asker) -> Option<Candidate<'a>> {
    let server = presence.server(place.server_id.as_str(), asker.now)?;
    let world = match &place.world_id {
        Some(id) => Some(server.world(id)?),
        None => None,
    };
    Some(Candidate::judge(presence, server, world, asker))
}

async fn absent(app: &App, network: NetworkId, place: &Place) -> Result<MatchResult, hub_db::Error> {
    let known = servers::service::is_known_server(app, network, &place.server_id).await?;
    Ok(if known { MatchResult::ServerOffline } else { MatchResult::ServerNotFound })
}
