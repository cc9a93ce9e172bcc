//! Changes that people and connectors make, and players who come and go.

use uuid::Uuid;

use crate::clock::Millis;
use crate::matchmaking::Mode;
use crate::presence::NetworkPresence;
use crate::values::PlayerId;
use crate::waiting_lines::memory::Lines;
use crate::waiting_lines::model::{LineName, LineSettings, TicketState};
use crate::waiting_lines::order::Seq;

impl Lines {
    /// Ends the ticket of a player who used a slot, though they may have left again.
    pub(super) fn player_joined(
        &mut self,
        presence: &mut NetworkPresence,
        player: PlayerId,
        server: &str,
        now: Millis,
    ) {
        let Some(seq) = self.players.get(&player).copied() else { return };
        let matched = self.tickets.get(&seq).and_then(|ticket| ticket.matched.as_ref());
        let has_used = matched.is_some_and(|matched| {
            matched.at.server_id.as_str() == server && matched.slots.iter().any(|(_, of)| *of == player)
        });
        if has_used {
            self.end(presence, seq, TicketState::Joined, now);
        }
    }

    /// Notes that a player came, left or moved to another server.
    pub(super) fn player_moved(&mut self, presence: &mut NetworkPresence, player: PlayerId, now: Millis) {
        let Some(seq) = self.players.get(&player).copied() else { return };
        let Some(ticket) = self.tickets.get_mut(&seq) else { return };
        let is_online = presence.locate(player, now).is_some();
        if ticket.player == player {
            ticket.offline_since = if is_online { None } else { ticket.offline_since.or(Some(now)) };
        }
        match ticket.state {
            TicketState::Matched => {
                if self.has_joined(presence, seq) {
                    return self.end(presence, seq, TicketState::Joined, now);
                }
            }
            // It may now use slots of the server that the player left.
            _ if is_online => {
                let mode = ticket.mode.clone();
                if ticket.player == player
                    && let Some(line) = self.by_name.get_mut(&ticket.line)
                {
                    // The server that they are on now does not know their place.
                    ticket.told = None;
                    (line.is_changed, line.is_far_changed) = (true, true);
                }
                self.touch_line(&mode, presence);
            }
            _ => {
                if ticket.player == player {
                    self.end_keeping(seq);
                    // Slots withheld for them may be of use to others.
                    self.schedule(seq);
                }
            }
        }
        self.schedule(seq);
    }

    /// Ends a ticket at its players' wish; false if there is none with this id.
    pub(in crate::waiting_lines) fn cancel(&mut self, presence: &mut NetworkPresence, id: Uuid, now: Millis) -> bool {
        let Some(seq) = self.ids.get(&id).copied() else { return false };
        self.end(presence, seq, TicketState::Cancelled, now);
        true
    }

    /// Changes the priority of an active ticket.
    pub(in crate::waiting_lines) fn set_priority(
        &mut self,
        presence: &NetworkPresence,
        seq: Seq,
        priority: i64,
        now: Millis,
    ) {
        let Some(ticket) = self.tickets.get(&seq) else { return };
        let waits = ticket.state == TicketState::Waiting;
        if waits {
            self.leave_line(seq);
        }
        if let Some(ticket) = self.tickets.get_mut(&seq) {
            ticket.priority = priority;
        }
        if waits {
            self.enter_line(seq, presence, now);
        }
        self.mark(seq);
        self.schedule(seq);
    }

    /// Sets the settings of a line.
    pub(in crate::waiting_lines) fn set_line(
        &mut self,
        presence: &NetworkPresence,
        (name, mode): (&LineName, &Mode),
        settings: LineSettings,
        now: Millis,
    ) {
        let line = self.line(name, mode, presence, now);
        let before = std::mem::replace(&mut line.settings, settings);
        (line.is_changed, line.is_far_changed) = (true, true);
        if let Some(until) = before.paused_until {
            self.pauses.remove(&(until, name.clone()));
        }
        if let Some(until) = settings.paused_until {
            self.pauses.insert((until, name.clone()));
        }
        if settings.at(now).paused {
            let of_line = |seq: &&Seq| self.tickets.get(seq).is_some_and(|ticket| ticket.line == *name);
            let keepers: Vec<_> = self.keepers.iter().filter(of_line).copied().collect();
            for seq in keepers {
                self.end_keeping(seq);
                self.schedule(seq);
            }
        }
        self.touch_line(mode, presence);
        self.forget_unused_lines(now);
    }

    /// Takes a member out of a party, with the slot that is held for them.
    pub(super) fn remove_member(&mut self, presence: &mut NetworkPresence, seq: Seq, player: PlayerId, now: Millis) {
        if self.players.get(&player) == Some(&seq) {
            self.players.remove(&player);
        }
        let Some(ticket) = self.tickets.get(&seq) else { return };
        let waits = ticket.state == TicketState::Waiting;
        if waits {
            self.leave_line(seq);
        }
        let Some(ticket) = self.tickets.get_mut(&seq) else { return };
        ticket.context.party.retain(|member| *member != player);
        if let Some(matched) = &mut ticket.matched {
            let theirs: Vec<_> = matched.slots.iter().filter(|(_, of)| *of == player).map(|(id, _)| *id).collect();
            matched.slots.retain(|(_, of)| *of != player);
            presence.release_slots(&matched.at.server_id, &theirs);
        }
        if waits {
            let mode = ticket.mode.clone();
            self.enter_line(seq, presence, now);
            // A smaller party may fit now.
            self.touch_line(&mode, presence);
            self.collect_kept();
        }
        self.mark(seq);
        self.schedule(seq);
    }

    /// Removes an erased player: their tickets go, parties of others stay without them.
    pub(in crate::waiting_lines) fn forget_player(
        &mut self,
        presence: &mut NetworkPresence,
        player: PlayerId,
        now: Millis,
    ) {
        let of_them = self.tickets.values().filter(|ticket| ticket.players().any(|it| it == player));
        let of_them: Vec<_> = of_them.map(|ticket| (ticket.seq, ticket.player == player)).collect();
        for (seq, is_leader) in of_them {
            if is_leader {
                self.end(presence, seq, TicketState::Cancelled, now);
                self.forget(seq);
            } else {
                self.remove_member(presence, seq, player, now);
            }
        }
    }
}
