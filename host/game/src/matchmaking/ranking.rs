//! The second stage: modules rank the candidates, which they get as numbers, and texts on demand.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use hub_sandbox::contract::matchmaking as contract;
use hub_sandbox::contract::matchmaking::{GameState as StateNumber, ServerCandidate, WorldCandidate};
use hub_sandbox::{CandidateText, CandidateTexts, Candidates, RankServers, RankWorlds};

use crate::app::App;
use crate::geo::Region;
use crate::matchmaking::candidate::{Candidate, PlayerContext};
use crate::matchmaking::model::{Destination, MatchRequest, Mode};
use crate::modules::service::{self as modules, Ranking};
use crate::presence::ServerInfo;
use crate::values::{Identifier, NetworkId};

/// Approximate size of a server's info.
const INFO_BYTES: usize = 1024;
/// Approximate size of a candidate's own texts: its state, and a world's id and type.
const TEXTS_BYTES: usize = 64;

/// Candidates for modules, detached from presence.
pub(crate) struct Offer {
    request: Arc<contract::MatchRequest>,
    candidates: Kind,
    texts: Arc<Texts>,
}

enum Kind {
    Servers(Vec<ServerCandidate>),
    Worlds(Vec<WorldCandidate>),
}

impl Offer {
    /// Describes `open`, in the built-in order, to modules.
    pub(crate) fn new(match_request: &MatchRequest, player: &PlayerContext, open: &[Candidate<'_>]) -> Self {
        let mut texts = Texts { candidates: open.iter().map(Names::of).collect(), regions: vec![] };
        let nowhere = Region::unknown();
        let region = texts.number(player.region.as_ref().unwrap_or(&nowhere));
        let mut numbered =
            |it: &Candidate<'_>| texts.number(if player.geo_routing { &it.server.info.region } else { &nowhere });
        let candidates = if matches!(match_request.mode, Mode::World { .. }) {
            let mut servers = HashMap::new();
            Kind::Worlds(open.iter().map(|it| world(it, numbered(it), server_number(&mut servers, it))).collect())
        } else {
            Kind::Servers(open.iter().map(|it| server(it, numbered(it))).collect())
        };
        Self { request: Arc::new(request(match_request, region)), candidates, texts: Arc::new(texts) }
    }

    /// Number of candidates.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        match &self.candidates {
            Kind::Servers(list) => list.len(),
            Kind::Worlds(list) => list.len(),
        }
    }

    /// Has the network's modules rank the candidates.
    pub(crate) async fn rank(self, app: &App, network: NetworkId) -> Ranked {
        let Self { request, candidates, texts } = self;
        let names = Arc::clone(&texts);
        let ranking = match candidates {
            Kind::Servers(list) => {
                modules::call::<RankServers>(app, network, Candidates::new(request, list, texts)).await
            }
            Kind::Worlds(list) => {
                modules::call::<RankWorlds>(app, network, Candidates::new(request, list, texts)).await
            }
        };
        Ranked { ranking, names }
    }
}

/// The modules' ranking of an offer.
#[derive(Default)]
pub(crate) struct Ranked {
    pub(crate) ranking: Ranking,
    names: Arc<Texts>,
}

impl Ranked {
    /// Destinations that the modules chose, or else all, best first. None if they refused.
    pub(crate) fn destinations(&self) -> impl Iterator<Item = Destination> {
        let candidates = &self.names.candidates;
        let (all, chosen): (&[Names], &[u32]) = match &self.ranking {
            Ranking::BuiltIn => (candidates.as_slice(), Default::default()),
            Ranking::Order(order) => (Default::default(), order.as_slice()),
            Ranking::Refused(_) => Default::default(),
        };
        let chosen = chosen.iter().filter_map(|index| candidates.get(*index as usize));
        all.iter().chain(chosen).map(Names::destination)
    }
}

fn request(request: &MatchRequest, region: u16) -> contract::MatchRequest {
    let text = |it: &Option<Identifier>| it.as_ref().map(|it| it.as_str().to_owned());
    let (server_type, world_type) = match &request.mode {
        Mode::Server { server_type } => (server_type.as_str().to_owned(), None),
        Mode::World { server_type, world_type } => (server_type.as_str().to_owned(), text(world_type)),
        Mode::Direct(_) => (String::new(), None),
    };
    contract::MatchRequest {
        player_uuid: request.player.map(|player| player.to_string()),
        player_name: text(&request.player_name),
        region,
        server_type,
        world_type,
        affinity_game_id: text(&request.affinity.game_id),
        affinity_owner_scope: text(&request.affinity.owner_scope),
        affinity_owner_id: text(&request.affinity.owner_id),
    }
}

