//! How large answers are.

use std::io;

use axum::body::{Body, Bytes};
use axum::response::Response;
use serde::Serialize;

pub(crate) use crate::bounds::ANSWER_LIMIT;

/// Answers of up to so many bytes are small: most of one fits into its socket.
const SMALL_ANSWER: usize = 64 * 1024;

/// What lists of large items leave of it for the rest of the answer.
const REST: usize = 256 * 1024;

/// On a response: its body, where that is large and in memory.
#[derive(Clone, Debug)]
pub(crate) struct LargeAnswer(pub(crate) Bytes);

/// Answers bytes that are in memory.
pub(crate) fn set_body(response: &mut Response, bytes: Bytes) {
    if bytes.len() > SMALL_ANSWER {
        response.extensions_mut().insert(LargeAnswer(bytes.clone()));
    }
    *response.body_mut() = Body::from(bytes);
}

/// The bytes of a value as JSON.
pub(crate) fn json_size(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    // Counting cannot fail, and what has no JSON has no size.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// The bytes of all these values as JSON.
pub(crate) fn json_sizes<T: Serialize>(values: impl IntoIterator<Item = T>) -> i64 {
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

/// What is left for the items of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerBudget(usize);

impl Default for AnswerBudget {
    fn default() -> Self {
        Self(ANSWER_LIMIT - REST)
    }
}

impl AnswerBudget {
    /// Takes an item of so many bytes; false where it does not fit.
    pub(crate) fn take(&mut self, bytes: usize) -> bool {
        let left = self.0.checked_sub(bytes.saturating_add(1));
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// Logs an answer that is larger than any may be: a bound is missing somewhere.
pub(super) fn check(bytes: usize) {
    if bytes > ANSWER_LIMIT {
        tracing::error!(bytes, "an answer is larger than the {ANSWER_LIMIT} bytes that any may have");
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
