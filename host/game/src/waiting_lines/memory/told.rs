//! Places that players are told.

use uuid::Uuid;

use crate::clock::Millis;
use crate::values::PlayerId;
use crate::waiting_lines::memory::Lines;
use crate::waiting_lines::model::LineName;
use crate::waiting_lines::order::Seq;

/// Minimum time between two places that a player is told.
const NEAR_INTERVAL: Millis = 2_000;
/// The same for places beyond [`NEAR`].
const FAR_INTERVAL: Millis = 10_000;
const NEAR: usize = 20;

/// A place that changed.
#[derive(Clone, Debug)]
pub(in crate::waiting_lines) struct PlaceChange {
    pub(in crate::waiting_lines) ticket: Uuid,
    pub(in crate::waiting_lines) player: PlayerId,
    pub(in crate::waiting_lines) position: usize,
    pub(in crate::waiting_lines) waiting: usize,
    pub(in crate::waiting_lines) eta: Option<i64>,
}

impl Lines {
    /// Places that changed since their players were told, and that may be told now.
    pub(in crate::waiting_lines) fn take_place_changes(&mut self, now: Millis) -> Vec<PlaceChange> {
        let names: Vec<LineName> = self.by_name.keys().cloned().collect();
        let mut changes = vec![];
        for name in names {
            self.changes_of(&name, now, &mut changes);
        }
        self.forget_unused_lines(now);
        changes
    }

    fn changes_of(&mut self, name: &LineName, now: Millis, changes: &mut Vec<PlaceChange>) {
        let Some(line) = self.by_name.get_mut(name) else { return };
        let freed = line.freed.total(now);
        if freed != line.told_freed {
            line.told_freed = freed;
            (line.is_changed, line.is_far_changed) = (true, true);
        }
        let tells_far = line.is_far_changed && now - line.far_told_at >= FAR_INTERVAL;
        if !(line.is_changed || tells_far) || line.waiting() == 0 {
            return;
        }
        line.is_changed = false;
        if tells_far {
            (line.is_far_changed, line.far_told_at) = (false, now);
        }
        let waiting = line.waiting();
        let (mut position, mut is_early) = (1, false);
        let mut told: Vec<(Seq, usize)> = vec![];
        for seq in line.order.iter(now) {
            if position > NEAR && !tells_far {
                break;
            }
            let Some(ticket) = self.tickets.get(&seq) else { continue };
            told.push((seq, position));
            position += ticket.size();
        }
        for (seq, position) in told {
            let eta = self.by_name.get(name).and_then(|line| line.eta(position, now));
            let Some(ticket) = self.tickets.get_mut(&seq) else { continue };
            let interval = if position > NEAR { FAR_INTERVAL } else { NEAR_INTERVAL };
            if ticket.offline_since.is_some() || ticket.told == Some((position, waiting, eta)) {
                continue;
            }
            if now - ticket.told_at < interval {
                is_early = true;
                continue;
            }
            ticket.told = Some((position, waiting, eta));
            ticket.told_at = now;
            changes.push(PlaceChange { ticket: ticket.id, player: ticket.player, position, waiting, eta });
        }
        if is_early && let Some(line) = self.by_name.get_mut(name) {
            line.is_changed = true;
            line.is_far_changed = true;
        }
    }

    /// Records the place that a player was answered.
    pub(in crate::waiting_lines) fn note_told(&mut self, seq: Seq, now: Millis) {
        let Some(view) = self.view(seq, now) else { return };
        if let (Some(position), Some(ticket)) = (view.position, self.tickets.get_mut(&seq)) {
            ticket.told = Some((position, view.waiting, view.eta));
        }
    }
}
