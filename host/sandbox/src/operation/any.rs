//! The input and the answer of a call of any point.

use super::answer::Answered;
use super::candidates::{Candidates, RankAnswer};
use super::handle::Handled;
use crate::contract::endpoints::Request;
use crate::contract::events::Event;
use crate::contract::matchmaking::{ServerCandidate, WorldCandidate};
use crate::contract::schedules::{Tick, Timer};
use crate::contract::{Point, chat, economy, login, punishment, queue};
use std::fmt;
use std::sync::Arc;

/// The input of a call of any point. Cheap to clone.
#[derive(Clone)]
pub enum AnyInput {
    /// Servers to rank.
    Servers(Arc<Candidates<ServerCandidate>>),
    /// Worlds to rank.
    Worlds(Arc<Candidates<WorldCandidate>>),
    /// A chat line.
    Line(Arc<chat::Line>),
    /// A punishment.
    Proposal(Arc<punishment::Proposal>),
    /// An event.
    Event(Arc<Event>),
    /// A request to an endpoint.
    Request(Arc<Request>),
    /// A tick of a schedule.
    Tick(Arc<Tick>),
    /// A timer.
    Timer(Arc<Timer>),
    /// A player who wants to join.
    Attempt(Arc<login::Attempt>),
    /// A change of balances.
    Change(Arc<economy::Change>),
    /// A ticket of a waiting line.
    Ticket(Arc<queue::Ticket>),
}

impl AnyInput {
    /// The point that takes it.
    pub fn point(&self) -> Point {
        match self {
            Self::Servers(_) | Self::Worlds(_) => Point::Matchmaking,
            Self::Line(_) => Point::Chat,
            Self::Proposal(_) => Point::Punishment,
            Self::Event(_) => Point::Events,
            Self::Request(_) => Point::Endpoints,
            Self::Tick(_) | Self::Timer(_) => Point::Schedules,
            Self::Attempt(_) => Point::Login,
            Self::Change(_) => Point::Economy,
            Self::Ticket(_) => Point::Queue,
        }
    }

    /// True if both are the same allocation.
    pub fn ptr_eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Servers(one), Self::Servers(other)) => Arc::ptr_eq(one, other),
            (Self::Worlds(one), Self::Worlds(other)) => Arc::ptr_eq(one, other),
            (Self::Line(one), Self::Line(other)) => Arc::ptr_eq(one, other),
            (Self::Proposal(one), Self::Proposal(other)) => Arc::ptr_eq(one, other),
            (Self::Event(one), Self::Event(other)) => Arc::ptr_eq(one, other),
            (Self::Request(one), Self::Request(other)) => Arc::ptr_eq(one, other),
            (Self::Tick(one), Self::Tick(other)) => Arc::ptr_eq(one, other),
            (Self::Timer(one), Self::Timer(other)) => Arc::ptr_eq(one, other),
            (Self::Attempt(one), Self::Attempt(other)) => Arc::ptr_eq(one, other),
            (Self::Change(one), Self::Change(other)) => Arc::ptr_eq(one, other),
            (Self::Ticket(one), Self::Ticket(other)) => Arc::ptr_eq(one, other),
            _ => false,
        }
    }
}

impl fmt::Debug for AnyInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyInput").field(&self.point()).finish()
    }
}

/// The answer of a call of any point.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyAnswer {
    /// Of a ranking.
    Ranked(RankAnswer),
    /// On a chat line.
    Chat(chat::Verdict),
    /// On a punishment.
    Review(punishment::Verdict),
    /// On an event, a tick or a timer.
    Handled(Handled),
    /// On a request to an endpoint.
    Answered(Answered),
    /// On a player who wants to join.
    Login(login::Decision),
    /// On a change of balances.
    Economy(economy::Decision),
    /// On a ticket of a waiting line.
    Queue(queue::Decision),
}

impl From<login::Decision> for AnyAnswer {
    fn from(decision: login::Decision) -> Self {
        Self::Login(decision)
    }
}

impl From<economy::Decision> for AnyAnswer {
    fn from(decision: economy::Decision) -> Self {
        Self::Economy(decision)
    }
}

impl From<queue::Decision> for AnyAnswer {
    fn from(decision: queue::Decision) -> Self {
        Self::Queue(decision)
    }
}

impl From<Answered> for AnyAnswer {
    fn from(answered: Answered) -> Self {
        Self::Answered(answered)
    }
}

impl From<Handled> for AnyAnswer {
    fn from(handled: Handled) -> Self {
        Self::Handled(handled)
    }
}

impl From<RankAnswer> for AnyAnswer {
    fn from(answer: RankAnswer) -> Self {
        Self::Ranked(answer)
    }
}

impl From<chat::Verdict> for AnyAnswer {
    fn from(verdict: chat::Verdict) -> Self {
        Self::Chat(verdict)
    }
}

impl From<punishment::Verdict> for AnyAnswer {
    fn from(verdict: punishment::Verdict) -> Self {
        Self::Review(verdict)
    }
}
