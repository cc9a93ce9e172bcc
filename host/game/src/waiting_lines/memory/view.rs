//! Tickets and lines as they are answered.

use std::sync::Arc;

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::clock::Millis;
use crate::matchmaking::{Candidate, Ineligibility, Mode, PlayerContext, WantedSlot};
use crate::presence::{NetworkPresence, Server};
use crate::values::{Identifier, PlayerId};
use crate::waiting_lines::memory::Lines;
use crate::waiting_lines::memory::line::Line;
use crate::waiting_lines::model::{LineName, Ticket, TicketState};
use crate::waiting_lines::order::Seq;

/// Servers that a ticket's answer gives reasons for.
const MAX_SERVERS: usize = 10;

/// A ticket with its place.
#[derive(Clone, Debug)]
pub(in crate::waiting_lines) struct TicketView {
    pub(in crate::waiting_lines) id: Uuid,
    pub(in crate::waiting_lines) state: TicketState,
    pub(in crate::waiting_lines) line: LineName,
    /// Place among the players who wait, from 1; none unless it waits.
    pub(in crate::waiting_lines) position: Option<usize>,
    pub(in crate::waiting_lines) waiting: usize,
    pub(in crate::waiting_lines) eta: Option<i64>,
    pub(in crate::waiting_lines) answer: Option<Arc<str>>,
    pub(in crate::waiting_lines) player: PlayerId,
    pub(in crate::waiting_lines) party: Vec<PlayerId>,
    pub(in crate::waiting_lines) priority: i64,
    pub(in crate::waiting_lines) since: Millis,
    pub(in crate::waiting_lines) why: Vec<WhyNot>,
}

/// A line with its settings.
#[derive(Clone, Debug)]
pub(in crate::waiting_lines) struct LineView {
    pub(in crate::waiting_lines) line: LineName,
    pub(in crate::waiting_lines) waiting: usize,
    pub(in crate::waiting_lines) longest_wait: Millis,
    pub(in crate::waiting_lines) eta: Option<i64>,
    pub(in crate::waiting_lines) paused: bool,
    pub(in crate::waiting_lines) paused_until: Option<Millis>,
    pub(in crate::waiting_lines) max_waiting: Option<i64>,
}

/// Reason for which a ticket was not matched with a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(in crate::waiting_lines) enum ServerReason {
    /// It has not enough free slots.
    Full,
    /// Its free slots are kept for a party.
    Kept,
    /// Its game runs, or the player is on it.
    NotJoinable,
    /// The line is paused.
    Paused,
    /// Others come first, or the player is offline.
    Line,
}

/// Reason of one server.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TicketObstacle)]
pub(in crate::waiting_lines) struct WhyNot {
    #[schema(example = "bedwars-1")]
    pub(in crate::waiting_lines) server_id: Identifier,
    pub(in crate::waiting_lines) reason: ServerReason,
}

impl Lines {
    /// A ticket with its place.
    pub(in crate::waiting_lines) fn view(&self, seq: Seq, now: Millis) -> Option<TicketView> {
        let ticket = self.tickets.get(&seq)?;
        let line = self.by_name.get(&ticket.line);
        let position = line.filter(|_| ticket.state == TicketState::Waiting).map(|line| position(line, ticket, now));
        Some(view_at(ticket, line, position, now))
    }

    /// Lines that have tickets or settings, by name, and their number.
    pub(in crate::waiting_lines) fn list(&self, now: Millis, offset: usize, limit: usize) -> (Vec<LineView>, usize) {
        let is_listed = |line: &Line| line.waiting() > 0 || line.settings != super::LineSettings::default();
        let listed = self.by_name.iter().filter(|(_, line)| is_listed(line));
        let total = listed.clone().count();
        (listed.skip(offset).take(limit).map(|(name, line)| self.line_view(name, line, now)).collect(), total)
    }

    /// A line with its settings.
    pub(in crate::waiting_lines) fn view_line(&self, name: &LineName, now: Millis) -> LineView {
        match self.by_name.get(name) {
            Some(line) => self.line_view(name, line, now),
            None => LineView {
                line: name.clone(),
                waiting: 0,
                longest_wait: 0,
                eta: None,
                paused: false,
                paused_until: None,
                max_waiting: None,
            },
        }
    }

    fn line_view(&self, name: &LineName, line: &Line, now: Millis) -> LineView {
        let since = line.order.iter(now).filter_map(|seq| self.tickets.get(&seq)).map(|ticket| ticket.since).min();
        let settings = line.settings.at(now);
        LineView {
            line: name.clone(),
            waiting: line.waiting(),
            longest_wait: since.map_or(0, |since| (now - since).max(0)),
            eta: line.eta(line.waiting() + 1, now),
            paused: settings.paused,
            paused_until: settings.paused_until,
            max_waiting: settings.max_waiting,
        }
    }

    /// Waiting tickets of a line in their order, with the reasons for which they wait, and their number. Each place follows
    /// from the one before.
    pub(in crate::waiting_lines) fn tickets_of(
        &self,
        name: &LineName,
        presence: &NetworkPresence,
        now: Millis,
        offset: usize,
        limit: usize,
    ) -> (Vec<TicketView>, usize) {
        let Some(line) = self.by_name.get(name) else { return (vec![], 0) };
        let (mut items, mut total, mut position) = (vec![], 0, 1);
        for ticket in line.order.iter(now).filter_map(|seq| self.tickets.get(&seq)) {
            if total >= offset && items.len() < limit {
                let why = self.why(ticket, line, presence, now);
                items.push(TicketView { why, ..view_at(ticket, Some(line), Some(position), now) });
            }
            position += ticket.size();
            total += 1;
        }
        (items, total)
    }

