//! Gives free slots to those who wait.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::clock::Millis;
use crate::ids::Ids;
use crate::matchmaking::{Candidate, Destination, MatchAnswer, Mode, Offer, Withheld, coming, compare, reserve_slot};
use crate::presence::{NetworkPresence, RESERVATION_TTL, Role, Server};
use crate::values::PlayerId;
use crate::waiting_lines::memory::Lines;
use crate::waiting_lines::model::{LineName, MatchedSlots, TicketState, covers};
use crate::waiting_lines::order::{Cursor, Seq};

/// Servers whose slots are given away in one sweep.
const BATCH: usize = 64;
/// Tickets matched under one lock.
const MATCHED_AT_ONCE: usize = 256;
/// Tickets of a size and line that are looked at though no server has that many free slots: some of the party may be
/// there.
const LARGER_LOOKED_AT: usize = 16;
/// Best destinations that are tried for a ticket.
const TRIED: usize = 8;

/// A ticket for which modules are to rank destinations.
pub(in crate::waiting_lines) struct Offered {
    pub(in crate::waiting_lines) seq: Seq,
    pub(in crate::waiting_lines) offer: Offer,
}

/// Outcome of an attempt to match a ticket.
pub(in crate::waiting_lines) enum Placing {
    Placed,
    Skipped,
    /// The sweep ends here.
    Stop,
}

type OnOpen<'a> = dyn FnMut(&mut Lines, &mut NetworkPresence, Seq, &[Destination]) -> Placing + 'a;

/// True if the server may take somebody.
fn has_room(server: &Server, now: Millis) -> bool {
    let max = server.info.max_players;
    server.info.role == Role::Game && server.takes_players() && (max == 0 || server.taken(now, &[]) < max)
}

/// Free slots of the emptiest of these servers.
fn most_free(presence: &NetworkPresence, servers: &[Arc<str>], now: Millis) -> usize {
    let free = servers.iter().filter_map(|id| presence.server(id, now)).map(|server| match server.info.max_players {
        0 => usize::MAX,
        max => max.saturating_sub(server.taken(now, &[])) as usize,
    });
    free.max().unwrap_or(0)
}

impl Lines {
    /// Matches tickets with the free slots of touched servers, in the built-in order. True if more is left to do.
    pub(super) fn place(&mut self, presence: &mut NetworkPresence, now: Millis, ids: &Ids) -> bool {
        let mut matched = 0;
        while matched < MATCHED_AT_ONCE {
            let Some(batch) = self.next_batch(presence, now) else { return false };
            self.sweep(presence, &batch, now, &mut |lines, presence, seq, destinations| {
                let is_matched = destinations.iter().any(|at| lines.match_now(presence, seq, at, now, ids));
                matched += usize::from(is_matched);
                if is_matched { Placing::Placed } else { Placing::Skipped }
            });
            for id in &batch {
                self.note_available(id, presence, now, false);
            }
        }
        true
    }

    /// The next ticket that could be matched, with its candidates for the network's modules. Tickets of `asked` were
    /// offered before.
    pub(in crate::waiting_lines) fn next_offer(
        &mut self,
        presence: &mut NetworkPresence,
        now: Millis,
        asked: &HashSet<Seq>,
        ids: &Ids,
    ) -> Option<Offered> {
        while let Some(batch) = self.next_batch(presence, now) {
            let mut found = None;
            self.sweep(presence, &batch, now, &mut |lines, presence, seq, destinations| {
                if asked.contains(&seq) {
                    return Placing::Skipped;
                }
                let Some(ticket) = lines.tickets.get(&seq) else { return Placing::Skipped };
                if matches!(ticket.mode, Mode::Direct(_)) {
                    // There is no choice that modules could make.
                    let is_matched = destinations.iter().any(|at| lines.match_now(presence, seq, at, now, ids));
                    return if is_matched { Placing::Placed } else { Placing::Skipped };
                }
                let presence: &NetworkPresence = presence;
                let open = destinations.iter().filter_map(|at| Candidate::at(presence, at, &ticket.context));
                let open: Vec<_> = open.collect();
                found = Some(Offered { seq, offer: Offer::new(&ticket.request(), &ticket.context, &open) });
                Placing::Stop
            });
            if found.is_some() {
                self.touched.extend(batch);
                return found;
            }
            for id in &batch {
                self.note_available(id, presence, now, false);
            }
        }
        None
    }

    /// Takes touched servers to look at; none if there are none.
    fn next_batch(&mut self, presence: &mut NetworkPresence, now: Millis) -> Option<Vec<Arc<str>>> {
        self.observe(presence, now);
        self.check_kept(presence, now);
        let batch: Vec<_> = self.touched.iter().take(BATCH).cloned().collect();
        for id in &batch {
            self.touched.remove(id);
            self.note_available(id, presence, now, true);
        }
        (!batch.is_empty()).then_some(batch)
    }

