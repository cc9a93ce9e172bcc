//! The rules of matchmaking.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use hub_sandbox::contract::Point;

use crate::app::App;
use crate::compute::compute;
use crate::config::Switch;
use crate::geo::Region;
use crate::limits::{self, Limit, QuotaExceeded};
use crate::matchmaking::best_servers::best_servers;
use crate::matchmaking::candidate::{Candidate, Ineligibility, PlayerContext};
use crate::matchmaking::explanation::{DecidedBy, Explanation};
use crate::matchmaking::model::{Affinity, Destination, Match, MatchRequest, MatchResult, Mode};
use crate::matchmaking::offer::Offer;
use crate::matchmaking::reserve::reserve_slot;
use crate::matchmaking::survey::{self, Survey};
use crate::matchmaking::{direct, policy};
use crate::modules::service::{Ranking, has_chain};
use crate::players;
use crate::presence::{self, NetworkPresence, Presence, Role};
use crate::values::{Identifier, NetworkId};
use crate::worlds;

/// Maximum number of rankings by modules when others took all ranked slots.
const MAX_ATTEMPTS: usize = 4;
/// Number of best candidates that are tried before a new survey.
const MAX_TRIED: usize = 32;

/// Adds the player's region to a request without one.
pub(super) async fn with_region(app: &App, network: NetworkId, mut request: MatchRequest) -> MatchRequest {
    if let Some(player) = request.player
        && request.region.is_none()
        && app.settings.geo_routing == Switch::On
    {
        request.region = players::service::region_of(app, network, player).await;
    }
    request
}

/// Refuses further reservations if the network has too many.
pub(super) fn check_reservations(app: &App, network: NetworkId, slots: usize) -> Result<(), QuotaExceeded> {
    let reserved = app.state::<Presence>().with(network, |presence| presence.reservation_count(app.clock.now()));
    limits::check(app, Limit::Reservations, reserved, i64::try_from(slots).unwrap_or(i64::MAX))
}

/// Finds a destination for the player and reserves a slot there.
pub(super) async fn find(app: &App, network: NetworkId, request: &MatchRequest) -> Result<Match, hub_db::Error> {
    let matched = find_and_reserve(app, network, request).await?;
    if let Some(server) = &matched.server
        && !matched.slots.is_empty()
    {
        presence::save_reserved(app, network, &server.server_id, &matched.slots).await?;
    }
    Ok(matched)
}

async fn find_and_reserve(app: &App, network: NetworkId, request: &MatchRequest) -> Result<Match, hub_db::Error> {
    if let Mode::Direct(destination) = &request.mode {
        return direct::join(app, network, destination, &player_context(app, request, None)).await;
    }
    let owner_world = owner_world(app, network, request).await?;
    if has_chain(app, network, Point::Matchmaking) {
        return Ok(find_by_modules(app, network, request, owner_world).await);
    }
    let player = player_context(app, request, owner_world);
    if let Mode::Server { server_type } = &request.mode {
        return Ok(find_server(app, network, request, server_type, &player));
    }
    let decided = app.state::<Presence>().with(network, |presence| {
        if survey::is_needed(presence, &request.mode, &player) {
            return None;
        }
        let candidates = Candidate::all(presence, &request.mode, &player);
        let open = candidates.iter().filter(|it| it.is_open());
        Some(match open.min_by(|a, b| policy::compare(a, b)).map(Candidate::destination) {
            Some(best) => reserve_slot(presence, &best, &player, &app.ids).unwrap_or_else(Match::none),
            None => Match::none(none_open(&request.mode, &candidates)),
        })
    });
    match decided {
        Some(matched) => Ok(matched),
        None => Ok(find_among_many(app, network, request, player).await),
    }
}

/// The best server of a type.
fn find_server(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
    server_type: &Identifier,
    player: &PlayerContext,
) -> Match {
    app.state::<Presence>().with(network, |presence| {
        presence.release_expired(player.now);
        let best = best_servers(presence, server_type, player, 1);
        match best.open.first().map(Candidate::destination) {
            Some(best) => reserve_slot(presence, &best, player, &app.ids).unwrap_or_else(Match::none),
            None => Match::none(request.mode.none_open(best.any_full)),
        }
    })
}