    fn why(&self, ticket: &Ticket, line: &Line, presence: &NetworkPresence, now: Millis) -> Vec<WhyNot> {
        let context = PlayerContext { now, withheld: None, ..ticket.context.clone() };
        let is_paused = line.is_paused(now);
        let reason = |server: &Server| WhyNot {
            server_id: server.info.server_id.clone(),
            reason: if is_paused {
                ServerReason::Paused
            } else if ticket.offline_since.is_some() {
                ServerReason::Line
            } else {
                self.reason(&ticket.mode, presence, server, &context)
            },
        };
        match &ticket.mode {
            Mode::Server { server_type } | Mode::World { server_type, .. } => {
                presence.of_type(server_type, now).take(MAX_SERVERS).map(reason).collect()
            }
            Mode::Direct(at) => presence.server(at.server_id.as_str(), now).map(reason).into_iter().collect(),
        }
    }

    fn reason(
        &self,
        mode: &Mode,
        presence: &NetworkPresence,
        server: &Server,
        context: &PlayerContext,
    ) -> ServerReason {
        let candidates: Vec<_> = match mode {
            Mode::Server { .. } => vec![Candidate::evaluate(presence, server, None, context)],
            Mode::World { world_type, .. } => {
                Candidate::worlds_on(presence, server, world_type.as_ref(), context).collect()
            }
            Mode::Direct(at) => Candidate::at(presence, at, context).into_iter().collect(),
        };
        let is_kept = |it: &Candidate<'_>| {
            let needed = context.members().count() as u32;
            let slot = WantedSlot { server: it.server, world: it.world, needed, server_free: it.server_free };
            context.id.is_some_and(|player| self.kept.is_kept_for_another(player, slot))
        };
        let mut reasons = candidates.iter().map(|it| match it.ineligible {
            None if is_kept(it) => ServerReason::Kept,
            None => ServerReason::Line,
            Some(Ineligibility::ServerFull | Ineligibility::WorldFull) if it.free > 0 && is_kept(it) => {
                ServerReason::Kept
            }
            Some(Ineligibility::ServerFull | Ineligibility::WorldFull) => ServerReason::Full,
            Some(_) => ServerReason::NotJoinable,
        });
        let Some(first) = reasons.next() else { return ServerReason::NotJoinable };
        // Of several worlds, the reason that needs the least to change.
        let rank = |reason: &ServerReason| match reason {
            ServerReason::Line => 0,
            ServerReason::Kept => 1,
            ServerReason::Full => 2,
            ServerReason::NotJoinable | ServerReason::Paused => 3,
        };
        reasons.fold(first, |best, next| if rank(&next) < rank(&best) { next } else { best })
    }

    /// True if a ticket that waits could use slots at that destination.
    pub(super) fn is_claimed_at(
        &self,
        presence: &NetworkPresence,
        at: &crate::matchmaking::Destination,
        player: &PlayerContext,
    ) -> bool {
        Candidate::at(presence, at, player).is_some_and(|it| {
            let needed = player.members().count() as u32;
            let slot = WantedSlot { server: it.server, world: it.world, needed, server_free: it.server_free };
            self.is_claimed(player, slot)
        })
    }

    /// True if a ticket that waits could use these slots, now or once there are enough for its party.
    pub(in crate::waiting_lines) fn is_claimed(&self, player: &PlayerContext, slot: WantedSlot<'_>) -> bool {
        let now = player.now;
        let max = slot.server.info.max_players as usize;
        self.lines_of(slot.server).filter_map(|name| self.by_name.get(name)).any(|line| {
            if line.waiting() == 0 || line.is_paused(now) || !wants(&line.mode, slot, now) {
                return false;
            }
            line.order.iter(now).filter_map(|seq| self.tickets.get(&seq)).any(|ticket| {
                let is_own = player.id == Some(ticket.player);
                !is_own && ticket.is_ready() && !slot.server.has(ticket.player) && (max == 0 || ticket.size() <= max)
            })
        })
    }
}

/// True if tickets of this mode wait for these slots: for the world's, or for the server's where their worlds have room.
fn wants(mode: &Mode, slot: WantedSlot<'_>, now: Millis) -> bool {
    let is_wanted = |world: &crate::presence::LiveWorld| match mode {
        Mode::Server { .. } => false,
        Mode::World { world_type, .. } => world_type.is_none() || world.report.world_type == *world_type,
        Mode::Direct(at) => at.world_id.as_ref() == Some(&world.report.world_id),
    };
    match mode {
        Mode::Server { .. } => true,
        Mode::Direct(at) if at.world_id.is_none() => true,
        Mode::World { .. } | Mode::Direct(_) => {
            slot.world.is_some_and(is_wanted)
                || slot.server.worlds.iter().filter(|world| is_wanted(world) && world.takes_players()).any(|world| {
                    world.max_players() == 0 || slot.server.taken_in(world, now, &[]) < world.max_players()
                })
        }
    }
}

/// Place of a waiting ticket.
pub(super) fn position(line: &Line, ticket: &Ticket, now: Millis) -> usize {
    1 + line.order.players_before(ticket.standing().turn(now), now)
}

fn view_at(ticket: &Ticket, line: Option<&Line>, position: Option<usize>, now: Millis) -> TicketView {
    TicketView {
        id: ticket.id,
        state: ticket.state,
        line: ticket.line.clone(),
        position,
        waiting: line.map_or(0, Line::waiting),
        eta: line.zip(position).and_then(|(line, position)| line.eta(position, now)),
        answer: ticket.answer.clone(),
        player: ticket.player,
        party: ticket.context.party.clone(),
        priority: ticket.priority,
        since: ticket.since,
        why: vec![],
    }
}
