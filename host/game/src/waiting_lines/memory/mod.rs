//! A network's lines in memory: pure state, no I/O. Time is a parameter.
//!
//! Changes that free slots or bring players leave a note (`touched`); [`Lines::run`] then gives the slots of those
//! servers to tickets, in their order over all lines. Servers that were not touched are not looked at: their free slots
//! are of no use to any ticket.

mod change;
mod due;
mod freed;
mod keep;
mod line;
mod place;
mod shift;
mod take;
mod told;
mod view;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use uuid::Uuid;

use crate::clock::Millis;
use crate::ids::Ids;
use crate::matchmaking::{Destination, Mode};
use crate::presence::{NetworkPresence, Reservation, Watched};
use crate::values::PlayerId;
use crate::waiting_lines::model::{LineName, LineSettings, Ticket, TicketState};
use crate::waiting_lines::order::Seq;

pub(super) use keep::KeptPlaces;
use line::{Line, available_now};
pub(super) use place::Offered;
pub(super) use take::{Choice, NewTicket};
pub(super) use told::PlaceChange;
pub(super) use view::{LineView, TicketView, WhyNot};

/// Maximum number of ended tickets that can be read; the oldest are forgotten.
const MAX_ENDED: usize = 50_000;

/// Tickets and lines of one network.
#[derive(Debug, Default)]
pub(super) struct Lines {
    tickets: HashMap<Seq, Ticket>,
    ids: HashMap<Uuid, Seq>,
    /// The active ticket of each player.
    players: HashMap<PlayerId, Seq>,
    by_name: BTreeMap<LineName, Line>,
    /// Lines by the server type, or the server, that they are for.
    by_type: HashMap<String, BTreeSet<LineName>>,
    by_server: HashMap<String, BTreeSet<LineName>>,
    /// Tickets with the times of their next changes.
    dues: BTreeSet<(Millis, Seq)>,
    /// Ends of pauses.
    pauses: BTreeSet<(Millis, LineName)>,
    /// Tickets that ended, in that order.
    ended: VecDeque<Seq>,
    /// Servers that may have slots for somebody who waits.
    touched: HashSet<Arc<str>>,
    /// Parties that waited for too long, in the order in which they began to.
    keepers: Vec<Seq>,
    kept: Arc<KeptPlaces>,
    last_seq: Seq,
    /// Players in all lines.
    waiting: usize,
    pub(super) unsaved: UnsavedTickets,
}

/// Tickets that differ from the database.
#[derive(Debug, Default)]
pub(super) struct UnsavedTickets {
    pub(super) changed: HashSet<Uuid>,
    /// Tickets that were matched and not announced yet.
    pub(super) matched: Vec<Uuid>,
}

impl UnsavedTickets {
    pub(super) fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.matched.is_empty()
    }

    /// Puts back what could not be saved.
    pub(super) fn put_back(&mut self, earlier: Self) {
        self.changed.extend(earlier.changed);
        let later = std::mem::replace(&mut self.matched, earlier.matched);
        self.matched.extend(later);
    }
}

impl Lines {
    /// Gives free slots to those who wait, and does what is due. True if more is left to do.
    pub(super) fn run(&mut self, presence: &mut NetworkPresence, now: Millis, may_end: bool, ids: &Ids) -> bool {
        self.observe(presence, now);
        if may_end {
            self.end_due(presence, now);
        }
        self.place(presence, now, ids)
    }

    /// Like [`Self::run`] up to the point where free slots are given away.
    pub(super) fn observe(&mut self, presence: &mut NetworkPresence, now: Millis) {
        presence.release_expired(now);
        let Watched { servers, players, joined } = presence.take_watched();
        self.touched.extend(servers);
        for (player, server) in joined {
            self.player_joined(presence, player, &server, now);
        }
        for player in players {
            self.player_moved(presence, player, now);
        }
    }

    /// Number of players who wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// True if nobody waits or is on their way, so that presence need not be watched.
    pub(super) fn is_idle(&self) -> bool {
        self.players.is_empty()
    }

    /// Time of the next change that time alone brings.
    pub(super) fn next_due(&self) -> Option<Millis> {
        let ticket = self.dues.first().map(|(at, _)| *at);
        ticket.into_iter().chain(self.pauses.first().map(|(at, _)| *at)).min()
    }

    pub(super) fn find(&self, id: Uuid) -> Option<&Ticket> {
        self.tickets.get(self.ids.get(&id)?)
    }

    #[cfg(test)]
    pub(super) fn ticket(&self, seq: Seq) -> Option<&Ticket> {
        self.tickets.get(&seq)
    }

