//! The input of a call as JSON.

use super::ranking;
use super::read::read;
use crate::contract::{Point, chat, punishment};
use crate::operation::AnyInput;
use serde_json::{Value, json};
use std::sync::Arc;

impl AnyInput {
    /// Reads the input of a point: a line, a proposal, or a match request with `servers` or `worlds`, their regions by
    /// name and their texts beside the numbers.
    ///
    /// # Errors
    /// Description of the invalid part, and its path.
    pub fn parse(point: Point, input: Value) -> Result<Self, String> {
        Ok(match point {
            Point::Chat => Self::Line(Arc::new(read(input)?)),
            Point::Punishment => Self::Proposal(Arc::new(read(input)?)),
            Point::Matchmaking => ranking::parse(read(input)?)?,
        })
    }

    /// The same input as JSON; [`AnyInput::parse`] reads it back.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Servers(input) => ranking::servers(input),
            Self::Worlds(input) => ranking::worlds(input),
            Self::Line(line) => json!(line),
            Self::Proposal(proposal) => json!(proposal),
        }
    }

    /// The answer without effect: the order, the line, the punishment unchanged.
    pub fn neutral_answer(&self) -> Value {
        match self {
            Self::Servers(input) => unchanged_order(input.candidates().len()),
            Self::Worlds(input) => unchanged_order(input.candidates().len()),
            Self::Line(_) => json!(chat::Verdict::default()),
            Self::Proposal(_) => json!(punishment::Verdict::default()),
        }
    }
}

fn unchanged_order(candidates: usize) -> Value {
    json!({"order": (0..candidates).collect::<Vec<_>>()})
}
