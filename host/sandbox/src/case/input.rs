//! What a module is given.

use super::ranking;
use crate::contract::matchmaking::{ServerCandidate, WorldCandidate};
use crate::contract::{Point, chat, punishment};
use crate::operation::Candidates;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
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

    /// The point that takes it.
    pub fn point(&self) -> Point {
        match self {
            Self::Servers(_) | Self::Worlds(_) => Point::Matchmaking,
            Self::Line(_) => Point::Chat,
            Self::Proposal(_) => Point::Punishment,
        }
    }
}

/// Reads a value, and names the place of what is wrong with it.
fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner();
        if path == "." { reason.to_string() } else { format!("`{path}`: {reason}") }
    })
}
