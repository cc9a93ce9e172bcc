//! New tickets.

use std::collections::BTreeSet;

use crate::clock::Millis;
use crate::ids::Ids;
use crate::limits::{Limit, NetworkLimits, QuotaExceeded};
use crate::matchmaking::{
    Affinity, Candidate, Destination, Match, MatchAnswer, MatchResult, Mode, PlayerContext, best,
};
use crate::presence::{NetworkPresence, Role};
use crate::values::{Identifier, PlayerId};
use crate::waiting_lines::memory::Lines;
use crate::waiting_lines::memory::line::Line;
use crate::waiting_lines::memory::place::reserve;
use crate::waiting_lines::model::{LineName, MatchedSlots, Ticket, TicketState, covers};
use crate::waiting_lines::order::Seq;

/// A request for a ticket.
#[derive(Clone, Debug)]
pub(in crate::waiting_lines) struct NewTicket {
    pub(in crate::waiting_lines) player: PlayerId,
    pub(in crate::waiting_lines) player_name: Option<Identifier>,
    pub(in crate::waiting_lines) mode: Mode,
    pub(in crate::waiting_lines) affinity: Affinity,
    pub(in crate::waiting_lines) context: PlayerContext,
    pub(in crate::waiting_lines) priority: i64,
    /// SHA-256 of the request.
    pub(in crate::waiting_lines) body: String,
}

/// Chooser of a new ticket's destination.
#[derive(Debug, Default)]
pub(in crate::waiting_lines) struct Choice {
    /// Destinations to try; none: the best in the built-in order.
    pub(in crate::waiting_lines) ranked: Option<Vec<Destination>>,
    /// True if the network's modules rank the destinations of those who wait.
    pub(in crate::waiting_lines) has_modules: bool,
}

impl Lines {
    /// The player's active ticket for the same request.
    pub(in crate::waiting_lines) fn same(&self, player: PlayerId, body: &str) -> Option<&Ticket> {
        let ticket = self.tickets.get(self.players.get(&player)?)?;
        (ticket.player == player && ticket.body == body).then_some(ticket)
    }

    /// Takes a ticket. It replaces earlier ones of its players unless it is refused, or ends at once.
    pub(in crate::waiting_lines) fn take(
        &mut self,
        presence: &mut NetworkPresence,
        new: NewTicket,
        choice: Choice,
        limits: &NetworkLimits,
        now: Millis,
        ids: &Ids,
    ) -> Result<Seq, QuotaExceeded> {
        if let Some(same) = self.same(new.player, &new.body) {
            return Ok(same.seq);
        }
        // Slots that came free before go to those who waited before.
        if choice.has_modules {
            self.observe(presence, now);
        } else {
            while self.run(presence, now, false, ids) {}
        }
        let line = LineName::of(&new.mode);
        let is_online = presence.locate(new.player, now).is_some();
        let is_paused = self.settings(&line).at(now).paused;
        let mut context =
            PlayerContext { now, withheld: Some(std::sync::Arc::clone(&self.kept) as _), ..new.context.clone() };
        let size = context.members().count();
        let destinations = match (choice.ranked, &new.mode) {
            _ if !is_online || is_paused => vec![],
            (Some(ranked), _) => ranked,
            (None, Mode::Direct(at)) => vec![at.clone()],
            (None, mode) => {
                let best = best(presence, mode, &context, None, 1).unwrap_or_default();
                best.iter().map(Candidate::destination).collect()
            }
        };
        let is_free = |lines: &Self, presence: &NetworkPresence, at: &Destination| {
            // Slots that those who wait could use are theirs: modules have not been asked for them yet.
            !choice.has_modules || !lines.is_claimed_at(presence, at, &context)
        };
        let matched = destinations
            .iter()
            .find_map(|at| is_free(self, presence, at).then(|| reserve(presence, at, &context, now, ids)).flatten());
        context.withheld = None;
        if matched.is_none() {
            if let Some(result) = self.refusal(presence, &new, &line, size, now) {
                return Ok(self.add_refused(presence, new, result, now, ids));
            }
            let (leaving, _) = self.leaving(&context, &line);
            let used = self.waiting.saturating_sub(leaving);
            limits.check(Limit::Waiting, used as i64, size as i64)?;
            if !self.by_name.contains_key(&line) {
                limits.check(Limit::LinesInMemory, self.by_name.len() as i64, 1)?;
            }
        }
        self.replace_earlier(presence, &context, now);
        let ticket = Ticket { offline_since: (!is_online).then_some(now), ..self.new_ticket(new, line, now, ids) };
        Ok(self.add_new(presence, ticket, matched, now))
    }

