//! What a module is given.

use super::{ranking, read};
use crate::contract::matchmaking::{ServerCandidate, WorldCandidate};
use crate::contract::{Point, chat, punishment};
use crate::operation::Candidates;
use serde_json::{Value, json};
use std::fmt;
use std::sync::Arc;

/// The input of a call of any point. Cheap to clone.
#[derive(Clone)]
pub enum Input {
    /// Servers to rank.
    Servers(Arc<Candidates<ServerCandidate>>),
    /// Worlds to rank.
    Worlds(Arc<Candidates<WorldCandidate>>),
    /// A chat line.
    Line(Arc<chat::Line>),
    /// A punishment.
    Proposal(Arc<punishment::Proposal>),
}

impl Input {
    /// Reads the input that a point takes: a line, a proposal, or a match request with `servers` or `worlds`, their
    /// regions by name and their texts beside the numbers.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(point: Point, input: Value) -> Result<Self, String> {
        Ok(match point {
            Point::Chat => Self::Line(Arc::new(read(input)?)),
            Point::Punishment => Self::Proposal(Arc::new(read(input)?)),
            Point::Matchmaking => ranking::parse(read(input)?)?,
        })
    }

    /// The same input as JSON; [`Input::parse`] reads it back.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Servers(input) => ranking::servers(input),
            Self::Worlds(input) => ranking::worlds(input),
            Self::Line(line) => json!(line),
            Self::Proposal(proposal) => json!(proposal),
        }
    }

    /// The answer that changes nothing: the order as it is, the line as it is, the punishment as proposed.
    pub fn without_effect(&self) -> Value {
        match self {
            Self::Servers(input) => json!({"order": (0..input.candidates().len()).collect::<Vec<_>>()}),
            Self::Worlds(input) => json!({"order": (0..input.candidates().len()).collect::<Vec<_>>()}),
            Self::Line(_) => json!(chat::Verdict { decision: chat::Decision::Allow, mute: None }),
            Self::Proposal(_) => {
                json!(punishment::Verdict { decision: punishment::Decision::Accept, follow_ups: vec![] })
            }
        }
    }

    /// The point that takes it.
    pub fn point(&self) -> Point {
        match self {
            Self::Servers(_) | Self::Worlds(_) => Point::Matchmaking,
            Self::Line(_) => Point::Chat,
            Self::Proposal(_) => Point::Punishment,
        }
    }
}

impl From<Arc<Candidates<ServerCandidate>>> for Input {
    fn from(input: Arc<Candidates<ServerCandidate>>) -> Self {
        Self::Servers(input)
    }
}

impl From<Arc<Candidates<WorldCandidate>>> for Input {
    fn from(input: Arc<Candidates<WorldCandidate>>) -> Self {
        Self::Worlds(input)
    }
}

impl From<Arc<chat::Line>> for Input {
    fn from(line: Arc<chat::Line>) -> Self {
        Self::Line(line)
    }
}

impl From<Arc<punishment::Proposal>> for Input {
    fn from(proposal: Arc<punishment::Proposal>) -> Self {
        Self::Proposal(proposal)
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Input").field(&self.point()).finish()
    }
}
