//! Servers and worlds as they look to one player at one moment.

use crate::clock::Millis;
use crate::geo::Region;
use crate::matchmaking::model::{MatchResult, Mode, Place};
use crate::servers::{GameState, LiveWorld, NetworkPresence, Role, Server, free_slots};
use crate::values::PlayerId;

/// Who asks, and when.
#[derive(Clone, Debug)]
pub(super) struct Asker {
    pub(super) player: Option<PlayerId>,
    /// Whether regions count at all.
    pub(super) geo_routing: bool,
    /// Where the player is, where that is known and counts.
    pub(super) region: Option<Region>,
    /// Where the world of the owner asked for is live.
    pub(super) home: Option<Place>,
    pub(super) now: Millis,
}

/// A server, or a world on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) server: &'a Server,
    pub(super) world: Option<&'a LiveWorld>,
    /// The world of the owner asked for is here.
    pub(super) affinity: bool,
    /// It is in the player's region.
    pub(super) same_region: bool,
    /// Players there and on their way.
    pub(super) taken: u32,
    /// Slots left for this player, in the world and on its server.
    pub(super) free: u32,
    /// Slots left for this player on the server.
    pub(super) server_free: u32,
    /// What keeps the player from joining.
    pub(super) bar: Option<Bar>,
}

/// What keeps a player from joining. Being full comes last: it is said where nothing else stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bar {
    /// The player is on it.
    CurrentServer,
    /// Nobody is sent to a proxy.
    Proxy,
    /// The state of the server's game.
    ServerState,
    /// The state of the world's game.
    WorldState,
    /// The server has no slot left.
    ServerFull,
    /// The world has no slot left.
    WorldFull,
}

impl Bar {
    /// Whether this would not be in the way with fewer players around.
    pub(super) fn is_fullness(self) -> bool {
        matches!(self, Self::ServerFull | Self::WorldFull)
    }

    /// What it makes of a direct join.
    pub(super) fn result(self) -> MatchResult {
        match self {
            Self::CurrentServer => MatchResult::AlreadyOnServer,
            Self::Proxy | Self::ServerState => MatchResult::ServerNotJoinable,
            Self::WorldState => MatchResult::WorldNotJoinable,
            Self::ServerFull => MatchResult::ServerFull,
            Self::WorldFull => MatchResult::WorldFull,
        }
    }
}

impl<'a> Candidate<'a> {
    /// Looks at a server, or a world on it, with the asker's eyes. A slot that is kept for them counts as free.
    pub(super) fn judge(
        presence: &NetworkPresence,
        server: &'a Server,
        world: Option<&'a LiveWorld>,
        asker: &Asker,
    ) -> Self {
        let id = &server.facts.server_id;
        let own = asker.player.filter(|player| presence.reserved_on(*player) == Some(id.as_str()));
        let server_taken = server.taken(asker.now, own);
        let server_free = free_slots(server.facts.max_players, server_taken);
        let world_taken = world.map(|world| server.taken_in(world, asker.now, own));
        let world_free = world.zip(world_taken).map(|(world, taken)| free_slots(world.max_players(), taken));
        let bar = if asker.player.is_some_and(|player| server.has(player)) {
            Some(Bar::CurrentServer)
        } else if server.facts.role == Role::Proxy {
            Some(Bar::Proxy)
        } else if !server.takes_players() {
            Some(Bar::ServerState)
        } else if world.is_some_and(|world| !world.takes_players()) {
            Some(Bar::WorldState)
        } else if server_free == 0 {
            Some(Bar::ServerFull)
        } else if world_free == Some(0) {
            Some(Bar::WorldFull)
        } else {
            None
        };
        let is_home = |home: &Place| {
            home.server_id == *id && (world.is_none() || home.world_id.as_ref() == world.map(|it| &it.report.world_id))
        };
        Self {
            server,
            world,
            affinity: asker.home.as_ref().is_some_and(is_home),
            same_region: asker.region.as_ref().is_some_and(|region| *region == server.facts.region),
            taken: world_taken.unwrap_or(server_taken),
            free: world_free.map_or(server_free, |free| free.min(server_free)),
            server_free,
            bar,
        }
    }

    /// All there are for a mode that leaves a choice.
    pub(super) fn all(presence: &'a NetworkPresence, mode: &Mode, asker: &Asker) -> Vec<Self> {
        match mode {
            Mode::Server { server_type } => {
                let servers = presence.of_type(server_type, asker.now);
                servers.map(|server| Self::judge(presence, server, None, asker)).collect()
            }
            Mode::World { server_type, world_type } => {
                let servers = presence.of_type(server_type, asker.now);
                let worlds = servers.flat_map(|server| server.worlds.iter().map(move |world| (server, world)));
                let wanted = worlds.filter(|(_, world)| world_type.is_none() || world.report.world_type == *world_type);
                wanted.map(|(server, world)| Self::judge(presence, server, Some(world), asker)).collect()
            }
            Mode::Direct { .. } => vec![],
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.bar.is_none()
    }

    pub(super) fn place(&self) -> Place {
        Place {
            server_id: self.server.facts.server_id.clone(),
            world_id: self.world.map(|world| world.report.world_id.clone()),
        }
    }

    /// What is going on there.
    pub(super) fn state(&self) -> Option<&'a GameState> {
        self.world.map_or(self.server.game_state.as_ref(), |world| world.report.game_state.as_ref())
    }

    pub(super) fn current_players(&self) -> u32 {
        self.world.map_or_else(|| self.server.current_players(), LiveWorld::current_players)
    }

    pub(super) fn max_players(&self) -> u32 {
        self.world.map_or(self.server.facts.max_players, LiveWorld::max_players)
    }

    /// 0 where it is no minigame.
    pub(super) fn players_to_start(&self) -> u32 {
        self.world.map_or(self.server.players_to_start, LiveWorld::players_to_start)
    }
}
