//! Sizes of responses.

use std::io;

use axum::body::{Body, Bytes};
use axum::response::Response;
use serde::Serialize;

pub use crate::bounds::ANSWER_LIMIT;
use crate::values::NetworkId;

/// Maximum size of a small response: most of it fits into the socket.
const SMALL_ANSWER: usize = 64 * 1024;

/// Part of it that lists of large items leave for the rest of the response.
const REST: usize = 256 * 1024;

/// Response extension: its body, if large and in memory.
#[derive(Clone, Debug)]
pub struct LargeAnswer(pub Bytes);

/// Response extension: network whose memory the body takes, if the request is not that network's by itself.
#[derive(Clone, Copy, Debug)]
pub struct AnswerOf(pub NetworkId);

/// Sets a body of bytes in memory.
pub fn set_body(response: &mut Response, bytes: Bytes) {
    if bytes.len() > SMALL_ANSWER {
        response.extensions_mut().insert(LargeAnswer(bytes.clone()));
    }
    *response.body_mut() = Body::from(bytes);
}

/// Size of a value as JSON, in bytes.
pub fn json_size(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    // Counting cannot fail, and a value without JSON has no size.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// Size of all these values as JSON, in bytes.
pub fn json_sizes<T: Serialize>(values: impl IntoIterator<Item = T>) -> i64 {
    values.into_iter().map(|value| json_size(&value) as i64).sum()
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Remaining size for the items of a response.
#[derive(Clone, Copy, Debug)]
pub struct AnswerBudget(usize);

impl Default for AnswerBudget {
    fn default() -> Self {
        Self(ANSWER_LIMIT - REST)
    }
}

impl AnswerBudget {
    /// Takes an item of this size; false if it does not fit.
    pub fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes.saturating_add(1));
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// Logs a response larger than allowed: a limit is missing somewhere.
pub(super) fn check(bytes: usize) {
    if bytes > ANSWER_LIMIT {
        tracing::error!(bytes, "a response exceeds the maximum of {ANSWER_LIMIT} bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sizes_are_those_of_the_json() {
        for value in [json!("a\"b\u{1}ä"), json!({"a": [1, null]}), json!("")] {
            assert_eq!(json_size(&value), value.to_string().len());
        }
    }

    #[test]
    fn a_budget_takes_what_fits() {
        let mut budget = AnswerBudget(10);
        assert_eq!([budget.take(4), budget.take(4), budget.take(0)], [true, true, false]);
    }
}