    /// All tickets, in no order.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = &Ticket> {
        self.tickets.values()
    }

    pub(super) fn settings(&self, line: &LineName) -> LineSettings {
        self.by_name.get(line).map(|line| line.settings).unwrap_or_default()
    }

    /// Number of lines with settings of their own.
    pub(super) fn count_with_settings(&self, except: &LineName) -> usize {
        let with =
            self.by_name.iter().filter(|(name, line)| *name != except && line.settings != LineSettings::default());
        with.count()
    }

    fn mark(&mut self, seq: Seq) {
        if let Some(ticket) = self.tickets.get(&seq) {
            self.unsaved.changed.insert(ticket.id);
        }
    }

    /// Restores tickets and settings of an earlier run, or of the network's previous owner.
    pub(super) fn restore(
        &mut self,
        tickets: Vec<Ticket>,
        settings: Vec<(LineName, Mode, LineSettings)>,
        presence: &mut NetworkPresence,
        now: Millis,
    ) {
        for (name, mode, settings) in settings {
            self.line(&name, &mode, presence, now).settings = settings;
            if let Some(until) = settings.paused_until {
                self.pauses.insert((until, name));
            }
        }
        let mut tickets = tickets;
        tickets.sort_unstable_by_key(|ticket| ticket.seq);
        for mut ticket in tickets {
            self.last_seq = self.last_seq.max(ticket.seq);
            if ticket.state.is_active() {
                ticket.offline_since = presence.locate(ticket.player, now).is_none().then_some(now);
            }
            hold_again(presence, &ticket, now);
            let seq = ticket.seq;
            self.add(ticket, presence, now);
            if self.has_joined(presence, seq) {
                self.end(presence, seq, TicketState::Joined, now);
            }
        }
        self.touched.extend(presence.online(now).map(|server| Arc::<str>::from(server.info.server_id.as_str())));
    }

    /// Adds a ticket in whatever state it is in.
    fn add(&mut self, ticket: Ticket, presence: &NetworkPresence, now: Millis) {
        let seq = ticket.seq;
        self.ids.insert(ticket.id, seq);
        if ticket.state.is_active() {
            self.players.extend(ticket.players().map(|player| (player, seq)));
        } else {
            self.ended.push_back(seq);
        }
        let waits = ticket.state == TicketState::Waiting;
        self.tickets.insert(seq, ticket);
        if waits {
            self.enter_line(seq, presence, now);
        }
        self.schedule(seq);
    }

    /// Takes a waiting ticket out of its line.
    fn leave_line(&mut self, seq: Seq) {
        let Some(ticket) = self.tickets.get(&seq) else { return };
        let (name, standing, size) = (ticket.line.clone(), ticket.standing(), ticket.size());
        if let Some(line) = self.by_name.get_mut(&name)
            && line.leave(standing, size)
        {
            self.waiting -= size;
        }
    }

    /// Puts a ticket into its line.
    fn enter_line(&mut self, seq: Seq, presence: &NetworkPresence, now: Millis) {
        let Some(ticket) = self.tickets.get(&seq) else { return };
        let (name, mode) = (ticket.line.clone(), ticket.mode.clone());
        let (standing, size) = (ticket.standing(), ticket.size());
        let is_constant = now >= standing.constant_from();
        if let Some(ticket) = self.tickets.get_mut(&seq) {
            ticket.is_constant = is_constant;
        }
        let line = self.line(&name, &mode, presence, now);
        if line.waiting() == 0 {
            // Nobody looked while nobody waited.
            line.available = available_now(&mode, presence, now);
        }
        line.enter(standing, size, is_constant);
        self.waiting += size;
    }

    /// Touches the servers that a line is for and that may have free slots.
    fn touch_line(&mut self, mode: &Mode, presence: &NetworkPresence) {
        match mode {
            Mode::Server { server_type } | Mode::World { server_type, .. } => {
                let free = presence.join_ranks(server_type).take_while(|rank| !rank.is_full());
                self.touched.extend(free.map(|rank| Arc::clone(&rank.server_id)));
            }
            Mode::Direct(Destination { server_id, .. }) => {
                self.touched.insert(server_id.as_str().into());
            }
        }
    }
}

/// Reserves the slots of a matched ticket again: a single node does not save reservations.
fn hold_again(presence: &mut NetworkPresence, ticket: &Ticket, now: Millis) {
    let Some(matched) = ticket.matched.as_ref().filter(|_| ticket.state == TicketState::Matched) else { return };
    for (id, player) in &matched.slots {
        let is_there = presence.server_of(*player) == Some(matched.at.server_id.as_str());
        if !is_there && matched.until > now && presence.reserved_on(*player).is_none() {
            let reservation = Reservation {
                id: *id,
                player: Some(*player),
                world: matched.at.world_id.clone(),
                promised: *id == matched.slots[0].0,
                expires_at: matched.until,
            };
            presence.reserve(&matched.at.server_id, reservation);
        }
    }
}

#[cfg(test)]
mod tests;
