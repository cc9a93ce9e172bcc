//! What a module answers.

use super::ranked;
use crate::contract::{chat, punishment};
use crate::operation::RankAnswer;
use serde_json::{Value, json};

/// The answer of a call of any point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnyAnswer {
    /// Of a ranking.
    Ranked(RankAnswer),
    /// On a chat line.
    Chat(chat::Verdict),
    /// On a punishment.
    Review(punishment::Verdict),
}

impl AnyAnswer {
    /// As [`Sandbox::call_with`](crate::Sandbox::call_with) answers it.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Ranked(answer) => ranked(answer.clone()),
            Self::Chat(verdict) => json!(verdict),
            Self::Review(verdict) => json!(verdict),
        }
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
