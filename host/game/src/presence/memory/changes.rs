//! Changes in memory that are not saved yet.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::clock::Millis;
use crate::events::EventKind;
use crate::presence::memory::reservation::Reservation;
use crate::presence::memory::server::{LiveWorld, Server};
use crate::presence::model::{GameState, ServerInfo};
use crate::presence::snapshot::LiveServer;
use crate::values::{Identifier, PlayerId};

/// Maximum number of events that wait for the database: as many as streams can resume from.
const MAX_EVENTS: usize = 10_000;
/// Maximum number of visits that wait for the database; beyond it those that ended are lost.
const MAX_VISITS: usize = 500_000;

/// A live server in its saved form.
#[derive(Clone, Debug)]
pub struct SavedServer {
    pub info: Arc<ServerInfo>,
    pub started_at: Millis,
    pub(crate) last_heartbeat: Millis,
    pub game_state: Option<GameState>,
    pub players_to_start: u32,
    pub worlds: Vec<LiveWorld>,
}

/// An online player in the saved form.
#[derive(Clone, Debug)]
pub struct SavedPlayer {
    pub player: PlayerId,
    pub server_id: Identifier,
    pub name: Option<Identifier>,
    pub world: Option<Identifier>,
    pub(crate) previous_world: Option<Identifier>,
    pub joined_at: Millis,
}

/// Stay of a player on a server in its saved form. Its key is the player with its begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedVisit {
    pub player: PlayerId,
    pub from: Millis,
    /// None while it runs.
    pub to: Option<Millis>,
    pub server_id: Arc<str>,
    pub server_type: Identifier,
    /// Number of players online once this one had joined.
    pub online: usize,
    /// True if the database may lack it. Another one is only ended there: erased visits must not come back.
    pub is_new: bool,
}

/// A reservation in its saved form.
#[derive(Clone, Debug)]
pub struct SavedReservation {
    pub server: Arc<str>,
    pub reservation: Reservation,
}

/// A server came online or went offline.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ServerPresence {
    /// The server's current or last state.
    pub server: LiveServer,
}

/// A player came online, went offline or switched servers.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PlayerPresence {
    pub player_uuid: PlayerId,
    #[schema(value_type = Option<String>, example = "Notch")]
    pub player_name: Option<Identifier>,
    /// The server the player is on now, or has left.
    #[schema(value_type = String, example = "bedwars-1")]
    pub server_id: Arc<str>,
    /// Previous server of a player who switched; else null.
    #[schema(value_type = Option<String>, example = "lobby-1")]
    pub(crate) previous_server_id: Option<Arc<str>>,
}

/// Presence events for streams.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum PresencePayload {
    Server(Box<ServerPresence>),
    Player(PlayerPresence),
}

/// An event to be published when the change is saved.
#[derive(Clone, Debug)]
pub(crate) struct PresenceEvent {
    pub kind: EventKind,
    pub payload: PresencePayload,
}

/// Events of unsaved changes, in order.
#[derive(Debug, Default)]
pub(crate) struct PresenceEvents {
    pub events: Vec<PresenceEvent>,
    /// True if there were too many while the database was unreachable: streams must read everything again.
    pub is_cut: bool,
}

impl PresenceEvents {
    pub(crate) fn is_empty(&self) -> bool {
        self.events.is_empty() && !self.is_cut
    }

    fn cut(&mut self) {
        if self.events.len() > MAX_EVENTS {
            *self = Self { events: vec![], is_cut: true };
        }
    }
}

/// Values to write.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub servers: Vec<SavedServer>,
    /// Servers with a new heartbeat and no other change.
    pub heartbeats: Vec<(Arc<str>, Millis)>,
    /// Servers that went offline, with their last heartbeat.
    pub offline: Vec<(Arc<str>, Millis)>,
    pub joined: Vec<SavedPlayer>,
    pub left: Vec<PlayerId>,
    /// Visits that began or ended, by player and begin.
    pub visits: Vec<SavedVisit>,
    pub reserved: Vec<SavedReservation>,
    pub released: Vec<Uuid>,
}

