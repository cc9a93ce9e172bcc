//! Presence in one network: pure state, no I/O. Time is a parameter; expired entries do not count, swept or not.

mod limits;
mod players;
mod reservations;
mod saving;

use std::sync::Arc;

use crate::clock::Millis;
use crate::events::EventKind;
use crate::geo::Region;
use crate::presence::memory::FastMap;
use crate::presence::memory::changes::{PlayerPresence, SavedVisit, ServerChange, Unsaved};
use crate::presence::memory::index::{JoinRank, Servers};
use crate::presence::memory::server::{Player, Server, live_worlds};
use crate::presence::memory::unreported::Unreported;
use crate::presence::memory::watch::{Watch, Watched, Watcher};
use crate::presence::model::{Heartbeat, PlayerLocation, Registration};
use crate::values::{Identifier, PlayerId};

/// Servers, players and reservations of one network.
#[derive(Debug, Default)]
pub struct NetworkPresence {
    servers: Servers,
    /// The server each player is on.
    players: FastMap<PlayerId, Arc<str>>,
    /// The server each player has a slot reserved on.
    reserved: FastMap<PlayerId, Arc<str>>,
    unsaved: Unsaved,
    pub(super) unreported: Unreported,
    /// Number of times the unsaved changes were taken.
    pub batch: u64,
    /// Peak number of players and servers since the last take.
    peaks: (usize, usize),
}

/// Reason for which presence did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresenceError {
    /// The server is not online.
    UnknownServer,
    /// The player is not on that server.
    NotOnServer,
}

impl NetworkPresence {
    pub(super) fn new(saves_reservations: bool) -> Self {
        Self { unsaved: Unsaved { saves_reservations, ..Unsaved::default() }, ..Self::default() }
    }

    /// The server, if it is online.
    pub fn server(&self, id: &str, now: Millis) -> Option<&Server> {
        self.servers.get(id).filter(|server| server.is_online(now))
    }

    /// The online servers, in no order.
    pub fn online(&self, now: Millis) -> impl Iterator<Item = &Server> {
        self.servers.values().filter(move |server| server.is_online(now))
    }

