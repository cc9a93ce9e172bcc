//! The answer of a handler as JSON: `{"effects": […], "state": {…}}`, `{"retry": reason}` or `{"reject": reason}`.
//!
//! `state` has the keys that the call wrote: their value, null for a deleted one, `{"add": 5}` for a counter;
//! `{"value": …, "ttlMs": …}` or `{"add": …, "ttlMs": …}` if they expire. It is left out if there are none.

use super::read::read;
use crate::contract::effects::Effect;
use crate::contract::events::Failure;
use crate::contract::state::{StateChanges, StateWrite};
use crate::operation::Handled;
use serde::Deserialize;
use serde_json::{Map, Value, json};

impl Handled {
    /// The answer as JSON, without the call's reads.
    pub(crate) fn to_json(&self) -> Value {
        let effects = match &self.answer {
            Ok(effects) => effects,
            Err(failure) => return json!({failure.code(): failure.reason()}),
        };
        let mut answer = json!({"effects": effects});
        if let Some(state) = state_json(&self.state) {
            answer["state"] = state;
        }
        answer
    }

    /// Reads an expected answer.
    pub(crate) fn parse(answer: Value) -> Result<Self, String> {
        let Text { effects, state, retry, reject } = read(answer)?;
        let answer = match (effects, retry, reject) {
            (None, Some(reason), None) if state.is_empty() => Err(Failure::Retry(reason)),
            (None, None, Some(reason)) if state.is_empty() => Err(Failure::Reject(reason)),
            (effects, None, None) => Ok(effects.unwrap_or_default()),
            _ => return Err("needs `effects` and `state`, or else `retry` or `reject` alone".to_owned()),
        };
        Ok(Self { answer, state: parse_state(state)? })
    }
}

/// Writes of a call; none without any.
pub(super) fn state_json(state: &StateChanges) -> Option<Value> {
    let writes = state.writes.iter().map(|write| (write.key().to_owned(), write_json(write)));
    (!state.writes.is_empty()).then(|| writes.collect::<Map<_, _>>().into())
}

/// Reads what a call is expected to write.
pub(super) fn parse_state(state: Map<String, Value>) -> Result<StateChanges, String> {
    let writes = state.into_iter().map(|(key, value)| {
        let write = read(value).map_err(|why| format!("`state.{key}`: {why}"))?;
        Ok(written(key, write))
    });
    Ok(StateChanges { reads: Vec::new(), writes: writes.collect::<Result<_, String>>()? })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    effects: Option<Vec<Effect>>,
    #[serde(default)]
    state: Map<String, Value>,
    retry: Option<String>,
    reject: Option<String>,
}

/// Outcome of a key.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text, null, {\"add\": number} or {\"value\": text}, with a \"ttlMs\" if it expires")]
enum WriteText {
    Deleted(()),
    Set(String),
    SetFor {
        value: String,
        #[serde(rename = "ttlMs")]
        ttl_ms: Option<u64>,
    },
    Added {
        add: i64,
        #[serde(rename = "ttlMs")]
        ttl_ms: Option<u64>,
    },
}

fn written(key: String, write: WriteText) -> StateWrite {
    match write {
        WriteText::Deleted(()) => StateWrite::Delete { key },
        WriteText::Set(value) => StateWrite::Set { key, value, ttl_ms: None },
        WriteText::SetFor { value, ttl_ms } => StateWrite::Set { key, value, ttl_ms },
        WriteText::Added { add, ttl_ms } => StateWrite::Increment { key, by: add, ttl_ms },
    }
}

fn write_json(write: &StateWrite) -> Value {
    match write {
        StateWrite::Set { value, ttl_ms: None, .. } => json!(value),
        StateWrite::Set { value, ttl_ms, .. } => json!({"value": value, "ttlMs": ttl_ms}),
        StateWrite::Increment { by, ttl_ms: None, .. } => json!({"add": by}),
        StateWrite::Increment { by, ttl_ms, .. } => json!({"add": by, "ttlMs": ttl_ms}),
        StateWrite::Delete { .. } => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reads_back_from_its_json() {
        for answer in [
            json!({"effects": []}),
            json!({"retry": "the shop is closed"}),
            json!({"reject": "no such kit"}),
            json!({"effects": [{"cancelTimer": {"key": "k"}, "optional": true}],
                "state": {"a": "text", "b": null, "c": {"add": 5}, "d": {"value": "x", "ttlMs": 9}, "e": {"add": -1, "ttlMs": 7}}}),
        ] {
            assert_eq!(Handled::parse(answer.clone()).unwrap().to_json(), answer);
        }
        assert_eq!(Handled::parse(json!({})).unwrap(), Handled::default());
        for (wrong, reason) in [
            (json!({"effects": [], "retry": "x"}), "or else"),
            (json!({"state": {"a": 1}}), "`state.a`"),
            (json!({"effects": [{"fly": {}}]}), "fly"),
        ] {
            let why = Handled::parse(wrong).unwrap_err();
            assert!(why.contains(reason), "{why}");
        }
    }
}
