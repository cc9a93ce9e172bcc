//! Candidates as the network's modules are given them: numbers, and texts for those that ask.

use std::collections::HashMap;
use std::sync::Arc;

use hub_sandbox::contract::matchmaking::{GameState as StateNumber, MatchRequest, ServerCandidate, WorldCandidate};
use hub_sandbox::{CandidateText, CandidateTexts, Candidates, RankServers, RankWorlds};

use crate::app::App;
use crate::geo::Region;
use crate::matchmaking::candidate::{Asker, Candidate};
use crate::matchmaking::model::{Mode, Place, Wish};
use crate::modules::service::{self as modules, Ranking};
use crate::servers::{Facts, GameState};
use crate::values::{Identifier, NetworkId};

/// What a server's facts take, about.
const FACTS_BYTES: usize = 1024;
/// What the texts of a candidate's own take, about: its state, and a world's id and type.
const TEXTS_BYTES: usize = 64;

/// Candidates that were let go of presence's lock.
pub(super) struct Offer {
    /// Where each candidate is, in the built-in order.
    pub(super) places: Vec<Place>,
    request: Arc<MatchRequest>,
    candidates: Kind,
    texts: Arc<Texts>,
}

enum Kind {
    Servers(Vec<ServerCandidate>),
    Worlds(Vec<WorldCandidate>),
}

impl Offer {
    /// What modules get to know of `open`, which is in the built-in order.
    pub(super) fn new(wish: &Wish, asker: &Asker, open: &[Candidate<'_>]) -> Self {
        let mut texts = Texts { candidates: open.iter().map(Names::of).collect(), regions: vec![] };
        let nowhere = Region::unknown();
        let region = texts.number(asker.region.as_ref().unwrap_or(&nowhere));
        let mut numbered =
            |it: &Candidate<'_>| texts.number(if asker.geo_routing { &it.server.facts.region } else { &nowhere });
        let candidates = if matches!(wish.mode, Mode::World { .. }) {
            let mut servers = HashMap::new();
            Kind::Worlds(open.iter().map(|it| world(it, numbered(it), server_number(&mut servers, it))).collect())
        } else {
            Kind::Servers(open.iter().map(|it| server(it, numbered(it))).collect())
        };
        Self {
            places: open.iter().map(Candidate::place).collect(),
            request: Arc::new(request(wish, region)),
            candidates,
            texts: Arc::new(texts),
        }
    }

    /// Notes the call for the modules there may be one day.
    pub(super) fn note(self, app: &App, network: NetworkId) {
        let Self { request, candidates, texts, .. } = self;
        match candidates {
            Kind::Servers(list) => {
                modules::record_built_in::<RankServers>(app, network, Candidates::new(request, list, texts));
            }
            Kind::Worlds(list) => {
                modules::record_built_in::<RankWorlds>(app, network, Candidates::new(request, list, texts));
            }
        }
    }

    /// Asks the network's modules; the positions are those in `places`.
    pub(super) async fn rank(self, app: &App, network: NetworkId) -> (Vec<Place>, Ranking) {
        let Self { places, request, candidates, texts } = self;
        let ranking = match candidates {
            Kind::Servers(list) => {
                modules::call::<RankServers>(app, network, Candidates::new(request, list, texts)).await
            }
            Kind::Worlds(list) => {
                modules::call::<RankWorlds>(app, network, Candidates::new(request, list, texts)).await
            }
        };
        (places, ranking)
    }
}

fn request(wish: &Wish, region: u16) -> MatchRequest {
    let text = |it: &Option<Identifier>| it.as_ref().map(|it| it.as_str().to_owned());
    let (server_type, world_type) = match &wish.mode {
        Mode::Server { server_type } => (server_type.as_str().to_owned(), None),
        Mode::World { server_type, world_type } => (server_type.as_str().to_owned(), text(world_type)),
        Mode::Direct { .. } => (String::new(), None),
    };
    MatchRequest {
        player_uuid: wish.player.map(|player| player.to_string()),
        player_name: text(&wish.player_name),
        region,
        server_type,
        world_type,
        affinity_game_id: text(&wish.affinity.game_id),
        affinity_owner_scope: text(&wish.affinity.owner_scope),
        affinity_owner_id: text(&wish.affinity.owner_id),
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
    *servers.entry(&it.server.facts.server_id).or_insert(next)
}

struct Texts {
    candidates: Vec<Names>,
    regions: Vec<String>,
}

struct Names {
    facts: Arc<Facts>,
    state: Option<GameState>,
    world: Option<WorldNames>,
}

struct WorldNames {
    id: Identifier,
    kind: Option<Identifier>,
    display_name: Option<String>,
}

impl Names {
    fn of(it: &Candidate<'_>) -> Self {
        let world = it.world.map(|world| WorldNames {
            id: world.report.world_id.clone(),
            kind: world.report.world_type.clone(),
            display_name: world.report.display_name.as_ref().map(|name| name.as_str().to_owned()),
        });
        Self { facts: Arc::clone(&it.server.facts), state: it.state().cloned(), world }
    }
}

impl Texts {
    fn number(&mut self, region: &Region) -> u16 {
        self.region_number(region.as_str()).unwrap_or_else(|| {
            self.regions.push(region.as_str().to_owned());
            // There are far fewer regions than servers, and those are far fewer than that.
            u16::try_from(self.regions.len() - 1).unwrap_or(u16::MAX)
        })
    }
}

impl CandidateTexts for Texts {
    fn text(&self, candidate: usize, text: CandidateText) -> Option<&str> {
        let names = self.candidates.get(candidate)?;
        let world = names.world.as_ref();
        Some(match text {
            CandidateText::ServerId => names.facts.server_id.as_str(),
            CandidateText::ServerType => names.facts.server_type.as_str(),
            CandidateText::DisplayName => match world {
                Some(world) => world.display_name.as_deref().unwrap_or_default(),
                None => names.facts.display_name.as_deref().unwrap_or_default(),
            },
            CandidateText::WorldId => world.map(|world| world.id.as_str()).unwrap_or_default(),
            CandidateText::WorldType => {
                world.and_then(|world| world.kind.as_ref()).map(Identifier::as_str).unwrap_or_default()
            }
            CandidateText::StateName => names.state.as_ref().map(GameState::as_str).unwrap_or_default(),
        })
    }

    fn region_name(&self, region: u16) -> Option<&str> {
        self.regions.get(usize::from(region)).map(String::as_str)
    }

    fn region_number(&self, name: &str) -> Option<u16> {
        let position = self.regions.iter().position(|region| region == name)?;
        u16::try_from(position).ok()
    }

    /// What a server said when it registered is shared by all calls since, and counted with the first that keeps it.
    fn bytes(&self) -> usize {
        let of = |it: &Names| {
            let facts = if Arc::strong_count(&it.facts) <= 2 { FACTS_BYTES } else { 0 };
            let world = it.world.as_ref().and_then(|world| world.display_name.as_ref()).map_or(0, String::len);
            size_of_val(it) + TEXTS_BYTES + world + facts
        };
        self.candidates.iter().map(of).sum()
    }
}