/// Chooses the best worlds outside presence's lock; the first that still has room gets the player.
async fn find_among_many(app: &App, network: NetworkId, request: &MatchRequest, mut player: PlayerContext) -> Match {
    for _ in 0..MAX_ATTEMPTS {
        player.now = app.clock.now();
        let survey = survey::best_of_many(app, network, &request.mode, &player, MAX_TRIED).await;
        if survey.best.is_empty() {
            return Match::none(request.mode.none_open(survey.any_full));
        }
        let matched = app.state::<Presence>().with(network, |presence| {
            let mut best = survey.best.iter();
            best.find_map(|destination| reserve_slot(presence, destination, &player, &app.ids).ok())
        });
        if let Some(matched) = matched {
            return matched;
        }
    }
    Match::none(request.mode.all_full())
}

/// Candidates for modules.
async fn offer_now(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
    player: &PlayerContext,
) -> Result<Offer, MatchResult> {
    let few = app.state::<Presence>().with(network, |presence| {
        presence.release_expired(player.now);
        let is_few = matches!(request.mode, Mode::Server { .. }) || !survey::is_needed(presence, &request.mode, player);
        is_few.then(|| offer(presence, request, player))
    });
    if let Some(offer) = few {
        return offer;
    }
    let survey = survey::best_of_many(app, network, &request.mode, player, survey::MOST_OFFERED).await;
    compute(|| app.state::<Presence>().with(network, |presence| offer_of(presence, request, player, &survey))).await
}

/// Modules rank outside presence's lock; the first destination that still has room is chosen.
async fn find_by_modules(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
    owner_world: Option<Destination>,
) -> Match {
    for _ in 0..MAX_ATTEMPTS {
        let player = player_context(app, request, owner_world.clone());
        let ranked = match offer_now(app, network, request, &player).await {
            Ok(offer) => offer.rank(app, network).await,
            Err(result) => return Match::none(result),
        };
        if let Ranking::Refused(reason) = ranked.ranking {
            return Match::refused(reason);
        }
        let player = PlayerContext { now: app.clock.now(), ..player };
        let matched = app.state::<Presence>().with(network, |presence| {
            let mut destinations = ranked.destinations();
            destinations.find_map(|destination| reserve_slot(presence, &destination, &player, &app.ids).ok())
        });
        if let Some(matched) = matched {
            return matched;
        }
    }
    Match::none(request.mode.all_full())
}

/// Explains what [`find`] would return now. Reserves nothing.
pub(super) async fn explain(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
) -> Result<(Match, Explanation), hub_db::Error> {
    if let Mode::Direct(destination) = &request.mode {
        return direct::explain(app, network, destination, &player_context(app, request, None)).await;
    }
    let player = player_context(app, request, owner_world(app, network, request).await?);
    let mut none = None;
    let (ranked, decided_by, refused) = match offer_now(app, network, request, &player).await {
        Err(result) => {
            none = Some(result);
            (vec![], DecidedBy::BuiltIn, None)
        }
        Ok(offer) => {
            let ranked = offer.rank(app, network).await;
            let destinations: Vec<_> = ranked.destinations().collect();
            match ranked.ranking {
                Ranking::BuiltIn => (destinations, DecidedBy::BuiltIn, None),
                Ranking::Order(_) => (destinations, DecidedBy::Modules, None),
                Ranking::Refused(reason) => (vec![], DecidedBy::Modules, Some(reason)),
            }
        }
    };
    let explain = |presence: &mut NetworkPresence| {
        let is_few = !survey::is_needed(presence, &request.mode, &player);
        let candidates = if is_few {
            Candidate::all(presence, &request.mode, &player)
        } else {
            ranked.iter().filter_map(|it| Candidate::at(presence, it, &player)).collect()
        };
        let positions: HashMap<_, _> = ranked.iter().zip(0_usize..).collect();
        let position = |it: &Candidate<'_>| positions.get(&it.destination()).copied();
        let rank = |it: &Candidate<'_>| position(it).map(|position| position as u32 + 1);
        let explanation = Explanation::of(decided_by, &candidates, &player, rank);
        let best = candidates.iter().filter(|it| it.is_open() && position(it).is_some()).min_by_key(|it| position(it));
        let matched = match (best, refused) {
            (_, Some(reason)) => Match::refused(reason),
            (Some(best), None) => best.preview(),
            (None, None) => Match::none(none.unwrap_or_else(|| none_open(&request.mode, &candidates))),
        };
        (matched, explanation)
    };
    Ok(compute(|| app.state::<Presence>().with(network, explain)).await)
}

