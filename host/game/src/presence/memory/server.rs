//! One live server.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::presence::memory::FastMap;
use crate::presence::memory::reservation::Reservations;
use crate::presence::model::{GameState, ServerInfo, WorldReport};
use crate::presence::snapshot::{LiveServer, World};
use crate::values::{Identifier, PlayerId, Text};

/// Free slots without a limit.
const UNLIMITED: u32 = u32::MAX;

/// Time for which a server's confirmation of a player outweighs another server's list, in milliseconds.
const CONFIRMATION_TTL: Millis = 15_000;

/// A server that is online until its heartbeats stop.
#[derive(Debug)]
pub struct Server {
    pub info: Arc<ServerInfo>,
    pub started_at: Millis,
    pub(crate) last_heartbeat: Millis,
    pub game_state: Option<GameState>,
    pub players_to_start: u32,
    pub worlds: Vec<LiveWorld>,
    pub(super) offline_at: Millis,
    pub(super) players: FastMap<PlayerId, Player>,
    pub(super) reservations: Reservations,
}

/// A player on a server.
#[derive(Clone, Debug)]
pub(super) struct Player {
    pub name: Option<Identifier>,
    pub world: Option<Identifier>,
    pub(crate) previous_world: Option<Identifier>,
    pub joined_at: Millis,
    /// Time of the server's last confirmation that the player is on it.
    pub(super) confirmed_at: Millis,
    /// Deadline of the player's outgoing transfer, unless they arrive before.
    pub(super) leaves_at: Option<Millis>,
    /// Time at which the player left in that transfer.
    pub(super) left_at: Option<Millis>,
}

impl Player {
    pub(super) fn is_present(&self, now: Millis) -> bool {
        self.leaves_at.is_none_or(|at| now < at)
    }

    /// Records the server's confirmation, maybe with a name. Returns true if that is new.
    pub(super) fn confirm(&mut self, name: Option<&Identifier>, now: Millis) -> bool {
        self.confirmed_at = now;
        (self.leaves_at, self.left_at) = (None, None);
        let is_new = name.is_some() && self.name.as_ref() != name;
        if is_new {
            self.name = name.cloned();
        }
        is_new
    }
}

/// A world on a live server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LiveWorld {
    #[serde(flatten)]
    pub report: WorldReport,
    /// Players who arrived by a reservation for it since the report.
    #[serde(default)]
    pub(super) arrived: u32,
}

impl Server {
    /// True if the player is on it.
    pub fn has(&self, player: PlayerId) -> bool {
        self.players.contains_key(&player)
    }

    /// Players on it.
    pub fn current_players(&self) -> u32 {
        self.players.len() as u32
    }

    /// True if the player is in that world of it.
    pub(crate) fn has_in(&self, player: PlayerId, world: &LiveWorld) -> bool {
        self.players.get(&player).is_some_and(|state| state.world.as_ref() == Some(&world.report.world_id))
    }

    /// Players on it and on their way to it, without the reservations of `except`.
    pub fn taken(&self, now: Millis, except: &[PlayerId]) -> u32 {
        self.current_players() + self.reservations.count(now, except)
    }

    /// Players in the world and on their way to it, without the reservations of `except`.
    pub(crate) fn taken_in(&self, world: &LiveWorld, now: Millis, except: &[PlayerId]) -> u32 {
        let present = world.current_players().saturating_add(world.arrived);
        present.saturating_add(self.reservations.count_in(&world.report.world_id, now, except))
    }

    /// True if the state of its game lets players join, full or not.
    pub(crate) fn takes_players(&self) -> bool {
        is_open(self.players_to_start, self.game_state.as_ref())
    }

    /// World with that id.
    pub fn world(&self, id: &Identifier) -> Option<&LiveWorld> {
        self.worlds.iter().find(|world| world.report.world_id == *id)
    }

    pub(super) fn is_online(&self, now: Millis) -> bool {
        now < self.offline_at
    }

    /// Moves the times by which anything ends, and the begin of visits to that of the new time.
    pub(super) fn shift(&mut self, before: Millis, by: Millis) {
        self.last_heartbeat = self.last_heartbeat.saturating_add(by);
        self.offline_at = self.offline_at.saturating_add(by);
        for player in self.players.values_mut() {
            player.joined_at = before.saturating_add(by);
            player.confirmed_at = player.confirmed_at.saturating_add(by);
            player.leaves_at = player.leaves_at.map(|at| at.saturating_add(by));
            player.left_at = player.left_at.map(|at| at.saturating_add(by));
        }
        self.reservations.shift(by);
    }

    /// True if it has recently confirmed that the player is on it.
    pub(super) fn has_confirmed(&self, player: PlayerId, now: Millis) -> bool {
        let confirmed = |it: &Player| it.leaves_at.is_none() && now - it.confirmed_at < CONFIRMATION_TTL;
        self.is_online(now) && self.players.get(&player).is_some_and(confirmed)
    }

    /// Snapshot for answers.
    pub fn snapshot(&self) -> LiveServer {
        let info = &*self.info;
        let current_players = self.current_players();
        let worlds: Vec<World> = self.worlds.iter().map(LiveWorld::snapshot).collect();
        let in_worlds: u64 = worlds.iter().map(|world| u64::from(world.current_players)).sum();
        let full = is_full(current_players, info.max_players);
        LiveServer {
            server_id: info.server_id.clone(),
            server_type: info.server_type.clone(),
            game_type: info.game_type.clone(),
            display_name: info.display_name.clone(),
            current_players,
            max_players: info.max_players,
            host: info.host.clone(),
            port: info.port,
            started_at: self.started_at,
            last_heartbeat: self.last_heartbeat,
            game_state: self.game_state.clone(),
            players_to_start: self.players_to_start,
            region: info.region.clone(),
            worlds,
            full,
            player_count_display: format!("{current_players}/{}", info.max_players),
            joinable: !full && self.takes_players(),
            minigame_server: self.players_to_start > 0,
            players_needed_to_start: self.players_to_start.saturating_sub(current_players),
            total_players: in_worlds.max(u64::from(current_players)),
        }
    }
}

impl LiveWorld {
    /// Players in it, as reported.
    pub fn current_players(&self) -> u32 {
        self.report.current_players.unwrap_or_default().0
    }

    /// Maximum number of players; 0: no limit.
    pub fn max_players(&self) -> u32 {
        self.report.max_players.unwrap_or_default().0
    }

    /// Number of players its game needs to start; 0: not a minigame.
    pub fn players_to_start(&self) -> u32 {
        self.report.players_to_start.unwrap_or_default().0
    }

    /// True if the state of its game lets players join, full or not.
    pub(crate) fn takes_players(&self) -> bool {
        is_open(self.players_to_start(), self.report.game_state.as_ref())
    }

    /// Snapshot for answers.
    pub fn snapshot(&self) -> World {
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

/// Free slots of `max`; 0 is no limit.
pub fn free_slots(max: u32, taken: u32) -> u32 {
    if max == 0 { UNLIMITED } else { max.saturating_sub(taken) }
}

/// Worlds as reported by their server; of two with one id the later.
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