    /// Calls `on_open` for tickets that could join one of these servers now, in their order over all lines; parties for
    /// which slots are kept come first.
    fn sweep(&mut self, presence: &mut NetworkPresence, batch: &[Arc<str>], now: Millis, on_open: &mut OnOpen<'_>) {
        for seq in self.keepers.clone() {
            let Some(at) = self.tickets.get(&seq).and_then(|ticket| ticket.kept.clone()) else { continue };
            if batch.iter().any(|id| **id == *at.server_id.as_str()) {
                let open = self.open_for(seq, presence, &[Arc::from(at.server_id.as_str())], now);
                let open: Vec<_> = open.into_iter().filter(|it| *it == at).collect();
                if !open.is_empty() && matches!(on_open(self, presence, seq, &open), Placing::Stop) {
                    return;
                }
            }
        }
        let is_usable =
            |presence: &NetworkPresence, id: &str| presence.server(id, now).is_some_and(|it| has_room(it, now));
        let mut usable: Vec<_> = batch.iter().filter(|id| is_usable(presence, id)).cloned().collect();
        let mut cursors = self.cursors_of(presence, &usable, now);
        while !usable.is_empty() {
            let most_free = most_free(presence, &usable, now);
            let next = cursors.iter_mut().filter_map(|(name, cursor, looked_at)| {
                let is_larger = cursor.size() > most_free;
                if is_larger && *looked_at >= LARGER_LOOKED_AT {
                    return None;
                }
                let order = &self.by_name.get(name)?.order;
                Some((order.peek(cursor, now)?, order, cursor, looked_at, is_larger))
            });
            let Some((turn, order, cursor, looked_at, is_larger)) = next.min_by_key(|(turn, ..)| *turn) else { return };
            order.advance(cursor);
            *looked_at += usize::from(is_larger);
            let open = self.open_for(turn.1, presence, &usable, now);
            if open.is_empty() {
                continue;
            }
            match on_open(self, presence, turn.1, &open) {
                Placing::Placed => usable.retain(|id| is_usable(presence, id)),
                Placing::Skipped => {}
                Placing::Stop => return,
            }
        }
    }

    fn cursors_of(
        &self,
        presence: &NetworkPresence,
        servers: &[Arc<str>],
        now: Millis,
    ) -> Vec<(LineName, Cursor, usize)> {
        let servers = servers.iter().filter_map(|id| presence.server(id, now));
        let names: BTreeSet<_> = servers.flat_map(|server| self.lines_of(server)).collect();
        let lines = names.into_iter().filter_map(|name| Some((name, self.by_name.get(name)?)));
        let lines = lines.filter(|(_, line)| !line.is_paused(now));
        lines.flat_map(|(name, line)| line.order.cursors().map(move |cursor| (name.clone(), cursor, 0))).collect()
    }

    /// Destinations on these servers that a ticket could join now, best first.
    fn open_for(
        &mut self,
        seq: Seq,
        presence: &NetworkPresence,
        servers: &[Arc<str>],
        now: Millis,
    ) -> Vec<Destination> {
        let kept: Arc<dyn Withheld> = Arc::clone(&self.kept) as _;
        let Some(ticket) = self.tickets.get_mut(&seq).filter(|ticket| ticket.is_ready()) else { return vec![] };
        ticket.context.now = now;
        ticket.context.withheld = Some(kept);
        let (mode, context) = (&ticket.mode, &ticket.context);
        let mut open = vec![];
        for server in servers.iter().filter_map(|id| presence.server(id, now)).filter(|it| covers(mode, it)) {
            match mode {
                Mode::Server { .. } => open.push(Candidate::evaluate(presence, server, None, context)),
                Mode::World { world_type, .. } => {
                    open.extend(Candidate::worlds_on(presence, server, world_type.as_ref(), context));
                }
                Mode::Direct(at) => open.extend(Candidate::at(presence, at, context)),
            }
        }
        open.retain(Candidate::is_open);
        open.sort_unstable_by(compare);
        open.iter().take(TRIED).map(Candidate::destination).collect()
    }

    /// Reserves slots for a waiting ticket; false if there are not enough.
    pub(in crate::waiting_lines) fn match_now(
        &mut self,
        presence: &mut NetworkPresence,
        seq: Seq,
        at: &Destination,
        now: Millis,
        ids: &Ids,
    ) -> bool {
        let Some(ticket) = self.tickets.get(&seq).filter(|ticket| ticket.is_ready()) else { return false };
        let mut context = ticket.context.clone();
        (context.now, context.withheld) = (now, Some(Arc::clone(&self.kept) as _));
        let turn = ticket.standing().turn(now);
        let Some((slots, answer)) = reserve(presence, at, &context, now, ids) else { return false };
        self.leave_line(seq);
        self.end_keeping(seq);
        if let Some(server) = presence.server(at.server_id.as_str(), now) {
            self.mark_passed(server, turn, now);
        }
        self.set_matched(seq, slots, answer);
        true
    }

    pub(super) fn set_matched(&mut self, seq: Seq, slots: MatchedSlots, answer: Arc<str>) {
        let Some(ticket) = self.tickets.get_mut(&seq) else { return };
        ticket.state = TicketState::Matched;
        ticket.matched = Some(slots);
        ticket.answer = Some(answer);
        ticket.told = None;
        self.unsaved.matched.push(ticket.id);
        self.mark(seq);
        self.schedule(seq);
    }
}

/// Reserves slots at that destination. Returns them with the JSON of the match; none if there are not enough.
pub(super) fn reserve(
    presence: &mut NetworkPresence,
    at: &Destination,
    context: &crate::matchmaking::PlayerContext,
    now: Millis,
    ids: &Ids,
) -> Option<(MatchedSlots, Arc<str>)> {
    let candidate = Candidate::at(presence, at, context)?;
    let players: Vec<PlayerId> = coming(candidate.server, candidate.world, context).collect();
    let matched = reserve_slot(presence, at, context, ids).ok()?;
    let slots = matched.slots.iter().copied().zip(players).collect();
    let answer = serde_json::to_string(&MatchAnswer::new(matched, None)).ok()?;
    Some((MatchedSlots { at: at.clone(), slots, until: now.saturating_add(RESERVATION_TTL) }, answer.into()))
}
