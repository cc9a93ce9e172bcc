//! One live server.

use std::collections::HashMap;
use std::sync::Arc;

use crate::clock::Millis;
use crate::servers::model::{Facts, GameState, WorldReport};
use crate::servers::presence::reservation::Reservations;
use crate::servers::snapshot::{LiveServer, World};
use crate::values::{Identifier, PlayerId, Text};

/// Free slots where there is no limit.
const UNLIMITED: u32 = u32::MAX;

/// How long a server's word that a player is on it holds against another's, in milliseconds.
const VOUCHED_FOR: Millis = 15_000;

/// A server that is online until its heartbeats stop.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) facts: Arc<Facts>,
    pub(crate) started_at: Millis,
    pub(crate) last_heartbeat: Millis,
    pub(crate) game_state: Option<GameState>,
    pub(crate) players_to_start: u32,
    pub(crate) worlds: Vec<LiveWorld>,
    pub(super) offline_at: Millis,
    pub(super) players: HashMap<PlayerId, Player>,
    pub(super) reservations: Reservations,
}

/// A player on a server.
#[derive(Clone, Debug)]
pub(crate) struct Player {
    pub(crate) name: Option<Identifier>,
    pub(crate) world: Option<Identifier>,
    pub(crate) previous_world: Option<Identifier>,
    pub(crate) joined_at: Millis,
    /// When the server last said that the player is on it.
    pub(super) vouched_at: Millis,
    /// They have left for another server: from when on they are gone, unless they arrive before.
    pub(super) gone_at: Option<Millis>,
}

impl Player {
    pub(super) fn is_there(&self, now: Millis) -> bool {
        self.gone_at.is_none_or(|at| now < at)
    }
}

/// A world on a live server.
#[derive(Debug)]
pub(crate) struct LiveWorld {
    pub(crate) report: WorldReport,
    /// Players who came through a reservation for it since the report, which knows nothing of them.
    pub(super) arrived: u32,
}

impl Server {
    /// Whether the player is on it.
    pub(crate) fn has(&self, player: PlayerId) -> bool {
        self.players.contains_key(&player)
    }

    /// Players on it.
    pub(crate) fn current_players(&self) -> u32 {
        self.players.len() as u32
    }

    /// Players on it and on their way to it, without `except`'s reservation.
    pub(crate) fn taken(&self, now: Millis, except: Option<PlayerId>) -> u32 {
        self.current_players() + self.reservations.count(now, except)
    }

    /// Players in the world and on their way to it, without `except`'s reservation.
    pub(crate) fn taken_in(&self, world: &LiveWorld, now: Millis, except: Option<PlayerId>) -> u32 {
        let there = world.current_players().saturating_add(world.arrived);
        there.saturating_add(self.reservations.count_in(&world.report.world_id, now, except))
    }

    /// Whether it is there to be played on in its present state; says nothing of room.
    pub(crate) fn takes_players(&self) -> bool {
        is_open(self.players_to_start, self.game_state.as_ref())
    }

    /// The world of that id.
    pub(crate) fn world(&self, id: &Identifier) -> Option<&LiveWorld> {
        self.worlds.iter().find(|world| world.report.world_id == *id)
    }

    pub(super) fn is_online(&self, now: Millis) -> bool {
        now < self.offline_at
    }

    /// Whether the player is on it by its own recent word, so that another server's list does not count.
    pub(super) fn vouches_for(&self, player: PlayerId, now: Millis) -> bool {
        let vouched = |it: &Player| it.gone_at.is_none() && now - it.vouched_at < VOUCHED_FOR;
        self.is_online(now) && self.players.get(&player).is_some_and(vouched)
    }

    pub(super) fn set_worlds(&mut self, reports: Vec<WorldReport>) {
        self.worlds = live_worlds(reports);
    }

    /// The server as it is shown.
    pub(crate) fn snapshot(&self) -> LiveServer {
        let facts = &*self.facts;
        let current_players = self.current_players();
        let worlds: Vec<World> = self.worlds.iter().map(LiveWorld::snapshot).collect();
        let in_worlds: u64 = worlds.iter().map(|world| u64::from(world.current_players)).sum();
        let full = is_full(current_players, facts.max_players);
        LiveServer {
            server_id: facts.server_id.clone(),
            server_type: facts.server_type.clone(),
            game_type: facts.game_type.clone(),
            display_name: facts.display_name.clone(),
            current_players,
            max_players: facts.max_players,
            host: facts.host.clone(),
            port: facts.port,
            started_at: self.started_at,
            last_heartbeat: self.last_heartbeat,
            game_state: self.game_state.clone(),
            players_to_start: self.players_to_start,
            region: facts.region.clone(),
            worlds,
            full,
            player_count_display: format!("{current_players}/{}", facts.max_players),
            joinable: !full && self.takes_players(),
            minigame_server: self.players_to_start > 0,
            players_needed_to_start: self.players_to_start.saturating_sub(current_players),
            total_players: in_worlds.max(u64::from(current_players)),
        }
    }
}

impl LiveWorld {
    /// Players in it, as reported.
    pub(crate) fn current_players(&self) -> u32 {
        self.report.current_players.unwrap_or_default().0
    }

    /// How many fit; 0: no limit.
    pub(crate) fn max_players(&self) -> u32 {
        self.report.max_players.unwrap_or_default().0
    }

    /// Players its game needs to start; 0: it is no minigame.
    pub(crate) fn players_to_start(&self) -> u32 {
        self.report.players_to_start.unwrap_or_default().0
    }

    /// Whether it is there to be played in in its present state; says nothing of room.
    pub(crate) fn takes_players(&self) -> bool {
        is_open(self.players_to_start(), self.report.game_state.as_ref())
    }

    /// The world as it is shown.
    pub(crate) fn snapshot(&self) -> World {
        let (current_players, max_players) = (self.current_players(), self.max_players());
        let full = is_full(current_players, max_players);
        World {
            world_id: self.report.world_id.clone(),
            display_name: self.report.display_name.clone().map(Text::into_string),
            current_players,
            max_players,
            game_state: self.report.game_state.clone(),
            players_to_start: self.players_to_start(),
            world_type: self.report.world_type.clone(),
            full,
            player_count_display: format!("{current_players}/{max_players}"),
            joinable: !full && self.takes_players(),
            minigame_world: self.players_to_start() > 0,
            players_needed_to_start: self.players_to_start().saturating_sub(current_players),
        }
    }
}

/// Slots left of `max`, where 0 is no limit.
pub(crate) fn free_slots(max: u32, taken: u32) -> u32 {
    if max == 0 { UNLIMITED } else { max.saturating_sub(taken) }
}

/// Worlds as their server reported them, each id once.
pub(super) fn live_worlds(reports: Vec<WorldReport>) -> Vec<LiveWorld> {
    let mut positions: HashMap<Identifier, usize> = HashMap::with_capacity(reports.len());
    let mut worlds: Vec<LiveWorld> = Vec::with_capacity(reports.len());
    for report in reports {
        let position = *positions.entry(report.world_id.clone()).or_insert(worlds.len());
        let world = LiveWorld { report, arrived: 0 };
        match worlds.get_mut(position) {
            Some(earlier) => *earlier = world,
            None => worlds.push(world),
        }
    }
    worlds
}

fn is_full(current: u32, max: u32) -> bool {
    max > 0 && current >= max
}

fn is_open(players_to_start: u32, state: Option<&GameState>) -> bool {
    players_to_start == 0 || state.is_some_and(GameState::is_open)
}
