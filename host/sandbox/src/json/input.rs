//! The input of a call as JSON.

use super::answered::{parse_request, request_json};
use super::ranking;
use super::read::read;
use crate::contract::events::Event;
use crate::contract::schedules::Timer;
use crate::contract::{Point, chat, economy, login, punishment, queue};
use crate::operation::{Answered, AnyAnswer, AnyInput, Handled};
use serde_json::{Value, json};
use std::sync::Arc;

impl AnyInput {
    /// Reads the input of a point: a line, a proposal, an event, a request, a tick (which names its
    /// `schedule`), a timer, a player who joins, a change of balances, a ticket, or a match request with `servers` or
    /// `worlds`, their regions by name and their texts beside the numbers.
    ///
    /// # Errors
    /// Description of the invalid part, and its path.
    pub fn parse(point: Point, input: Value) -> Result<Self, String> {
        Ok(match point {
            Point::Chat => Self::Line(Arc::new(read(input)?)),
            Point::Punishment => Self::Proposal(Arc::new(read(input)?)),
            Point::Matchmaking => ranking::parse(read(input)?)?,
            Point::Events => Self::Event(Arc::new(event(input)?)),
            Point::Endpoints => Self::Request(Arc::new(parse_request(input)?)),
            Point::Schedules if input.get("schedule").is_some() => Self::Tick(Arc::new(read(input)?)),
            Point::Schedules => Self::Timer(Arc::new(timer(input)?)),
            Point::Login => Self::Attempt(Arc::new(read(input)?)),
            Point::Economy => Self::Change(Arc::new(read(input)?)),
            Point::Queue => Self::Ticket(Arc::new(read(input)?)),
        })
    }

    /// The same input as JSON; [`AnyInput::parse`] reads it back.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Servers(input) => ranking::servers(input),
            Self::Worlds(input) => ranking::worlds(input),
            Self::Line(line) => json!(line),
            Self::Proposal(proposal) => json!(proposal),
            Self::Event(event) => json!(event),
            Self::Request(request) => request_json(request),
            Self::Tick(tick) => json!(tick),
            Self::Timer(timer) => json!(timer),
            Self::Attempt(attempt) => json!(attempt),
            Self::Change(change) => json!(change),
            Self::Ticket(ticket) => json!(ticket),
        }
    }

    /// The answer without effect: the order, the line, the punishment unchanged.
    pub fn neutral_answer(&self) -> Value {
        match self {
            Self::Servers(input) => unchanged_order(input.candidates().len()),
            Self::Worlds(input) => unchanged_order(input.candidates().len()),
            Self::Line(_) => json!(chat::Verdict::default()),
            Self::Proposal(_) => json!(punishment::Verdict::default()),
            Self::Event(_) | Self::Tick(_) | Self::Timer(_) => Handled::default().to_json(),
            Self::Request(_) => Answered::default().to_json(),
            Self::Attempt(_) => AnyAnswer::Login(login::Decision::default()).to_json(),
            Self::Change(_) => AnyAnswer::Economy(economy::Decision::default()).to_json(),
            Self::Ticket(_) => AnyAnswer::Queue(queue::Decision::Admit(0)).to_json(),
        }
    }
}

fn unchanged_order(candidates: usize) -> Value {
    json!({"order": (0..candidates).collect::<Vec<_>>()})
}

/// Reads a timer, whose payload may be left out.
fn timer(mut input: Value) -> Result<Timer, String> {
    let Value::Object(timer) = &mut input else { return Err("a timer must be a JSON object".to_owned()) };
    timer.entry("payload").or_insert_with(|| json!({}));
    read(input)
}

/// Reads an event. What a case leaves out follows from its `data`: the type and the time are in it, too.
fn event(mut input: Value) -> Result<Event, String> {
    let Value::Object(event) = &mut input else { return Err("an event must be a JSON object".to_owned()) };
    let data = event.entry("data").or_insert_with(|| json!({}));
    let Value::Object(data) = data else { return Err("`data`: must be a JSON object".to_owned()) };
    let mut data = data.clone();
    for field in ["type", "at"] {
        match (event.get(field).cloned(), data.get(field).cloned()) {
            (Some(value), None) => drop(data.insert(field.to_owned(), value)),
            (None, Some(value)) => drop(event.insert(field.to_owned(), value)),
            _ => {}
        }
    }
    let player = event.get("playerUuid").or_else(|| data.get("playerUuid")).filter(|player| !player.is_null()).cloned();
    for (field, value) in [("playerUuid", player.clone()), ("playerName", data.get("playerName").cloned())] {
        if let Some(value) = value {
            event.entry(field).or_insert(value);
        }
    }
    event.entry("id").or_insert_with(|| json!("case"));
    event.entry("key").or_insert_with(|| player.unwrap_or_else(|| json!("network")));
    event.insert("data".to_owned(), Value::Object(data));
    read(input)
}