    /// The online servers of a type, by id.
    pub(crate) fn of_type<'a>(&'a self, kind: &Identifier, now: Millis) -> impl Iterator<Item = &'a Server> + use<'a> {
        self.servers.of_type(kind).filter_map(move |id| self.server(id, now))
    }

    /// Number of servers of a type, online or not swept yet.
    pub(crate) fn count_of_type(&self, kind: &Identifier) -> usize {
        self.servers.of_type(kind).len()
    }

    /// Ranks of a type's servers, online or not swept yet, in order. Call it after [`Self::release_expired`].
    pub(crate) fn join_ranks(&self, kind: &Identifier) -> impl Iterator<Item = &JoinRank> + use<'_> {
        self.servers.ranks(kind)
    }

    /// Ranks of a region only.
    pub(crate) fn join_ranks_in(
        &self,
        kind: &Identifier,
        region: &Region,
    ) -> impl Iterator<Item = &JoinRank> + use<'_> {
        self.servers.ranks_in(kind, region)
    }

    /// Id of the player's server, online or not swept yet.
    pub(crate) fn server_of(&self, player: PlayerId) -> Option<&str> {
        self.players.get(&player).map(|id| &**id)
    }

    /// Location of the player.
    pub(crate) fn locate(&self, player: PlayerId, now: Millis) -> Option<PlayerLocation> {
        let server = self.server(self.players.get(&player)?, now)?;
        let state = server.players.get(&player).filter(|state| state.is_present(now))?;
        Some(location(server, player, state))
    }

    /// Players online on the servers that `wanted` selects, in no order.
    pub fn players(&self, now: Millis, wanted: impl Fn(&Server) -> bool) -> Vec<PlayerLocation> {
        let mut locations = vec![];
        for server in self.online(now).filter(|server| wanted(server)) {
            let present = server.players.iter().filter(|(_, state)| state.is_present(now));
            locations.extend(present.map(|(player, state)| location(server, *player, state)));
        }
        locations
    }

    /// Marks a server online. One that was already online keeps its players, reservations and start time.
    pub fn register(&mut self, new: Registration, now: Millis, offline_after: Millis) {
        let info = Arc::new(new.info);
        let id = self.servers.id_of(info.server_id.as_str());
        let mut started_at = None;
        let (mut players, mut reservations) = Default::default();
        if let Some((_, before)) = self.servers.remove(&id) {
            if before.is_online(now) {
                started_at = Some(before.started_at);
                (players, reservations) = (before.players, before.reservations);
            } else {
                self.remove_people(&before, &id, before.last_heartbeat);
                self.unsaved.server_event(EventKind::ServerOffline, &before);
            }
        }
        let was_online = started_at.is_some();
        let server = Server {
            started_at: started_at.unwrap_or(now),
            last_heartbeat: now,
            game_state: new.game_state,
            players_to_start: new.players_to_start,
            worlds: live_worlds(new.worlds),
            offline_at: now.saturating_add(offline_after),
            players,
            reservations,
            info,
        };
        if !was_online {
            self.unsaved.server_event(EventKind::ServerOnline, &server);
        }
        self.servers.insert(server);
        self.note_peaks();
        self.unsaved.server(&id, ServerChange::Any);
    }

    /// Has a watcher follow this presence, or nobody.
    pub(crate) fn set_watcher(&mut self, watcher: Option<Arc<dyn Watcher>>) {
        self.servers.set_watch(watcher.map(Watch::new));
    }

    /// Takes the changes since the last call; none unless somebody watches.
    pub(crate) fn take_watched(&mut self) -> Watched {
        self.servers.watch().map(Watch::take).unwrap_or_default()
    }

    /// Number of players and servers that are online, or not swept yet.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.players.len(), self.servers.len())
    }

    fn note_peaks(&mut self) {
        let (players, servers) = self.peaks;
        self.peaks = (players.max(self.players.len()), servers.max(self.servers.len()));
    }

    /// Peak number of players and servers since the last call.
    pub(super) fn take_peaks(&mut self) -> (usize, usize) {
        self.note_peaks();
        std::mem::replace(&mut self.peaks, (self.players.len(), self.servers.len()))
    }

    /// Keeps a server online, with the reported state and players.
    pub fn heartbeat(&mut self, heartbeat: Heartbeat, now: Millis, offline_after: Millis) -> Result<(), PresenceError> {
        let id = self.servers.id_of(heartbeat.server_id.as_str());
        let server = self.servers.get_mut(&id).filter(|it| it.is_online(now));
        let mut server = server.ok_or(PresenceError::UnknownServer)?;
        server.last_heartbeat = now;
        server.offline_at = now.saturating_add(offline_after);
        let mut change = ServerChange::Heartbeat;
        if let Some(state) = heartbeat.game_state
            && server.game_state.as_ref() != Some(&state)
        {
            server.game_state = Some(state);
            change = ServerChange::Any;
        }
        if let Some(players_to_start) = heartbeat.players_to_start
            && server.players_to_start != players_to_start
        {
            server.players_to_start = players_to_start;
            change = ServerChange::Any;
        }
        if let Some(worlds) = heartbeat.worlds {
            let same = worlds.iter().eq(server.worlds.iter().map(|world| &world.report));
            if !same || server.worlds.iter().any(|world| world.arrived > 0) {
                change = ServerChange::Any;
            }
            server.worlds = live_worlds(worlds);
        }
        if heartbeat.software.differs_from(&server.info.software) {
            Arc::make_mut(&mut server.info).software.update(heartbeat.software);
            change = ServerChange::Any;
        }
        drop(server);
        if change == ServerChange::Any
            && let Some(watch) = self.servers.watch()
        {
            // The index knows nothing of worlds.
            watch.server(&id);
        }
        self.unsaved.server(&id, change);
        if let Some(players) = heartbeat.players {
            self.set_players(&id, players, now);
        }
        Ok(())
    }

    /// Takes a server offline.
    pub fn unregister(&mut self, id: &str, last_heartbeat: Millis) {
        if let Some((id, server)) = self.servers.remove(id) {
            self.remove_people(&server, &id, last_heartbeat);
            self.unsaved.server_event(EventKind::ServerOffline, &server);
            self.unsaved.server(&id, ServerChange::Offline(last_heartbeat));
        }
    }

    /// Removes expired entries, to free memory and to save their removal.
    pub(crate) fn sweep(&mut self, now: Millis) {
        let silent = self.servers.iter().filter(|(_, server)| !server.is_online(now));
        let silent: Vec<_> = silent.map(|(id, server)| (Arc::clone(id), server.last_heartbeat)).collect();
        for (id, last_heartbeat) in silent {
            self.unregister(&id, last_heartbeat);
        }
        let players = self.servers.values().flat_map(|server| &server.players);
        let gone: Vec<_> = players.filter(|(_, state)| !state.is_present(now)).map(|(id, _)| *id).collect();
        for player in gone {
            self.remove_player(player, now);
        }
        self.release_expired(now);
    }

    /// Moves the times by which anything ends, as the clock is set from `before`. Times of what happened stay: a visit that
    /// runs ends by the old time, and another begins by the new one.
    pub(super) fn shift(&mut self, before: Millis, by: Millis) {
        let ids: Vec<_> = self.servers.iter().map(|(id, _)| Arc::clone(id)).collect();
        for id in ids {
            if let Some(mut server) = self.servers.get_mut(&id) {
                for (player, state) in &server.players {
                    self.unsaved.visit(ended_visit(&server, &id, *player, state, before));
                }
                server.shift(before, by);
                for (player, state) in &server.players {
                    self.unsaved.visit(visit_of(&server, &id, *player, state));
                    self.unsaved.players.insert(*player);
                }
            }
            self.unsaved.server(&id, ServerChange::Heartbeat);
        }
    }

    /// Removes the players of a removed server, whose visits end at `ended_at`, and the reservations on it.
    fn remove_people(&mut self, server: &Server, id: &Arc<str>, ended_at: Millis) {
        for (player, state) in &server.players {
            self.players.remove(player);
            self.unsaved.visit(ended_visit(server, id, *player, state, ended_at));
            self.unreported.departed(*player, left_at(state, ended_at));
            if let Some(watch) = self.servers.watch() {
                watch.player(*player);
            }
            self.unsaved.players.insert(*player);
            self.unsaved.player_event(EventKind::PlayerLeft, presence_of(id, *player, state));
        }
        for reservation in server.reservations.iter() {
            self.unsaved.released(reservation);
            if let Some(player) = reservation.player.filter(|player| self.reserved.get(player) == Some(id)) {
                self.reserved.remove(&player);
            }
        }
    }
}

