//! Between presence and what the database keeps of it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::clock::Millis;
use crate::servers::model::{Facts, GameState, WorldReport};
use crate::servers::presence::network::NetworkPresence;
use crate::servers::presence::reservation::Reservations;
use crate::servers::presence::server::{LiveWorld, Player, Server};
use crate::servers::presence::unsaved::{Mark, SavedSlot, Unsaved};
use crate::values::{Identifier, PlayerId};

/// A live server as it is saved.
#[derive(Clone, Debug)]
pub(crate) struct SavedServer {
    pub(crate) facts: Arc<Facts>,
    pub(crate) started_at: Millis,
    pub(crate) last_heartbeat: Millis,
    pub(crate) game_state: Option<GameState>,
    pub(crate) players_to_start: u32,
    pub(crate) worlds: Vec<SavedWorld>,
}

/// A world on a live server as it is saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedWorld {
    #[serde(flatten)]
    pub(crate) report: WorldReport,
    /// See [`LiveWorld::arrived`].
    #[serde(default)]
    pub(crate) arrived: u32,
}

/// A player online as they are saved.
#[derive(Clone, Debug)]
pub(crate) struct SavedPlayer {
    pub(crate) player: PlayerId,
    pub(crate) server_id: Identifier,
    pub(crate) name: Option<Identifier>,
    pub(crate) world: Option<Identifier>,
    pub(crate) previous_world: Option<Identifier>,
    pub(crate) joined_at: Millis,
}

/// What is to be written.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) servers: Vec<SavedServer>,
    /// Ids and times of heartbeats.
    pub(crate) beats: Vec<(Arc<str>, Millis)>,
    /// Ids of servers that are gone and when they were last heard of.
    pub(crate) gone: Vec<(Arc<str>, Millis)>,
    pub(crate) players: Vec<SavedPlayer>,
    pub(crate) left: Vec<PlayerId>,
    pub(crate) kept: Vec<SavedSlot>,
    /// Ids of slots that are not kept any more.
    pub(crate) freed: Vec<Uuid>,
}

impl NetworkPresence {
    /// Takes the marks on what changed, with what it changed to.
    pub(crate) fn take_unsaved(&mut self) -> (Unsaved, Changes) {
        let unsaved = self.unsaved.take();
        self.taken += 1;
        let mut changes = Changes::default();
        for (id, mark) in &unsaved.servers {
            match (self.servers.get(id), mark) {
                (Some(server), Mark::Beat) => changes.beats.push((Arc::clone(id), server.last_heartbeat)),
                (Some(server), _) => changes.servers.push(saved_server(server)),
                (None, Mark::Gone(heard)) => changes.gone.push((Arc::clone(id), *heard)),
                (None, _) => {}
            }
        }
        for player in &unsaved.players {
            let server = self.players.get(player).and_then(|at| self.servers.get(at));
            match server.and_then(|server| Some((server, server.players.get(player)?))) {
                Some((server, there)) => changes.players.push(saved_player(*player, server, there)),
                None => changes.left.push(*player),
            }
        }
        for (id, slot) in &unsaved.slots {
            match slot {
                Some(slot) => changes.kept.push(slot.clone()),
                None => changes.freed.push(*id),
            }
        }
        (unsaved, changes)
    }

    /// Puts marks back whose changes could not be written.
    pub(crate) fn put_back(&mut self, unsaved: Unsaved) {
        self.unsaved.put_back(unsaved);
    }

    /// Whether there is anything to write.
    pub(crate) fn has_unsaved(&self) -> bool {
        !self.unsaved.is_empty()
    }

    /// Brings back what was saved. Players of servers that are not there are marked as having left, and slots on them,
    /// or that are over at `now`, as not kept.
    pub(crate) fn restore(
        &mut self,
        servers: Vec<(SavedServer, Millis)>,
        players: Vec<SavedPlayer>,
        slots: Vec<SavedSlot>,
        now: Millis,
    ) {
        for (saved, offline_at) in servers {
            self.insert(Server {
                facts: saved.facts,
                started_at: saved.started_at,
                last_heartbeat: saved.last_heartbeat,
                game_state: saved.game_state,
                players_to_start: saved.players_to_start,
                worlds: saved.worlds.into_iter().map(live_world).collect(),
                offline_at,
                players: std::collections::HashMap::default(),
                reservations: Reservations::default(),
            });
        }
        for saved in players {
            let Some((id, server)) = self.servers.get_key_value(saved.server_id.as_str()) else {
                self.unsaved.players.insert(saved.player);
                continue;
            };
            let (id, vouched_at) = (Arc::clone(id), server.last_heartbeat);
            let there = Player {
                name: saved.name,
                world: saved.world,
                previous_world: saved.previous_world,
                joined_at: saved.joined_at,
                vouched_at,
                gone_at: None,
            };
            if let Some(server) = self.servers.get_mut(&id) {
                server.players.insert(saved.player, there);
                self.players.insert(saved.player, id);
            }
        }
        for SavedSlot { server, slot } in slots {
            match self.servers.get_mut(&server).filter(|_| slot.expires_at > now) {
                Some(at) => {
                    if let Some(player) = slot.player {
                        self.reserved.insert(player, server);
                    }
                    at.reservations.add(slot);
                }
                None => self.unsaved.freed(&slot),
            }
        }
    }
}

fn saved_server(server: &Server) -> SavedServer {
    SavedServer {
        facts: Arc::clone(&server.facts),
        started_at: server.started_at,
        last_heartbeat: server.last_heartbeat,
        game_state: server.game_state.clone(),
        players_to_start: server.players_to_start,
        worlds: server.worlds.iter().map(saved_world).collect(),
    }
}

fn live_world(saved: SavedWorld) -> LiveWorld {
    LiveWorld { report: saved.report, arrived: saved.arrived }
}

fn saved_world(world: &LiveWorld) -> SavedWorld {
    SavedWorld { report: world.report.clone(), arrived: world.arrived }
}

fn saved_player(player: PlayerId, server: &Server, there: &Player) -> SavedPlayer {
    SavedPlayer {
        player,
        server_id: server.facts.server_id.clone(),
        name: there.name.clone(),
        world: there.world.clone(),
        previous_world: there.previous_world.clone(),
        joined_at: there.joined_at,
    }
}