/// Servers, players and reservations changed since the last save.
#[derive(Debug, Default)]
pub(crate) struct Unsaved {
    pub(super) servers: HashMap<Arc<str>, ServerChange>,
    pub(super) players: HashSet<PlayerId>,
    /// Visits that began or ended.
    pub(super) visits: BTreeMap<(PlayerId, Millis), SavedVisit>,
    /// Reservations made, or (none) released.
    pub(super) reservations: HashMap<Uuid, Option<SavedReservation>>,
    /// True if reservations are saved at all.
    pub(super) saves_reservations: bool,
    pub events: PresenceEvents,
}

/// Extent of a server's change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ServerChange {
    /// It went offline; the time of its last heartbeat.
    Offline(Millis),
    /// Only the time of its last heartbeat changed.
    Heartbeat,
    /// Anything may have changed.
    Any,
}

impl Unsaved {
    pub(crate) fn is_empty(&self) -> bool {
        self.servers.is_empty()
            && self.players.is_empty()
            && self.visits.is_empty()
            && self.reservations.is_empty()
            && self.events.is_empty()
    }

    /// Takes all changes.
    pub(super) fn take(&mut self) -> Self {
        let empty = Self { saves_reservations: self.saves_reservations, ..Self::default() };
        std::mem::replace(self, empty)
    }

    /// A visit began or ended.
    pub(super) fn visit(&mut self, mut visit: SavedVisit) {
        if let Some(before) = self.visits.get(&(visit.player, visit.from)) {
            visit.is_new |= before.is_new;
            visit.online = visit.online.max(before.online);
        } else if self.visits.len() >= MAX_VISITS {
            self.visits.retain(|_, visit| visit.to.is_none());
        }
        self.visits.insert((visit.player, visit.from), visit);
    }

    pub(super) fn reserved(&mut self, server: &Arc<str>, reservation: &Reservation) {
        if self.saves_reservations {
            let saved = SavedReservation { server: Arc::clone(server), reservation: reservation.clone() };
            self.reservations.insert(reservation.id, Some(saved));
        }
    }

    pub(super) fn released(&mut self, reservation: &Reservation) {
        if self.saves_reservations {
            self.reservations.insert(reservation.id, None);
        }
    }

    pub(super) fn server(&mut self, id: &Arc<str>, change: ServerChange) {
        match self.servers.get_mut(&**id) {
            Some(ServerChange::Any) if change == ServerChange::Heartbeat => {}
            Some(before) => *before = change,
            None => drop(self.servers.insert(Arc::clone(id), change)),
        }
    }

    /// A server came online or went offline.
    pub(super) fn server_event(&mut self, kind: EventKind, server: &Server) {
        let payload = PresencePayload::Server(Box::new(ServerPresence { server: server.snapshot() }));
        self.event(kind, payload);
    }

    /// A player came online, went offline or switched servers.
    pub(super) fn player_event(&mut self, kind: EventKind, player: PlayerPresence) {
        self.event(kind, PresencePayload::Player(player));
    }

    fn event(&mut self, kind: EventKind, payload: PresencePayload) {
        self.events.events.push(PresenceEvent { kind, payload });
        self.events.cut();
    }

    /// Puts unsaved changes back. Later changes take precedence.
    pub(super) fn put_back(&mut self, mut earlier: Self) {
        earlier.events.events.append(&mut self.events.events);
        earlier.events.is_cut |= self.events.is_cut;
        self.events = earlier.events;
        self.events.cut();
        self.players.extend(earlier.players);
        let later = std::mem::replace(&mut self.visits, earlier.visits);
        for visit in later.into_values() {
            self.visit(visit);
        }
        for (id, reservation) in earlier.reservations {
            self.reservations.entry(id).or_insert(reservation);
        }
        for (id, change) in earlier.servers {
            let since = self.servers.entry(id).or_insert(change);
            if *since == ServerChange::Heartbeat && change == ServerChange::Any {
                *since = ServerChange::Any;
            }
        }
    }
}