/// Visit of a player who was on this server until `ended_at`, or until they left in a transfer.
fn ended_visit(server: &Server, id: &Arc<str>, player: PlayerId, state: &Player, ended_at: Millis) -> SavedVisit {
    SavedVisit { to: Some(left_at(state, ended_at)), is_new: false, ..visit_of(server, id, player, state) }
}

/// Time at which a player left a server where they are counted until `ended_at`.
fn left_at(state: &Player, ended_at: Millis) -> Millis {
    state.left_at.map_or(ended_at, |left_at| left_at.min(ended_at)).max(state.joined_at)
}

/// Running visit of a player on this server.
fn visit_of(server: &Server, id: &Arc<str>, player: PlayerId, state: &Player) -> SavedVisit {
    SavedVisit {
        player,
        from: state.joined_at,
        to: None,
        server_id: Arc::clone(id),
        server_type: server.info.server_type.clone(),
        online: 0,
        is_new: true,
    }
}

/// Presence of a player on this server, for streams.
fn presence_of(server: &Arc<str>, player: PlayerId, state: &Player) -> PlayerPresence {
    let (player_name, server_id) = (state.name.clone(), Arc::clone(server));
    PlayerPresence { player_uuid: player, player_name, server_id, previous_server_id: None }
}

fn location(server: &Server, player: PlayerId, state: &Player) -> PlayerLocation {
    PlayerLocation {
        player,
        player_name: state.name.clone(),
        server_id: server.info.server_id.clone(),
        server_type: server.info.server_type.clone(),
        world_id: state.world.clone(),
    }
}