fn server(it: &Candidate<'_>, region: u16) -> ServerCandidate {
    ServerCandidate {
        index: 0,
        region,
        state: state(it),
        affinity: it.affinity,
        current_players: it.current_players(),
        max_players: it.max_players(),
        free_slots: it.free,
        players_to_start: it.players_to_start(),
        players_needed: it.players_to_start().saturating_sub(it.current_players()),
    }
}

fn world(it: &Candidate<'_>, region: u16, server: u32) -> WorldCandidate {
    WorldCandidate {
        index: 0,
        region,
        state: state(it),
        affinity: it.affinity,
        current_players: it.current_players(),
        max_players: it.max_players(),
        free_slots: it.free,
        players_to_start: it.players_to_start(),
        players_needed: it.players_to_start().saturating_sub(it.current_players()),
        server,
        server_free_slots: it.server_free,
    }
}

fn state(it: &Candidate<'_>) -> StateNumber {
    it.state().map_or(StateNumber::Other, |state| StateNumber::from_text(state.as_str()))
}

fn server_number<'a>(servers: &mut HashMap<&'a Identifier, u32>, it: &Candidate<'a>) -> u32 {
    let next = servers.len() as u32;
    *servers.entry(&it.server.info.server_id).or_insert(next)
}

#[derive(Default)]
struct Texts {
    candidates: Vec<Names>,
    regions: Vec<String>,
}

/// Built for each candidate of each call, so it shares as much as possible.
struct Names {
    info: Arc<ServerInfo>,
    /// State of its game, or empty.
    state: Cow<'static, str>,
    world: Option<Box<WorldNames>>,
}

struct WorldNames {
    id: Identifier,
    kind: Option<Identifier>,
    display_name: Option<String>,
}

impl Names {
    fn of(it: &Candidate<'_>) -> Self {
        let world = it.world.map(|world| {
            Box::new(WorldNames {
                id: world.report.world_id.clone(),
                kind: world.report.world_type.clone(),
                display_name: world.report.display_name.as_ref().map(|name| name.as_str().to_owned()),
            })
        });
        let state = match (state(it).text(), it.state()) {
            (Some(known), _) => Cow::Borrowed(known),
            (None, own) => Cow::Owned(own.map(|own| own.as_str().to_owned()).unwrap_or_default()),
        };
        Self { info: Arc::clone(&it.server.info), state, world }
    }

    fn destination(&self) -> Destination {
        let world_id = self.world.as_ref().map(|world| world.id.clone());
        Destination { server_id: self.info.server_id.clone(), world_id }
    }
}

impl Texts {
    fn number(&mut self, region: &Region) -> u16 {
        self.region_number(region.as_str()).unwrap_or_else(|| {
            self.regions.push(region.as_str().to_owned());
            // There are far fewer regions than servers, and far fewer servers than `u16` holds.
            u16::try_from(self.regions.len() - 1).unwrap_or(u16::MAX)
        })
    }
}

impl CandidateTexts for Texts {
    fn text(&self, candidate: usize, text: CandidateText) -> Option<&str> {
        let names = self.candidates.get(candidate)?;
        let world = names.world.as_ref();
        Some(match text {
            CandidateText::ServerId => names.info.server_id.as_str(),
            CandidateText::ServerType => names.info.server_type.as_str(),
            CandidateText::DisplayName => match world {
                Some(world) => world.display_name.as_deref().unwrap_or_default(),
                None => names.info.display_name.as_deref().unwrap_or_default(),
            },
            CandidateText::WorldId => world.map(|world| world.id.as_str()).unwrap_or_default(),
            CandidateText::WorldType => {
                world.and_then(|world| world.kind.as_ref()).map(Identifier::as_str).unwrap_or_default()
            }
            CandidateText::StateName => &names.state,
        })
    }

    fn region_name(&self, region: u16) -> Option<&str> {
        self.regions.get(usize::from(region)).map(String::as_str)
    }

    fn region_number(&self, name: &str) -> Option<u16> {
        let position = self.regions.iter().position(|region| region == name)?;
        u16::try_from(position).ok()
    }

    /// A server's info is shared by all calls since it registered and is counted with the first that keeps it.
    fn bytes(&self) -> usize {
        let of = |it: &Names| {
            let info = if Arc::strong_count(&it.info) <= 2 { INFO_BYTES } else { 0 };
            let world = it.world.as_ref().and_then(|world| world.display_name.as_ref()).map_or(0, String::len);
            size_of_val(it) + TEXTS_BYTES + world + info
        };
        self.candidates.iter().map(of).sum()
    }
}
