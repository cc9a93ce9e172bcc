//! Changes that time brings: unused matches, players who are gone, parties that waited for too long.

use crate::clock::Millis;
use crate::presence::NetworkPresence;
use crate::waiting_lines::memory::keep::MAX_PASSED;
use crate::waiting_lines::memory::{Lines, MAX_ENDED};
use crate::waiting_lines::model::{Ticket, TicketState};
use crate::waiting_lines::order::Seq;

/// Time after which the ticket of a player who is offline ends.
const MAX_OFFLINE: Millis = 60_000;
/// Time for which an ended ticket can be read.
const READABLE: Millis = 600_000;

/// Time of a ticket's next change.
fn due_of(ticket: &Ticket) -> Option<Millis> {
    let offline = ticket.offline_since.map(|since| since.saturating_add(MAX_OFFLINE));
    match ticket.state {
        TicketState::Waiting => {
            let passed = ticket.passed_at.filter(|_| !ticket.keeps).map(|at| at.saturating_add(MAX_PASSED));
            let constant = (!ticket.is_constant).then(|| ticket.standing().constant_from());
            offline.into_iter().chain(passed).chain(constant).min()
        }
        TicketState::Matched => ticket.matched.as_ref().map(|matched| matched.until),
        _ => ticket.ended_at.map(|at| at.saturating_add(READABLE)),
    }
}

impl Lines {
    /// Records the time of a ticket's next change.
    pub(super) fn schedule(&mut self, seq: Seq) {
        let Some(ticket) = self.tickets.get_mut(&seq) else { return };
        let due = due_of(ticket);
        if due != ticket.due {
            if let Some(before) = ticket.due {
                self.dues.remove(&(before, seq));
            }
            if let Some(at) = due {
                self.dues.insert((at, seq));
            }
            ticket.due = due;
        }
    }

    /// Makes the changes that are due.
    pub(in crate::waiting_lines) fn end_due(&mut self, presence: &mut NetworkPresence, now: Millis) {
        while let Some((at, seq)) = self.dues.first().copied().filter(|(at, _)| *at <= now) {
            self.dues.remove(&(at, seq));
            let Some(ticket) = self.tickets.get_mut(&seq) else { continue };
            ticket.due = None;
            let has_come =
                |since: Option<Millis>, age: Millis| since.is_some_and(|since| since.saturating_add(age) <= now);
            match ticket.state {
                TicketState::Waiting if has_come(ticket.offline_since, MAX_OFFLINE) => {
                    self.end(presence, seq, TicketState::Expired, now);
                }
                TicketState::Waiting if !ticket.keeps && has_come(ticket.passed_at, MAX_PASSED) => {
                    self.begin_keeping(seq, presence, now);
                }
                TicketState::Waiting => {
                    self.leave_line(seq);
                    self.enter_line(seq, presence, now);
                }
                TicketState::Matched => self.end_match(presence, seq, now),
                _ => self.forget(seq),
            }
            self.schedule(seq);
        }
        while let Some((at, name)) = self.pauses.first().filter(|(at, _)| *at <= now).cloned() {
            self.pauses.remove(&(at, name.clone()));
            if let Some(line) = self.by_name.get_mut(&name) {
                line.settings = line.settings.at(now);
                let mode = line.mode.clone();
                self.touch_line(&mode, presence);
            }
        }
    }

    /// Ends a match whose time is over: it was used, or its ticket returns to its line once.
    fn end_match(&mut self, presence: &mut NetworkPresence, seq: Seq, now: Millis) {
        if self.has_joined(presence, seq) {
            return self.end(presence, seq, TicketState::Joined, now);
        }
        let Some(ticket) = self.tickets.get(&seq) else { return };
        let is_gone = ticket.offline_since.is_some_and(|since| since.saturating_add(MAX_OFFLINE) <= now);
        if ticket.returned || is_gone {
            return self.end(presence, seq, TicketState::Expired, now);
        }
        self.release(presence, seq);
        let Some(ticket) = self.tickets.get_mut(&seq) else { return };
        ticket.state = TicketState::Waiting;
        ticket.returned = true;
        (ticket.matched, ticket.answer) = (None, None);
        let mode = ticket.mode.clone();
        self.enter_line(seq, presence, now);
        self.touch_line(&mode, presence);
        self.mark(seq);
    }

    /// True if one of those for whom a ticket holds slots is on its server.
    pub(super) fn has_joined(&self, presence: &NetworkPresence, seq: Seq) -> bool {
        let matched = self.tickets.get(&seq).and_then(|ticket| ticket.matched.as_ref());
        matched.is_some_and(|matched| {
            let is_there = |player| presence.server_of(player) == Some(matched.at.server_id.as_str());
            matched.slots.iter().any(|(_, player)| is_there(*player))
        })
    }

    /// Releases the slots that a ticket holds.
    pub(super) fn release(&mut self, presence: &mut NetworkPresence, seq: Seq) {
        if let Some(matched) = self.tickets.get(&seq).and_then(|ticket| ticket.matched.as_ref()) {
            let slots: Vec<_> = matched.slots.iter().map(|(id, _)| *id).collect();
            presence.release_slots(&matched.at.server_id, &slots);
        }
    }

    /// Ends a ticket. Slots of one that was used stay until they lapse, for the rest of the party.
    pub(super) fn end(&mut self, presence: &mut NetworkPresence, seq: Seq, state: TicketState, now: Millis) {
        let Some(ticket) = self.tickets.get(&seq) else { return };
        match ticket.state {
            TicketState::Waiting => {
                self.leave_line(seq);
                self.end_keeping(seq);
            }
            TicketState::Matched if state != TicketState::Joined => self.release(presence, seq),
            TicketState::Matched => {}
            _ => return,
        }
        let Some(ticket) = self.tickets.get_mut(&seq) else { return };
        ticket.state = state;
        ticket.ended_at = Some(now);
        if state != TicketState::Joined {
            (ticket.matched, ticket.answer) = (None, None);
        }
        let players: Vec<_> = ticket.players().collect();
        for player in players {
            if self.players.get(&player) == Some(&seq) {
                self.players.remove(&player);
            }
        }
        self.ended.push_back(seq);
        self.mark(seq);
        self.schedule(seq);
        while self.ended.len() > MAX_ENDED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.forget(oldest);
        }
    }

    /// Forgets a ticket that ended.
    pub(super) fn forget(&mut self, seq: Seq) {
        self.mark(seq);
        if let Some(ticket) = self.tickets.remove(&seq) {
            self.ids.remove(&ticket.id);
            if let Some(due) = ticket.due {
                self.dues.remove(&(due, seq));
            }
        }
        if self.ended.front() == Some(&seq) {
            self.ended.pop_front();
        } else {
            self.ended.retain(|ended| *ended != seq);
        }
    }
}
