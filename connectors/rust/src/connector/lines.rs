//! Waiting lines: tickets of the players who are here, and their places.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::broadcast;
use tracing::warn;
use uuid::Uuid;

use super::Shared;
use super::persist::persist;
use crate::HubError;
use crate::model::{Match, ServerRole, Ticket, TicketMatched, TicketRequest, TicketState, TicketUpdated};

const PATIENCE: Duration = Duration::from_secs(30);
/// Part of the 15 seconds that slots are held, for sending the players there.
const MATCH_TTL: Duration = Duration::from_secs(12);
/// Places that a listener may lag behind.
const CAPACITY: usize = 1_024;
/// More matches than are made while an answer is on its way.
const REMEMBERED: usize = 1_000;

/// A player's place in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Place {
    /// The player.
    pub player: Uuid,
    /// Their ticket.
    pub ticket_id: Uuid,
    /// From 1.
    pub position: u64,
    /// Players in the line.
    pub waiting: u64,
    /// Estimated wait; none while it is unknown.
    pub eta: Option<Duration>,
}

pub(super) struct WaitingLines {
    places: Mutex<HashMap<Uuid, Place>>,
    /// Parties of the players who wait by tickets that were taken here.
    parties: Mutex<HashMap<Uuid, Vec<Uuid>>>,
    /// The latest matches that were acted upon.
    sent: Mutex<VecDeque<Uuid>>,
    /// Requests for tickets that are under way. Held while an answer is taken, so that no event comes between.
    asked: Mutex<Vec<Weak<Asked>>>,
    told: broadcast::Sender<Place>,
}

/// A request for a ticket; dropped when it is answered or given up.
struct Asked {
    player: Uuid,
    /// Tickets of the player that events told of since.
    told: Mutex<HashSet<Uuid>>,
}

impl Default for WaitingLines {
    fn default() -> Self {
        let (places, parties, sent) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { places, parties, sent, asked: Mutex::default(), told: broadcast::Sender::new(CAPACITY) }
    }
}

impl WaitingLines {
    pub(super) fn place(&self, player: Uuid) -> Option<Place> {
        self.places.lock().get(&player).cloned()
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Place> {
        self.told.subscribe()
    }

    /// A player is no longer here; their ticket goes on.
    pub(super) fn left(&self, player: Uuid) {
        self.places.lock().remove(&player);
        self.parties.lock().remove(&player);
    }

    fn ask(&self, player: Uuid) -> Arc<Asked> {
        let asked = Arc::new(Asked { player, told: Mutex::default() });
        let mut all = self.asked.lock();
        all.retain(|each| each.strong_count() > 0);
        all.push(Arc::downgrade(&asked));
        asked
    }

    /// An event tells of a ticket, which is newer than an answer under way.
    fn note_told(&self, player: Uuid, ticket_id: Uuid) {
        for asked in self.asked.lock().iter().filter_map(Weak::upgrade).filter(|asked| asked.player == player) {
            asked.told.lock().insert(ticket_id);
        }
    }

    /// False if the match was acted upon: it is told by the answer and by the event.
    fn is_first(&self, transfer_id: Uuid) -> bool {
        let mut sent = self.sent.lock();
        if sent.contains(&transfer_id) {
            return false;
        }
        if sent.len() >= REMEMBERED {
            sent.pop_front();
        }
        sent.push_back(transfer_id);
        true
    }

    fn put(&self, place: Place) {
        self.places.lock().insert(place.player, place.clone());
        // Without receivers it is dropped.
        let _ = self.told.send(place);
    }
}

impl Shared {
    /// Takes a ticket.
    pub(super) async fn wait_in_line(self: &Arc<Self>, request: &TicketRequest) -> Result<Ticket, HubError> {
        let (player, party) = (request.player_uuid, request.party.clone().unwrap_or_default());
        let asked = self.lines.ask(player);
        let ticket = persist(Some(PATIENCE), || self.client.join_line(request)).await?;
        let _no_event_between = self.lines.asked.lock();
        if ticket.state != TicketState::Waiting || !asked.told.lock().contains(&ticket.ticket_id) {
            self.take_ticket(player, &ticket, party);
        } else if self.lines.place(player).is_some_and(|now| now.ticket_id == ticket.ticket_id) {
            // The event is newer than the answer, but lacks the party.
            self.lines.parties.lock().insert(player, party);
        }
        Ok(ticket)
    }