    fn add_new(
        &mut self,
        presence: &mut NetworkPresence,
        ticket: Ticket,
        matched: Option<(MatchedSlots, std::sync::Arc<str>)>,
        now: Millis,
    ) -> Seq {
        let (seq, turn, mode) = (ticket.seq, ticket.standing().turn(now), ticket.mode.clone());
        self.add(ticket, presence, now);
        self.mark(seq);
        if let Some((slots, answer)) = matched {
            self.leave_line(seq);
            if let Some(server) = presence.server(slots.at.server_id.as_str(), now) {
                self.mark_passed(server, turn, now);
            }
            self.set_matched(seq, slots, answer);
        } else if matches!(mode, Mode::World { .. }) {
            // Of many worlds only the best were tried.
            self.touch_line(&mode, presence);
        }
        seq
    }

    /// Result of a ticket that ends at once, though there is nothing against the request.
    fn refusal(
        &self,
        presence: &NetworkPresence,
        new: &NewTicket,
        line: &LineName,
        size: usize,
        now: Millis,
    ) -> Option<MatchResult> {
        let capacity = largest(presence, &new.mode, now);
        if capacity.is_some_and(|most| most < size) {
            return Some(MatchResult::PartyTooLarge);
        }
        let (_, leaving) = self.leaving(&new.context, line);
        let waiting = self.by_name.get(line).map_or(0, Line::waiting).saturating_sub(leaving);
        let max = self.settings(line).max_waiting?;
        (waiting + size > usize::try_from(max).unwrap_or(0)).then_some(MatchResult::LineFull)
    }

    /// Players who no longer wait in any line, and in this one, once these have a new ticket.
    fn leaving(&self, context: &PlayerContext, line: &LineName) -> (usize, usize) {
        let mut counted = BTreeSet::new();
        let (mut all, mut here) = (0, 0);
        for player in context.members() {
            let Some(ticket) = self.players.get(&player).and_then(|seq| self.tickets.get(seq)) else { continue };
            if ticket.state != TicketState::Waiting || counted.contains(&ticket.seq) {
                continue;
            }
            let players = if ticket.player == player || context.members().any(|it| it == ticket.player) {
                counted.insert(ticket.seq);
                ticket.size()
            } else {
                1
            };
            all += players;
            here += if ticket.line == *line { players } else { 0 };
        }
        (all, here)
    }

    /// Ends the tickets of these players, and takes them out of others' parties.
    fn replace_earlier(&mut self, presence: &mut NetworkPresence, context: &PlayerContext, now: Millis) {
        for player in context.members() {
            let Some(ticket) = self.players.get(&player).and_then(|seq| self.tickets.get(seq)) else { continue };
            let seq = ticket.seq;
            if ticket.player == player {
                self.end(presence, seq, TicketState::Cancelled, now);
            } else {
                self.remove_member(presence, seq, player, now);
            }
        }
    }

    /// Adds a ticket that the network's modules rejected.
    pub(in crate::waiting_lines) fn add_rejected(
        &mut self,
        presence: &mut NetworkPresence,
        new: NewTicket,
        reason: Option<String>,
        now: Millis,
        ids: &Ids,
    ) -> Seq {
        self.add_ended(presence, new, Match::refused(reason), now, ids)
    }

