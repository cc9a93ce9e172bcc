//! The pipeline of a match: candidates, their ranking, and the first of them that can be reserved.

use hub_sandbox::contract::Point;

use crate::app::App;
use crate::config::Switch;
use crate::matchmaking::candidate::{Candidate, PlayerContext};
use crate::matchmaking::candidates::{self, MOST_OFFERED, NoneOpen};
use crate::matchmaking::direct;
use crate::matchmaking::model::{Affinity, Destination, Match, MatchRequest, Mode};
use crate::matchmaking::ranking::Offer;
use crate::matchmaking::reserve::reserve_slot;
use crate::matchmaking::withheld::WaitingPlayers;
use crate::modules::service::{Ranking, has_chain};
use crate::players;
use crate::presence::{self, Presence};
use crate::values::NetworkId;
use crate::worlds;

/// Maximum number of rankings when others took all ranked slots.
const MAX_ATTEMPTS: usize = 4;
/// Number of best candidates that are tried before a new survey.
const MAX_TRIED: usize = 32;

/// Finds a destination for the player and reserves a slot there.
pub(crate) async fn find(app: &App, network: NetworkId, request: &MatchRequest) -> Result<Match, hub_db::Error> {
    let player = player_context(app, network, request).await?;
    let matched = match &request.mode {
        Mode::Direct(destination) => direct::join(app, network, destination, &player).await?,
        Mode::Server { .. } | Mode::World { .. } => find_best(app, network, request, player).await,
    };
    if let Some(server) = &matched.server
        && !matched.slots.is_empty()
    {
        presence::save_reserved(app, network, &server.server_id, &matched.slots).await?;
    }
    Ok(matched)
}

async fn find_best(app: &App, network: NetworkId, request: &MatchRequest, mut player: PlayerContext) -> Match {
    let has_modules = has_chain(app, network, Point::Matchmaking);
    for _ in 0..MAX_ATTEMPTS {
        player.now = app.clock.now();
        let matched = if has_modules {
            try_ranked_by_modules(app, network, request, &mut player).await
        } else {
            try_built_in_order(app, network, request, &player).await
        };
        if let Some(matched) = matched {
            return matched;
        }
    }
    Match::none(request.mode.all_full())
}

/// Chooses and reserves under one lock, in the built-in order. None if others took all surveyed slots meanwhile.
async fn try_built_in_order(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
    player: &PlayerContext,
) -> Option<Match> {
    let choose = |presence: &mut _, survey: Option<&_>| {
        let best = candidates::best(presence, &request.mode, player, survey, 1)?;
        Ok(best.first().map(Candidate::destination).and_then(|it| reserve_slot(presence, &it, player, &app.ids).ok()))
    };
    let matched = candidates::decide(app, network, &request.mode, player, MAX_TRIED, choose).await;
    matched.unwrap_or_else(NoneOpen::into_match)
}

/// Modules rank outside presence's lock; the first destination that still has room is chosen. None if none has.
async fn try_ranked_by_modules(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
    player: &mut PlayerContext,
) -> Option<Match> {
    let ranked = match offer(app, network, request, player).await {
        Ok(offer) => offer.rank(app, network).await,
        Err(none) => return none.into_match(),
    };
    if let Ranking::Refused(reason) = ranked.ranking {
        return Some(Match::refused(reason));
    }
    player.now = app.clock.now();
    app.state::<Presence>().with(network, |presence| {
        ranked.destinations().find_map(|destination| reserve_slot(presence, &destination, player, &app.ids).ok())
    })
}

/// Best candidates, in the form that modules get.
pub(crate) async fn offer(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
    player: &PlayerContext,
) -> Result<Offer, NoneOpen> {
    let describe = |presence: &mut _, survey: Option<&_>| {
        let best = candidates::best(presence, &request.mode, player, survey, MOST_OFFERED)?;
        Ok(Offer::new(request, player, &best))
    };
    candidates::decide(app, network, &request.mode, player, MOST_OFFERED, describe).await
}

/// The player of a request. Queries only if an owner's world is requested or the player's region is not in memory.
pub(crate) async fn player_context(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
) -> Result<PlayerContext, hub_db::Error> {
    let geo_routing = app.settings.geo_routing == Switch::On;
    let region = match (&request.region, request.player) {
        _ if !geo_routing => None,
        (None, Some(player)) => players::service::region_of(app, network, player).await,
        (region, _) => region.clone(),
    };
    Ok(PlayerContext {
        id: request.player,
        party: request.party.clone(),
        geo_routing,
        region: region.filter(|region| !region.is_unknown()),
        owner_world: owner_world(app, network, request).await?,
        withheld: app.state::<WaitingPlayers>().of(network),
        now: app.clock.now(),
    })
}

/// Live world of the requested owner.
async fn owner_world(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
) -> Result<Option<Destination>, hub_db::Error> {
    let Affinity { game_id: Some(game_id), owner_scope: Some(scope), owner_id: Some(owner) } = &request.affinity else {
        return Ok(None);
    };
    if matches!(request.mode, Mode::Direct(_)) {
        return Ok(None);
    }
    let found = worlds::service::find_live(app, network, game_id, scope, owner).await?;
    Ok(found.map(|(server_id, world_id)| Destination { server_id, world_id: Some(world_id) }))
}

#[cfg(test)]
mod counts;
