//! Servers and worlds, evaluated for one player at one moment.

use std::sync::Arc;

use crate::clock::Millis;
use crate::geo::Region;
use crate::matchmaking::model::{Destination, Match, MatchResult};
use crate::matchmaking::withheld::{WantedSlot, Withheld};
use crate::presence::{GameState, LiveWorld, NetworkPresence, Role, Server, free_slots};
use crate::values::{Identifier, PlayerId};

/// The player to match, and the time.
#[derive(Clone, Debug)]
pub(crate) struct PlayerContext {
    pub(crate) id: Option<PlayerId>,
    /// Players who join together with this one, or not at all.
    pub(crate) party: Vec<PlayerId>,
    /// False if regions are ignored.
    pub(crate) geo_routing: bool,
    /// The player's region, if it is known and counts.
    pub(crate) region: Option<Region>,
    /// Live world of the requested owner.
    pub(crate) owner_world: Option<Destination>,
    /// Slots that are for others, if anybody waits.
    pub(crate) withheld: Option<Arc<dyn Withheld>>,
    pub(crate) now: Millis,
}

impl PlayerContext {
    /// The player and the party.
    pub(crate) fn members(&self) -> impl Iterator<Item = PlayerId> {
        self.id.iter().chain(&self.party).copied()
    }
}

/// A server, or a world on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) server: &'a Server,
    pub(crate) world: Option<&'a LiveWorld>,
    /// True if the requested owner's world is live here.
    pub(crate) affinity: bool,
    /// True if it is in the player's region.
    pub(crate) same_region: bool,
    /// Players present and on their way.
    pub(crate) taken: u32,
    /// Slots left for this player, in the world and on its server.
    pub(crate) free: u32,
    /// Slots left for this player on the server.
    pub(crate) server_free: u32,
    /// Reason for which the player cannot join.
    pub(crate) ineligible: Option<Ineligibility>,
}

/// Reason for which a player cannot join. Fullness comes last: it is given only if nothing else prevents the join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ineligibility {
    /// The player is on this server.
    CurrentServer,
    /// Proxies are never a destination.
    Proxy,
    /// The server's game is in a state without joins.
    ServerState,
    /// The world's game is in a state without joins.
    WorldState,
    /// The server has no free slot.
    ServerFull,
    /// The world has no free slot.
    WorldFull,
}

impl Ineligibility {
    /// The result of a direct join.
    pub(crate) fn result(self) -> MatchResult {
        match self {
            Self::CurrentServer => MatchResult::AlreadyOnServer,
            Self::Proxy | Self::ServerState => MatchResult::ServerNotJoinable,
            Self::WorldState => MatchResult::WorldNotJoinable,
            Self::ServerFull => MatchResult::ServerFull,
            Self::WorldFull => MatchResult::WorldFull,
        }
    }
}

/// Members who are not there yet. A member in another world of the server counts as arriving.
pub(crate) fn coming<'a>(
    server: &'a Server,
    world: Option<&'a LiveWorld>,
    player: &'a PlayerContext,
) -> impl Iterator<Item = PlayerId> + 'a {
    let is_there =
        move |member: PlayerId| world.map_or_else(|| server.has(member), |world| server.has_in(member, world));
    player.members().filter(move |member| !is_there(*member))
}