    fn add_refused(
        &mut self,
        presence: &mut NetworkPresence,
        new: NewTicket,
        result: MatchResult,
        now: Millis,
        ids: &Ids,
    ) -> Seq {
        self.add_ended(presence, new, Match::none(result), now, ids)
    }

    fn add_ended(
        &mut self,
        presence: &mut NetworkPresence,
        new: NewTicket,
        result: Match,
        now: Millis,
        ids: &Ids,
    ) -> Seq {
        let line = LineName::of(&new.mode);
        let answer = serde_json::to_string(&MatchAnswer::of_ticket(result)).ok().map(Into::into);
        let ended =
            Ticket { state: TicketState::Expired, ended_at: Some(now), answer, ..self.new_ticket(new, line, now, ids) };
        let seq = ended.seq;
        self.add(ended, presence, now);
        self.mark(seq);
        while self.ended.len() > super::MAX_ENDED
            && let Some(oldest) = self.ended.pop_front()
        {
            self.forget(oldest);
        }
        seq
    }

    /// Ends a waiting ticket because the network's modules rejected it.
    pub(in crate::waiting_lines) fn reject(
        &mut self,
        presence: &mut NetworkPresence,
        seq: Seq,
        reason: Option<String>,
        now: Millis,
    ) {
        if self.tickets.get(&seq).is_some_and(|ticket| ticket.state == TicketState::Waiting) {
            self.end(presence, seq, TicketState::Expired, now);
            if let Some(ticket) = self.tickets.get_mut(&seq) {
                let refused = MatchAnswer::of_ticket(Match::refused(reason));
                ticket.answer = serde_json::to_string(&refused).ok().map(Into::into);
            }
        }
    }

    fn new_ticket(&mut self, new: NewTicket, line: LineName, now: Millis, ids: &Ids) -> Ticket {
        self.last_seq += 1;
        let seq = self.last_seq;
        Ticket {
            id: ids.uuid(),
            seq,
            player: new.player,
            player_name: new.player_name,
            mode: new.mode,
            affinity: new.affinity,
            line,
            context: PlayerContext { withheld: None, ..new.context },
            body: new.body,
            priority: new.priority,
            since: now,
            state: TicketState::Waiting,
            returned: false,
            matched: None,
            answer: None,
            ended_at: None,
            offline_since: None,
            passed_at: None,
            keeps: false,
            kept: None,
            is_constant: false,
            due: None,
            told: None,
            told_at: 0,
        }
    }
}

/// Players that the largest online server of a mode can hold; none if there is no server, or no limit.
fn largest(presence: &NetworkPresence, mode: &Mode, now: Millis) -> Option<usize> {
    let unlimited = |max: u32| if max == 0 { usize::MAX } else { max as usize };
    let of = |server: &crate::presence::Server| {
        let on_server = unlimited(server.info.max_players);
        let largest_world = |wanted: &dyn Fn(&crate::presence::LiveWorld) -> bool| {
            let worlds = server.worlds.iter().filter(|world| wanted(world)).map(|world| unlimited(world.max_players()));
            worlds.max().map(|most| most.min(on_server))
        };
        match mode {
            Mode::Server { .. } => Some(on_server),
            Mode::World { world_type, .. } => {
                largest_world(&|world| world_type.is_none() || world.report.world_type == *world_type)
            }
            Mode::Direct(at) => match &at.world_id {
                Some(id) => largest_world(&|world| world.report.world_id == *id),
                None => Some(on_server),
            },
        }
    };
    let is_one = |server: &&crate::presence::Server| covers(mode, server) && server.info.role == Role::Game;
    match mode {
        Mode::Server { server_type } | Mode::World { server_type, .. } => {
            presence.of_type(server_type, now).filter(is_one).filter_map(of).max()
        }
        Mode::Direct(at) => presence.server(at.server_id.as_str(), now).filter(is_one).and_then(of),
    }
}
