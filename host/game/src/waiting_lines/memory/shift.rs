//! Times of lines when the clock is set.

use crate::clock::Millis;
use crate::presence::NetworkPresence;
use crate::waiting_lines::memory::Lines;
use crate::waiting_lines::memory::freed::Freed;
use crate::waiting_lines::model::{Ticket, TicketState};

impl Ticket {
    fn shift(&mut self, by: Millis) {
        let move_if_any = |at: &mut Option<Millis>| *at = at.map(|at| at.saturating_add(by));
        self.since = self.since.saturating_add(by);
        self.told_at = self.told_at.saturating_add(by);
        if let Some(matched) = &mut self.matched {
            matched.until = matched.until.saturating_add(by);
        }
        move_if_any(&mut self.ended_at);
        move_if_any(&mut self.offline_since);
        move_if_any(&mut self.passed_at);
    }
}

impl Lines {
    /// Moves the times of all tickets: those who wait keep their order and points. Ends of pauses stay, which people gave.
    pub(in crate::waiting_lines) fn shift(&mut self, presence: &NetworkPresence, by: Millis, now: Millis) {
        for line in self.by_name.values_mut() {
            line.freed = Freed::default();
            line.far_told_at = line.far_told_at.saturating_add(by);
        }
        let seqs: Vec<_> = self.tickets.keys().copied().collect();
        for seq in seqs {
            let waits = self.tickets.get(&seq).is_some_and(|ticket| ticket.state == TicketState::Waiting);
            if waits {
                self.leave_line(seq);
            }
            if let Some(ticket) = self.tickets.get_mut(&seq) {
                ticket.shift(by);
            }
            if waits {
                self.enter_line(seq, presence, now);
            }
            self.schedule(seq);
            self.mark(seq);
        }
    }
}
