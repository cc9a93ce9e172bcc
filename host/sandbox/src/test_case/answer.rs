//! An actual or expected answer of a module.

use crate::contract::matchmaking::Refusal;
use crate::contract::{Point, chat, economy, login, punishment, queue};
use crate::json::read;
use crate::operation::{Answered, AnyAnswer, Handled};
use crate::report::{CallFailure, CallReport};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// An answer as JSON: that of its point, or `{"failure": code}`, normalised for comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer(Value);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ranking {
    order: Option<Vec<u32>>,
    refused: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided<D> {
    decision: D,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Failed {
    failure: String,
}

fn decision<D: DeserializeOwned>(answer: Value) -> Result<D, String> {
    read::<Decided<D>>(answer).map(|decided| decided.decision)
}

impl Answer {
    /// Reads an answer of a point; missing fields are null, or empty.
    ///
    /// # Errors
    /// Description of the invalid part, and its path.
    pub fn parse(point: Point, answer: Value) -> Result<Self, String> {
        if answer.get("failure").is_some() {
            let Failed { failure } = read(answer)?;
            if CallFailure::CODES.contains(&failure.as_str()) {
                return Ok(Self(json!({"failure": failure})));
            }
            return Err(format!("`failure`: `{failure}` is none of {}", CallFailure::CODES.join(", ")));
        }
        Ok(Self(match point {
            Point::Chat => json!(read::<chat::Verdict>(answer)?),
            Point::Punishment => json!(read::<punishment::Verdict>(answer)?),
            Point::Events | Point::Schedules => Handled::parse(answer)?.to_json(),
            Point::Endpoints => Answered::parse(answer)?.to_json(),
            Point::Login => AnyAnswer::Login(decision::<login::Decision>(answer)?).to_json(),
            Point::Economy => AnyAnswer::Economy(decision::<economy::Decision>(answer)?).to_json(),
            Point::Queue => AnyAnswer::Queue(decision::<queue::Decision>(answer)?).to_json(),
            Point::Matchmaking => match read(answer)? {
                Ranking { order: Some(order), refused: None } => AnyAnswer::Ranked(Ok(order)).to_json(),
                Ranking { order: None, refused: Some(reason) } => AnyAnswer::Ranked(Err(Refusal { reason })).to_json(),
                _ => return Err("needs either an `order` or `refused`".to_owned()),
            },
        }))
    }

    /// The answer of a call.
    pub fn of(report: &CallReport<Value>) -> Self {
        Self(match &report.result {
            Ok(answer) => answer.clone(),
            Err(failure) => failure.to_json(),
        })
    }

    /// JSON of the answer.
    pub fn to_json(&self) -> &Value {
        &self.0
    }
}
