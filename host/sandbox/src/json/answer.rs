//! The answer of a call as JSON.

use crate::operation::AnyAnswer;
use crate::report::{CallFailure, CallReport};
use serde_json::{Value, json};

impl AnyAnswer {
    /// `{"order": […]}` or `{"refused": reason}` for matchmaking, `{"effects": […], "state": {…}}` or `{"retry": reason}`
    /// or `{"reject": reason}` for handlers and schedules, that of a response for endpoints, `{"decision": …}` or the
    /// contract's verdict for the others.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Ranked(Ok(order)) => json!({"order": order}),
            Self::Ranked(Err(refusal)) => json!({"refused": refusal.reason}),
            Self::Chat(verdict) => json!(verdict),
            Self::Review(verdict) => json!(verdict),
            Self::Handled(handled) => handled.to_json(),
            Self::Answered(answered) => answered.to_json(),
            Self::Login(decision) => json!({"decision": decision}),
            Self::Economy(decision) => json!({"decision": decision}),
            Self::Queue(decision) => json!({"decision": decision}),
        }
    }
}

impl<T: Clone + Into<AnyAnswer>> CallReport<T> {
    /// The answer, or `{"failure": code}`.
    pub fn result_json(&self) -> Value {
        self.result.as_ref().map_or_else(CallFailure::to_json, |answer| answer.clone().into().to_json())
    }
}

impl CallFailure {
    /// `{"failure": code}`.
    pub fn to_json(&self) -> Value {
        json!({"failure": self.code()})
    }
}
