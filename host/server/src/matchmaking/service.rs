//! The rules of matchmaking.

use std::collections::BTreeMap;

use hub_sandbox::contract::Point;
use uuid::Uuid;

use crate::app::App;
use crate::config::Switch;
use crate::geo::Region;
use crate::matchmaking::candidate::{Asker, Bar, Candidate};
use crate::matchmaking::explanation::{DecidedBy, Explanation};
use crate::matchmaking::model::{Affinity, Match, MatchResult, Mode, Place, Wish};
use crate::matchmaking::offer::Offer;
use crate::matchmaking::{direct, policy};
use crate::modules::service::{Ranking, has_chain, take_sample};
use crate::players;
use crate::servers::{self, HOLD, LiveWorld, NetworkPresence, Reservation, Role};
use crate::values::NetworkId;
use crate::worlds;

/// How often candidates are ranked anew when others were quicker at all that had been ranked.
const ATTEMPTS: usize = 4;

/// The wish with the region of the player where it names none.
pub(super) async fn located(app: &App, network: NetworkId, mut wish: Wish) -> Wish {
    if let Some(player) = wish.player
        && wish.region.is_none()
        && app.settings.geo_routing == Switch::On
    {
        wish.region = players::service::region_of(app, network, player).await;
    }
    wish
}

/// Finds the player a place and keeps a slot there.
pub(crate) async fn find(app: &App, network: NetworkId, wish: &Wish) -> Result<Match, hub_db::Error> {
    let matched = decide(app, network, wish).await?;
    if matched.transfer.is_some() {
        servers::save_reserved(app, network).await?;
    }
    Ok(matched)
}

async fn decide(app: &App, network: NetworkId, wish: &Wish) -> Result<Match, hub_db::Error> {
    if let Mode::Direct { server_id, world_id } = &wish.mode {
        let place = Place { server_id: server_id.clone(), world_id: world_id.clone() };
        return direct::join(app, network, &place, &asker(app, wish, None)).await;
    }
    let home = home(app, network, wish).await?;
    if has_chain(app, network, Point::Matchmaking) {
        return Ok(find_by_modules(app, network, wish, home).await);
    }
    let asker = asker(app, wish, home);
    let sampled = take_sample(app, network, Point::Matchmaking);
    let (matched, noted) = app.presence.with(network, |presence| {
        // As it is before a slot is taken.
        let noted = if sampled { offer(presence, wish, &asker).ok() } else { None };
        let candidates = Candidate::all(presence, &wish.mode, &asker);
        let open = candidates.iter().filter(|it| it.is_open());
        let matched = match open.min_by(|a, b| policy::compare(a, b)).map(Candidate::place) {
            Some(place) => keep_slot(presence, &place, &asker, app.ids.uuid()).unwrap_or_else(Match::none),
            None => Match::none(nothing_open(&wish.mode, &candidates)),
        };
        (matched, noted)
    });
    if let Some(noted) = noted {
        noted.note(app, network);
    }
    Ok(matched)
}

/// The modules rank while nobody waits for them; then the first that still has room is taken.
async fn find_by_modules(app: &App, network: NetworkId, wish: &Wish, home: Option<Place>) -> Match {
    for _ in 0..ATTEMPTS {
        let offered = asker(app, wish, home.clone());
        let offer = app.presence.with(network, |presence| offer(presence, wish, &offered));
        let (places, ranking) = match offer {
            Ok(offer) => offer.rank(app, network).await,
            Err(result) => return Match::none(result),
        };
        let order = match ranking {
            Ranking::BuiltIn => (0..places.len() as u32).collect(),
            Ranking::Order(order) => order,
            Ranking::Refused(reason) => return Match::refused(reason),
        };
        let asker = asker(app, wish, home.clone());
        let ranked = order.iter().filter_map(|index| places.get(*index as usize));
        let taken = app.presence.with(network, |presence| {
            ranked.into_iter().find_map(|place| keep_slot(presence, place, &asker, app.ids.uuid()).ok())
        });
        if let Some(taken) = taken {
            return taken;
        }
    }
    Match::none(all_full(&wish.mode))
}

/// What [`find`] would answer now, and why. Keeps no slot.
pub(crate) async fn explain(app: &App, network: NetworkId, wish: &Wish) -> Result<(Match, Explanation), hub_db::Error> {
    let asker = asker(app, wish, home(app, network, wish).await?);
    if let Mode::Direct { server_id, world_id } = &wish.mode {
        let place = Place { server_id: server_id.clone(), world_id: world_id.clone() };
        return direct::explain(app, network, &place, &asker).await;
    }
    let offer = app.presence.with(network, |presence| offer(presence, wish, &asker));
    let (ranked, decided_by, refused) = match offer {
        Err(_) => (vec![], DecidedBy::BuiltIn, None),
        Ok(offer) => match offer.rank(app, network).await {
            (places, Ranking::BuiltIn) => (places, DecidedBy::BuiltIn, None),
            (places, Ranking::Order(order)) => {
                let ranked = order.iter().filter_map(|index| places.get(*index as usize).cloned());
                (ranked.collect(), DecidedBy::Modules, None)
            }
            (_, Ranking::Refused(reason)) => (vec![], DecidedBy::Modules, Some(reason)),
        },
    };
    Ok(app.presence.with(network, |presence| {
        let candidates = Candidate::all(presence, &wish.mode, &asker);
        let position = |it: &Candidate<'_>| ranked.iter().position(|place| *place == it.place());
        let rank = |it: &Candidate<'_>| position(it).map(|position| position as u32 + 1);
        let explanation = Explanation::of(decided_by, &candidates, &asker, rank);
        let best = candidates.iter().filter(|it| it.is_open() && position(it).is_some()).min_by_key(|it| position(it));
        let matched = match (best, refused) {
            (_, Some(reason)) => Match::refused(reason),
            (Some(best), None) => best.shown(),
            (None, None) => Match::none(nothing_open(&wish.mode, &candidates)),
        };
        (matched, explanation)
    }))
}

