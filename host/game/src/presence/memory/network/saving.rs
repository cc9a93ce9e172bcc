//! Saving and restoring a network's presence.

use std::sync::Arc;

use crate::clock::Millis;
use crate::events::EventKind;
use crate::presence::memory::FastMap;
use crate::presence::memory::changes::{Changes, SavedPlayer, SavedReservation, SavedServer, ServerChange, Unsaved};
use crate::presence::memory::network::{NetworkPresence, presence_of, visit_of};
use crate::presence::memory::reservation::Reservations;
use crate::presence::memory::server::{Player, Server};
use crate::values::PlayerId;

impl NetworkPresence {
    /// Takes the unsaved changes, with the values to write for them.
    pub(crate) fn take_unsaved(&mut self) -> (Unsaved, Changes) {
        let unsaved = self.unsaved.take();
        self.batch += 1;
        let mut changes = Changes::default();
        for (id, change) in &unsaved.servers {
            match (self.servers.get(id), change) {
                (Some(server), ServerChange::Heartbeat) => {
                    changes.heartbeats.push((Arc::clone(id), server.last_heartbeat));
                }
                (Some(server), _) => changes.servers.push(saved_server(server)),
                (None, ServerChange::Offline(last_heartbeat)) => {
                    changes.offline.push((Arc::clone(id), *last_heartbeat));
                }
                (None, _) => {}
            }
        }
        for player in &unsaved.players {
            let server = self.players.get(player).and_then(|at| self.servers.get(at));
            match server.and_then(|server| Some((server, server.players.get(player)?))) {
                Some((server, state)) => changes.joined.push(saved_player(*player, server, state)),
                None => changes.left.push(*player),
            }
        }
        changes.visits = unsaved.visits.values().cloned().collect();
        for (id, reservation) in &unsaved.reservations {
            match reservation {
                Some(reservation) => changes.reserved.push(reservation.clone()),
                None => changes.released.push(*id),
            }
        }
        (unsaved, changes)
    }

    /// Puts back changes that could not be saved.
    pub(crate) fn put_back(&mut self, unsaved: Unsaved) {
        self.unsaved.put_back(unsaved);
    }

    /// Marks all servers and reservations as changed, so that they are saved again. Returns the online players.
    pub(crate) fn mark_unsaved(&mut self) -> Vec<PlayerId> {
        for (id, server) in self.servers.iter() {
            self.unsaved.server(id, ServerChange::Any);
            for reservation in server.reservations.iter() {
                self.unsaved.reserved(id, reservation);
            }
        }
        self.players.keys().copied().collect()
    }

    /// Marks these players as changed.
    pub(crate) fn mark_players_unsaved(&mut self, players: &[PlayerId]) {
        self.unsaved.players.extend(players);
        for player in players {
            if let Some(id) = self.players.get(player)
                && let Some(server) = self.servers.get(id)
                && let Some(state) = server.players.get(player)
            {
                self.unsaved.visit(visit_of(server, id, *player, state));
            }
        }
    }

    /// True if there is anything to save.
    pub(crate) fn has_unsaved(&self) -> bool {
        !self.unsaved.is_empty()
    }

    /// Restores the saved presence. A server is online for `offline_after` from its last heartbeat; one that was silent
    /// for longer goes offline with the next sweep. Players of missing servers are saved as having left; reservations
    /// there, and expired ones, as released.
    pub fn restore(
        &mut self,
        servers: Vec<SavedServer>,
        players: Vec<SavedPlayer>,
        reservations: Vec<SavedReservation>,
        now: Millis,
        offline_after: Millis,
    ) {
        for saved in servers {
            // A heartbeat of later is of a time before the clock was set back.
            let last_heartbeat = saved.last_heartbeat.min(now);
            self.servers.insert(Server {
                info: saved.info,
                started_at: saved.started_at,
                last_heartbeat,
                game_state: saved.game_state,
                players_to_start: saved.players_to_start,
                worlds: saved.worlds,
                offline_at: last_heartbeat.saturating_add(offline_after),
                players: FastMap::default(),
                reservations: Reservations::default(),
            });
        }
        for saved in players {
            let id = self.servers.id_of(saved.server_id.as_str());
            let state = Player {
                name: saved.name,
                world: saved.world,
                previous_world: saved.previous_world,
                joined_at: saved.joined_at,
                confirmed_at: self.servers.get(&id).map_or(now, |server| server.last_heartbeat),
                leaves_at: None,
                left_at: None,
            };
            let Some(mut server) = self.servers.get_mut(&id) else {
                self.unsaved.players.insert(saved.player);
                self.unsaved.player_event(EventKind::PlayerLeft, presence_of(&id, saved.player, &state));
                continue;
            };
            server.players.insert(saved.player, state);
            self.players.insert(saved.player, id);
        }
        for SavedReservation { server, reservation } in reservations {
            match self.servers.get_mut(&server).filter(|_| reservation.expires_at > now) {
                Some(mut at) => {
                    if let Some(player) = reservation.player {
                        self.reserved.insert(player, server);
                    }
                    at.reservations.add(reservation);
                }
                None => self.unsaved.released(&reservation),
            }
        }
    }
}

fn saved_server(server: &Server) -> SavedServer {
    SavedServer {
        info: Arc::clone(&server.info),
        started_at: server.started_at,
        last_heartbeat: server.last_heartbeat,
        game_state: server.game_state.clone(),
        players_to_start: server.players_to_start,
        worlds: server.worlds.clone(),
    }
}

fn saved_player(player: PlayerId, server: &Server, state: &Player) -> SavedPlayer {
    SavedPlayer {
        player,
        server_id: server.info.server_id.clone(),
        name: state.name.clone(),
        world: state.world.clone(),
        previous_world: state.previous_world.clone(),
        joined_at: state.joined_at,
    }
}