impl<'a> Candidate<'a> {
    /// Evaluates a server, or a world on it, for a player and the party. Slots reserved for them count as free.
    pub(crate) fn evaluate(
        presence: &NetworkPresence,
        server: &'a Server,
        world: Option<&'a LiveWorld>,
        player: &PlayerContext,
    ) -> Self {
        let id = &server.info.server_id;
        let own = player.members().filter(|member| presence.reserved_on(*member) == Some(id.as_str()));
        let own: Vec<_> = own.collect();
        let server_taken = server.taken(player.now, &own);
        let server_free = free_slots(server.info.max_players, server_taken);
        let world_taken = world.map(|world| server.taken_in(world, player.now, &own));
        let world_free = world.zip(world_taken).map(|(world, taken)| free_slots(world.max_players(), taken));
        let is_anonymous = player.id.is_none() && player.party.is_empty();
        let needed = if is_anonymous { 1 } else { coming(server, world, player).count() as u32 };
        let ineligible = if needed == 0 || player.id.is_some_and(|player| server.has(player)) {
            Some(Ineligibility::CurrentServer)
        } else if server.info.role == Role::Proxy {
            Some(Ineligibility::Proxy)
        } else if !server.takes_players() {
            Some(Ineligibility::ServerState)
        } else if world.is_some_and(|world| !world.takes_players()) {
            Some(Ineligibility::WorldState)
        } else if server_free < needed {
            Some(Ineligibility::ServerFull)
        } else if world_free.is_some_and(|free| free < needed) {
            Some(Ineligibility::WorldFull)
        } else if player
            .withheld
            .as_ref()
            .is_some_and(|withheld| withheld.is_withheld(player, WantedSlot { server, world, needed, server_free }))
        {
            Some(if world.is_some() { Ineligibility::WorldFull } else { Ineligibility::ServerFull })
        } else {
            None
        };
        let is_here = |at: &Destination| {
            at.server_id == *id && (world.is_none() || at.world_id.as_ref() == world.map(|it| &it.report.world_id))
        };
        Self {
            server,
            world,
            affinity: player.owner_world.as_ref().is_some_and(is_here),
            same_region: player.region.as_ref().is_some_and(|region| *region == server.info.region),
            taken: world_taken.unwrap_or(server_taken),
            free: world_free.map_or(server_free, |free| free.min(server_free)),
            server_free,
            ineligible,
        }
    }

    /// Evaluates the worlds of a type, or all, on one server.
    pub(crate) fn worlds_on(
        presence: &NetworkPresence,
        server: &'a Server,
        world_type: Option<&Identifier>,
        player: &PlayerContext,
    ) -> impl Iterator<Item = Self> {
        let is_wanted = move |it: &&LiveWorld| world_type.is_none() || it.report.world_type.as_ref() == world_type;
        let wanted = server.worlds.iter().filter(is_wanted);
        wanted.map(move |world| Self::evaluate(presence, server, Some(world), player))
    }

    /// The candidate at that destination, if it is online.
    pub(crate) fn at(presence: &'a NetworkPresence, at: &Destination, player: &PlayerContext) -> Option<Self> {
        let server = presence.server(at.server_id.as_str(), player.now)?;
        let world = match &at.world_id {
            Some(id) => Some(server.world(id)?),
            None => None,
        };
        Some(Self::evaluate(presence, server, world, player))
    }

    pub(crate) fn is_open(&self) -> bool {
        self.ineligible.is_none()
    }

    /// True if the player could join with fewer others present.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self.ineligible, Some(Ineligibility::ServerFull | Ineligibility::WorldFull))
    }

    pub(crate) fn destination(&self) -> Destination {
        Destination {
            server_id: self.server.info.server_id.clone(),
            world_id: self.world.map(|world| world.report.world_id.clone()),
        }
    }

    /// State of its game.
    pub(crate) fn state(&self) -> Option<&'a GameState> {
        self.world.map_or(self.server.game_state.as_ref(), |world| world.report.game_state.as_ref())
    }

    pub(crate) fn current_players(&self) -> u32 {
        self.world.map_or_else(|| self.server.current_players(), LiveWorld::current_players)
    }

    pub(crate) fn max_players(&self) -> u32 {
        self.world.map_or(self.server.info.max_players, LiveWorld::max_players)
    }

    /// 0 if it is not a minigame.
    pub(crate) fn players_to_start(&self) -> u32 {
        self.world.map_or(self.server.players_to_start, LiveWorld::players_to_start)
    }

    /// The match with this candidate, before a slot is reserved.
    pub(crate) fn preview(&self) -> Match {
        Match {
            result: MatchResult::Success,
            reason: None,
            server: Some(self.server.snapshot()),
            world: self.world.map(LiveWorld::snapshot),
            transfer: None,
            slots: vec![],
            warm: self.affinity,
        }
    }
}
