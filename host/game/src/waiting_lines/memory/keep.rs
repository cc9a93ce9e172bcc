//! Slots kept for parties that smaller ones passed for too long.

use crate::clock::Millis;
use crate::matchmaking::{Candidate, Destination, Mode, PlayerContext, WantedSlot, Withheld};
use crate::presence::{NetworkPresence, Server};
use crate::values::PlayerId;
use crate::waiting_lines::memory::Lines;
use crate::waiting_lines::model::covers;
use crate::waiting_lines::order::{Seq, Turn};

/// Time for which smaller parties may pass a larger one.
pub(super) const MAX_PASSED: Millis = 30_000;
/// Number of parties of each size and line that are looked at when somebody passes them.
const LOOKED_AT: usize = 64;

/// Places that are kept, each for one party.
#[derive(Debug, Default)]
pub(crate) struct KeptPlaces(Vec<KeptPlace>);

#[derive(Debug)]
struct KeptPlace {
    /// The leader of the party.
    leader: PlayerId,
    at: Destination,
    needed: u32,
}

impl KeptPlaces {
    pub(super) fn is_kept_for_another(&self, player: PlayerId, slot: WantedSlot<'_>) -> bool {
        self.0.iter().any(|kept| {
            if kept.leader == player || kept.at.server_id != slot.server.info.server_id {
                return false;
            }
            let is_same_world = kept.at.world_id.is_some()
                && kept.at.world_id.as_ref() == slot.world.map(|world| &world.report.world_id);
            is_same_world || slot.server_free.saturating_sub(slot.needed) < kept.needed
        })
    }
}

impl Withheld for KeptPlaces {
    fn is_withheld(&self, player: &PlayerContext, slot: WantedSlot<'_>) -> bool {
        !self.0.is_empty() && player.id.is_some_and(|id| self.is_kept_for_another(id, slot))
    }
}

impl Lines {
    /// Notes that a ticket with this turn takes a slot of the server which larger parties before it wait for.
    pub(super) fn mark_passed(&mut self, server: &Server, turn: Turn, now: Millis) {
        let max = server.info.max_players as usize;
        let mut passed = vec![];
        for name in self.lines_of(server) {
            let Some(line) = self.by_name.get(name).filter(|line| !line.is_paused(now)) else { continue };
            for mut cursor in line.order.cursors().filter(|it| it.size() > 1 && (max == 0 || it.size() <= max)) {
                for _ in 0..LOOKED_AT {
                    let Some(next) = line.order.peek(&cursor, now).filter(|next| *next < turn) else { break };
                    line.order.advance(&mut cursor);
                    passed.push(next.1);
                }
            }
        }
        for seq in passed {
            if let Some(ticket) = self.tickets.get_mut(&seq)
                && ticket.is_ready()
                && ticket.passed_at.is_none()
            {
                ticket.passed_at = Some(now);
                self.schedule(seq);
            }
        }
    }

    /// Begins to keep slots for a party.
    pub(super) fn begin_keeping(&mut self, seq: Seq, presence: &NetworkPresence, now: Millis) {
        if let Some(ticket) = self.tickets.get_mut(&seq)
            && !ticket.keeps
        {
            ticket.keeps = true;
            self.keepers.push(seq);
            self.choose_place(seq, presence, now);
        }
    }

    /// Ends to keep slots for a party; others may then take them.
    pub(super) fn end_keeping(&mut self, seq: Seq) {
        let Some(ticket) = self.tickets.get_mut(&seq) else { return };
        ticket.passed_at = None;
        if ticket.keeps {
            ticket.keeps = false;
            if let Some(at) = ticket.kept.take() {
                self.touched.insert(at.server_id.as_str().into());
            }
            self.keepers.retain(|keeper| *keeper != seq);
            self.collect_kept();
        }
    }

    /// Chooses the place that will have enough slots first: the one that lacks the fewest.
    fn choose_place(&mut self, seq: Seq, presence: &NetworkPresence, now: Millis) {
        let Some(ticket) = self.tickets.get_mut(&seq) else { return };
        ticket.context.now = now;
        ticket.context.withheld = None;
        let (mode, context, size) = (&ticket.mode, &ticket.context, ticket.size() as u32);
        let mut best: Option<((u32, Destination), Destination)> = None;
        let mut look = |candidate: Candidate<'_>| {
            let holds = |max: u32| max == 0 || max >= size;
            let can_hold = holds(candidate.server.info.max_players)
                && candidate.world.is_none_or(|world| holds(world.max_players()));
            let at = candidate.destination();
            if can_hold && (candidate.is_open() || candidate.is_full()) && !self.kept.is_on(&at) {
                let rank = (size.saturating_sub(candidate.free), at.clone());
                if best.as_ref().is_none_or(|(before, _)| rank < *before) {
                    best = Some((rank, at));
                }
            }
        };
        match mode {
            Mode::Direct(at) => {
                if let Some(candidate) = Candidate::at(presence, at, context) {
                    look(candidate);
                }
            }
            Mode::Server { server_type } => {
                let servers = presence.of_type(server_type, now);
                servers.for_each(|server| look(Candidate::evaluate(presence, server, None, context)));
            }
            Mode::World { server_type, world_type } => {
                let servers = presence.of_type(server_type, now);
                let worlds = servers.flat_map(|it| Candidate::worlds_on(presence, it, world_type.as_ref(), context));
                worlds.for_each(look);
            }
        }
        if let Some((_, at)) = best {
            self.touched.insert(at.server_id.as_str().into());
            ticket.kept = Some(at);
        }
        self.collect_kept();
    }

    /// Chooses places for parties without one, and others where the kept one is gone.
    pub(super) fn check_kept(&mut self, presence: &NetworkPresence, now: Millis) {
        // Only keepers whose servers were touched can have gained or lost a place.
        for seq in self.keepers.clone() {
            let Some(ticket) = self.tickets.get_mut(&seq) else { continue };
            let is_gone = ticket.kept.as_ref().is_some_and(|at| {
                let server = presence.server(at.server_id.as_str(), now);
                server.is_none_or(|server| at.world_id.as_ref().is_some_and(|world| server.world(world).is_none()))
            });
            if is_gone {
                ticket.kept = None;
            }
            let mode = ticket.mode.clone();
            let is_touched = |id: &str| presence.server(id, now).is_some_and(|server| covers(&mode, server));
            if is_gone {
                self.collect_kept();
            }
            let lacks_place = self.tickets.get(&seq).is_some_and(|ticket| ticket.kept.is_none());
            if lacks_place && (is_gone || self.touched.iter().any(|id| is_touched(id))) {
                self.choose_place(seq, presence, now);
            }
        }
    }

    pub(super) fn collect_kept(&mut self) {
        let places = self.keepers.iter().filter_map(|seq| {
            let ticket = self.tickets.get(seq)?;
            Some(KeptPlace { leader: ticket.player, at: ticket.kept.clone()?, needed: ticket.size() as u32 })
        });
        self.kept = std::sync::Arc::new(KeptPlaces(places.collect()));
    }
}

impl KeptPlaces {
    /// True if slots of this place are kept.
    fn is_on(&self, at: &Destination) -> bool {
        self.0.iter().any(|kept| {
            kept.at.server_id == at.server_id && (kept.at.world_id.is_none() || kept.at.world_id == at.world_id)
        })
    }
}
