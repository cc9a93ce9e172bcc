//! Files of test cases: a JSON array, each case with what the module is given and what it shall answer.

use super::{Answer, CaseHub, FixtureHost, Fixtures, Input, RecordedHost};
use crate::contract::{CallContext, Point};
use crate::host::HostCallRecord;
use serde::Deserialize;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};
use std::sync::Arc;

/// The time of a case that says none.
const NOW_MS: u64 = 1_700_000_000_000;

/// What a module shall answer, in one call or in several that share a store.
#[derive(Clone)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// Where the module is called.
    pub point: Point,
    /// The module's configuration.
    pub config: Map<String, Value>,
    /// The calls, in order. At least one.
    pub steps: Vec<Step>,
    call_id: String,
    network_id: String,
    seed: u64,
    known: Known,
}

/// What the hub of a case knows.
#[derive(Clone)]
enum Known {
    Described(Fixtures),
    Recorded(Vec<HostCallRecord>),
}

/// One call of a case.
#[derive(Clone)]
pub struct Step {
    /// The time of the call.
    pub now_ms: u64,
    /// What the module is given.
    pub input: Input,
    /// What it shall answer; none where nothing is written down yet.
    pub expect: Option<Answer>,
}

/// A file that holds no cases: which of them is wrong, where, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CaseError(pub(super) String);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    name: String,
    point: Point,
    #[serde(default)]
    config: Map<String, Value>,
    now_ms: Option<u64>,
    seed: Option<Seed>,
    call_id: Option<String>,
    network_id: Option<String>,
    hub: Option<Fixtures>,
    host_calls: Option<Vec<HostCallRecord>>,
    input: Option<Value>,
    expect: Option<Value>,
    steps: Option<Vec<WrittenStep>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenStep {
    now_ms: Option<u64>,
    input: Value,
    expect: Option<Value>,
}

/// JavaScript can't write every 64-bit number, so that the text of one will do.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a seed is a whole number, or the text of one")]
enum Seed {
    Number(u64),
    Text(String),
}

impl Case {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// Which case is wrong, where, and why.
    pub fn read_all(text: &str) -> Result<Vec<Self>, CaseError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let written: Vec<Written> = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().clone();
            misplaced(text, &path, &error.into_inner())
        })?;
        json.end().map_err(|error| CaseError(error.to_string()))?;
        let cases = written.into_iter().enumerate();
        cases.map(|(at, case)| case.checked().map_err(|(name, why)| wrong(at, Some(&name), &why))).collect()
    }

    /// Its hub, before the first call.
    pub fn hub(&self) -> CaseHub {
        match &self.known {
            Known::Described(fixtures) => CaseHub::Described(FixtureHost::new(fixtures.clone())),
            Known::Recorded(calls) => CaseHub::Recorded(Arc::new(RecordedHost::replay(calls.clone()))),
        }
    }

    /// What a call of it knows about itself.
    pub fn context(&self, step: &Step) -> CallContext {
        CallContext {
            call_id: self.call_id.clone(),
            network_id: self.network_id.clone(),
            now_ms: step.now_ms,
            seed: self.seed,
            config: Value::Object(self.config.clone()).to_string(),
        }
    }
}

impl Written {
    /// What was written makes sense; else the case's name and what does not.
    fn checked(self) -> Result<Case, (String, String)> {
        let name = self.name.clone();
        self.case().map_err(|why| (name, why))
    }

    fn case(self) -> Result<Case, String> {
        let point = self.point;
        let mut now_ms = self.now_ms.unwrap_or(NOW_MS);
        let steps = match (self.input, self.steps) {
            (Some(input), None) => vec![step(point, "", now_ms, input, self.expect)?],
            (None, Some(_)) if self.expect.is_some() => {
                return Err("`expect` belongs into each of the `steps`".to_owned());
            }
            (None, Some(steps)) if !steps.is_empty() => {
                let mut read = vec![];
                for (at, written) in steps.into_iter().enumerate() {
                    now_ms = written.now_ms.unwrap_or(now_ms);
                    read.push(step(point, &format!("steps[{at}]."), now_ms, written.input, written.expect)?);
                }
                read
            }
            _ => return Err("needs either an `input` or a list of `steps`".to_owned()),
        };
        let seed = match self.seed {
            None => 0,
            Some(Seed::Number(seed)) => seed,
            Some(Seed::Text(text)) => text.parse().map_err(|_| format!("`seed`: `{text}` is no whole number"))?,
        };
        let known = match (self.hub, self.host_calls) {
            (Some(_), Some(_)) => return Err("has either a `hub` or recorded `hostCalls`".to_owned()),
            (hub, None) => Known::Described(hub.unwrap_or_default()),
            (None, Some(calls)) => Known::Recorded(calls),
        };
        Ok(Case {
            name: self.name,
            point,
            config: self.config,
            steps,
            call_id: self.call_id.unwrap_or_else(|| "case".to_owned()),
            network_id: self.network_id.unwrap_or_else(|| "case".to_owned()),
            seed,
            known,
        })
    }
}

fn step(point: Point, place: &str, now_ms: u64, input: Value, expect: Option<Value>) -> Result<Step, String> {
    let input = Input::parse(point, input).map_err(|why| format!("`{place}input`: {why}"))?;
    let expect = expect.map(|expect| Answer::parse(point, expect)).transpose();
    Ok(Step { now_ms, input, expect: expect.map_err(|why| format!("`{place}expect`: {why}"))? })
}

/// What could not be read, with its case where the file is JSON at all.
fn misplaced(text: &str, path: &Path, error: &serde_json::Error) -> CaseError {
    let Ok(all) = serde_json::from_str::<Value>(text) else { return CaseError(format!("it is no JSON: {error}")) };
    if !all.is_array() {
        return CaseError("it is no JSON array of cases".to_owned());
    }
    let mut segments = path.iter();
    let Some(Segment::Seq { index }) = segments.next() else { return CaseError(error.to_string()) };
    let rest = segments.map(|segment| match segment {
        Segment::Seq { index } => format!("[{index}]"),
        segment => format!(".{segment}"),
    });
    let place = rest.collect::<String>();
    let place = place.trim_start_matches('.');
    let why = if place.is_empty() { error.to_string() } else { format!("`{place}`: {error}") };
    wrong(*index, all[*index]["name"].as_str(), &why)
}

fn wrong(at: usize, name: Option<&str>, why: &str) -> CaseError {
    let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
    CaseError(format!("case {}{name}: {why}", at + 1))
}