/// Best open candidates in the built-in order, or the reason for none. Call it after
/// [`NetworkPresence::release_expired`].
fn offer(presence: &NetworkPresence, request: &MatchRequest, player: &PlayerContext) -> Result<Offer, MatchResult> {
    if let Mode::Server { server_type } = &request.mode {
        let best = best_servers(presence, server_type, player, survey::MOST_OFFERED);
        let none = request.mode.none_open(best.any_full);
        return if best.open.is_empty() { Err(none) } else { Ok(Offer::new(request, player, &best.open)) };
    }
    let candidates = Candidate::all(presence, &request.mode, player);
    let mut open: Vec<_> = candidates.iter().filter(|it| it.is_open()).copied().collect();
    if open.is_empty() {
        return Err(none_open(&request.mode, &candidates));
    }
    open.sort_unstable_by(policy::compare);
    Ok(Offer::new(request, player, &open))
}

/// Builds the offer from a survey.
fn offer_of(
    presence: &NetworkPresence,
    request: &MatchRequest,
    player: &PlayerContext,
    survey: &Survey,
) -> Result<Offer, MatchResult> {
    let best = survey.best.iter().filter_map(|it| Candidate::at(presence, it, player));
    let open: Vec<_> = best.filter(Candidate::is_open).collect();
    if open.is_empty() {
        return Err(request.mode.none_open(survey.any_full));
    }
    Ok(Offer::new(request, player, &open))
}

/// Live world of the requested owner. Queries only if an owner is requested.
async fn owner_world(
    app: &App,
    network: NetworkId,
    request: &MatchRequest,
) -> Result<Option<Destination>, hub_db::Error> {
    let Affinity { game_id: Some(game_id), owner_scope: Some(scope), owner_id: Some(owner) } = &request.affinity else {
        return Ok(None);
    };
    let found = worlds::service::find_live(app, network, game_id, scope, owner).await?;
    Ok(found.map(|(server_id, world_id)| Destination { server_id, world_id: Some(world_id) }))
}

fn player_context(app: &App, request: &MatchRequest, owner_world: Option<Destination>) -> PlayerContext {
    let geo_routing = app.settings.geo_routing == Switch::On;
    let region = request.region.clone().filter(|region| geo_routing && !region.is_unknown());
    PlayerContext {
        id: request.player,
        party: request.party.clone(),
        geo_routing,
        region,
        owner_world,
        now: app.clock.now(),
    }
}

fn none_open(mode: &Mode, candidates: &[Candidate<'_>]) -> MatchResult {
    let is_full = |it: &Candidate<'_>| it.ineligible.is_some_and(Ineligibility::is_fullness);
    mode.none_open(candidates.iter().any(is_full))
}

/// A region with game servers online.
#[derive(Debug)]
pub(super) struct RegionCount {
    pub(super) region: Region,
    pub(super) servers: u32,
    pub(super) players: u32,
}

/// Regions with game servers online, of one type or of all, the most populated first. Empty if the hub routes without
/// regions.
pub(super) fn regions(app: &App, network: NetworkId, server_type: Option<&str>) -> Vec<RegionCount> {
    if app.settings.geo_routing == Switch::Off {
        return vec![];
    }
    let now = app.clock.now();
    let counts = app.state::<Presence>().with(network, |presence| {
        let mut counts: BTreeMap<Region, (u32, u32)> = BTreeMap::new();
        for server in presence.online(now) {
            let wanted = server_type.is_none_or(|kind| kind == server.info.server_type.as_str());
            if wanted && server.info.role == Role::Game {
                let (servers, players) = counts.entry(server.info.region.clone()).or_default();
                *servers += 1;
                *players += server.current_players();
            }
        }
        counts
    });
    let mut regions: Vec<_> =
        counts.into_iter().map(|(region, (servers, players))| RegionCount { region, servers, players }).collect();
    regions.sort_by_key(|it| (Reverse(it.players), Reverse(it.servers)));
    regions
}

#[cfg(test)]
mod counts;