/// The open candidates in the built-in order, or why there are none.
fn offer(presence: &NetworkPresence, wish: &Wish, asker: &Asker) -> Result<Offer, MatchResult> {
    let candidates = Candidate::all(presence, &wish.mode, asker);
    let mut open: Vec<_> = candidates.iter().filter(|it| it.is_open()).copied().collect();
    if open.is_empty() {
        return Err(nothing_open(&wish.mode, &candidates));
    }
    open.sort_unstable_by(policy::compare);
    Ok(Offer::new(wish, asker, &open))
}

/// Takes a slot at that place, if the player can still join it.
pub(super) fn keep_slot(
    presence: &mut NetworkPresence,
    place: &Place,
    asker: &Asker,
    transfer: Uuid,
) -> Result<Match, MatchResult> {
    let candidate = direct::candidate(presence, place, asker).ok_or(MatchResult::ServerOffline)?;
    if let Some(bar) = candidate.bar {
        return Err(bar.result());
    }
    let matched = Match { transfer: Some(transfer), ..candidate.shown() };
    let slot = Reservation {
        id: transfer,
        player: asker.player,
        world: place.world_id.clone(),
        promised: true,
        expires_at: asker.now.saturating_add(HOLD),
    };
    presence.reserve(&place.server_id, slot);
    Ok(matched)
}

impl Candidate<'_> {
    /// The match that it would be.
    pub(super) fn shown(&self) -> Match {
        Match {
            result: MatchResult::Success,
            reason: None,
            server: Some(self.server.snapshot()),
            world: self.world.map(LiveWorld::snapshot),
            transfer: None,
            warm: self.affinity,
        }
    }
}

/// Where the world of the owner asked for is up. A query only for who asks for an owner and is left a choice.
async fn home(app: &App, network: NetworkId, wish: &Wish) -> Result<Option<Place>, hub_db::Error> {
    let Affinity { game_id: Some(game_id), owner_scope: Some(owner_scope), owner_id: Some(owner_id) } = &wish.affinity
    else {
        return Ok(None);
    };
    if let Mode::Direct { .. } = wish.mode {
        return Ok(None);
    }
    let home = worlds::service::home_of(app, network, game_id, owner_scope, owner_id).await?;
    Ok(home.map(|(server_id, world_id)| Place { server_id, world_id: Some(world_id) }))
}

/// The player as candidates see them.
fn asker(app: &App, wish: &Wish, home: Option<Place>) -> Asker {
    let geo_routing = app.settings.geo_routing == Switch::On;
    let region = wish.region.clone().filter(|region| geo_routing && !region.is_unknown());
    Asker { player: wish.player, geo_routing, region, home, now: app.clock.now() }
}

fn nothing_open(mode: &Mode, candidates: &[Candidate<'_>]) -> MatchResult {
    if candidates.iter().any(|it| it.bar.is_some_and(Bar::is_fullness)) {
        return all_full(mode);
    }
    match mode {
        Mode::World { .. } => MatchResult::NoWorldsAvailable,
        Mode::Server { .. } | Mode::Direct { .. } => MatchResult::NoServersAvailable,
    }
}

fn all_full(mode: &Mode) -> MatchResult {
    match mode {
        Mode::World { .. } => MatchResult::AllWorldsFull,
        Mode::Server { .. } | Mode::Direct { .. } => MatchResult::AllServersFull,
    }
}

/// A region with game servers online.
#[derive(Debug)]
pub(super) struct RegionCount {
    pub(super) region: Region,
    pub(super) servers: u32,
    pub(super) players: u32,
}

/// The regions with game servers online, of one type or of all, the most populated first. None where regions do not
/// count.
pub(super) fn regions(app: &App, network: NetworkId, server_type: Option<&str>) -> Vec<RegionCount> {
    if app.settings.geo_routing == Switch::Off {
        return vec![];
    }
    let now = app.clock.now();
    let counts = app.presence.with(network, |presence| {
        let mut counts: BTreeMap<Region, (u32, u32)> = BTreeMap::new();
        for server in presence.online(now) {
            let wanted = server_type.is_none_or(|kind| kind == server.facts.server_type.as_str());
            if wanted && server.facts.role == Role::Game {
                let (servers, players) = counts.entry(server.facts.region.clone()).or_default();
                *servers += 1;
                *players += server.current_players();
            }
        }
        counts
    });
    let mut regions: Vec<_> =
        counts.into_iter().map(|(region, (servers, players))| RegionCount { region, servers, players }).collect();
    regions.sort_by_key(|it| (std::cmp::Reverse(it.players), std::cmp::Reverse(it.servers)));
    regions
}