    /// Ends a player's ticket; returns whether they had one.
    pub(super) async fn leave_line(&self, player: Uuid) -> Result<bool, HubError> {
        let Some(place) = self.lines.place(player) else { return Ok(false) };
        let had_one = persist(Some(PATIENCE), || self.client.leave_line(place.ticket_id)).await?;
        // While the ticket may go on, so does the place.
        if self.lines.place(player).is_some_and(|now| now.ticket_id == place.ticket_id) {
            self.lines.left(player);
        }
        Ok(had_one)
    }

    pub(super) fn ticket_updated(&self, updated: &TicketUpdated) {
        let TicketUpdated { player_uuid: player, ticket_id, position, waiting, eta_ms } = *updated;
        if self.is_online(player) {
            self.lines.note_told(player, ticket_id);
            self.lines.put(Place { player, ticket_id, position, waiting, eta: eta_of(eta_ms) });
        }
    }

    /// Sends the players of this server where slots are held for them.
    pub(super) fn ticket_matched(self: &Arc<Self>, ticket: &TicketMatched) {
        self.lines.note_told(ticket.player_uuid, ticket.ticket_id);
        self.matched(ticket.player_uuid, &ticket.party, &ticket.matched);
    }

    /// Events may have been missed: reads the tickets of those who wait here again.
    pub(super) fn read_places(self: &Arc<Self>) {
        let places: Vec<Place> = self.lines.places.lock().values().cloned().collect();
        for place in places {
            let shared = Arc::clone(self);
            self.spawn(async move {
                let read = persist(Some(PATIENCE), || shared.client.get_ticket(place.ticket_id)).await;
                let is_current = shared.lines.place(place.player).is_some_and(|now| now == place);
                match read {
                    Ok(Some(ticket)) if is_current => {
                        let party = shared.lines.parties.lock().get(&place.player).cloned().unwrap_or_default();
                        shared.take_ticket(place.player, &ticket, party);
                    }
                    Ok(None) if is_current => shared.lines.left(place.player),
                    Ok(_) => {}
                    Err(error) => warn!("a place in a line cannot be read: {}", error.message()),
                }
            });
        }
    }

    fn take_ticket(self: &Arc<Self>, player: Uuid, ticket: &Ticket, party: Vec<Uuid>) {
        let Ticket { ticket_id, waiting, .. } = *ticket;
        match (ticket.state, ticket.position, &ticket.matched) {
            (TicketState::Waiting, Some(position), _) => {
                self.lines.parties.lock().insert(player, party);
                self.lines.put(Place { player, ticket_id, position, waiting, eta: eta_of(ticket.eta_ms) });
            }
            (TicketState::Matched, _, Some(matched)) => {
                self.matched(player, &party, matched);
            }
            _ => self.lines.left(player),
        }
    }

    fn matched(self: &Arc<Self>, player: Uuid, party: &[Uuid], matched: &Match) {
        let (Some(transfer_id), Some(server)) = (matched.transfer_id, &matched.matched_server) else { return };
        if !self.lines.is_first(transfer_id) {
            return;
        }
        let mut members = vec![player];
        members.extend(party.iter().filter(|member| **member != player));
        for member in &members {
            self.lines.left(*member);
        }
        if self.info.role == Some(ServerRole::Proxy) || server.server_id == self.info.server_id {
            return;
        }
        let world = matched.matched_world.as_ref().map(|world| world.world_id.clone());
        for member in members.into_iter().filter(|member| self.is_online(*member)) {
            let (shared, server, world) = (Arc::clone(self), server.server_id.clone(), world.clone());
            let key = format!("ticket-{transfer_id}-{member}");
            self.spawn(async move {
                let send = || shared.client.transfer_player_once(member, &server, world.as_deref(), &key);
                match persist(Some(MATCH_TTL), send).await {
                    Ok(outcome) if outcome.success => {}
                    Ok(outcome) => warn!("player {member} cannot be sent to {server}: {}", outcome.result),
                    Err(error) => warn!("player {member} cannot be sent to {server}: {}", error.message()),
                }
            });
        }
    }
}

fn eta_of(eta_ms: Option<i64>) -> Option<Duration> {
    eta_ms.and_then(|eta| u64::try_from(eta).ok()).map(Duration::from_millis)
}
