//! Files of test cases: a JSON array of cases, each with an input and the expected answer.

use super::answer::Answer;
use super::fixture::{FixtureHost, Fixtures};
use super::host::TestCaseHost;
use crate::contract::{CallContext, Point};
use crate::host::HostCallRecord;
use crate::operation::AnyInput;
use crate::recorded::RecordedHost;
use serde::Deserialize;
use serde_json::{Map, Value};
use serde_path_to_error::{Path, Segment};
use std::sync::Arc;

/// The time of a case without one.
const DEFAULT_NOW_MS: u64 = 1_700_000_000_000;

/// The expected answers of a module, in one call or in several that share a store.
#[derive(Clone)]
pub struct TestCase {
    /// Description of the case.
    pub name: String,
    /// Point of the module's calls.
    pub point: Point,
    /// The module's configuration.
    pub config: Map<String, Value>,
    /// The calls, in order. At least one.
    pub steps: Vec<Step>,
    call_id: String,
    network_id: String,
    seed: u64,
    host: HostData,
}

/// Source of the answers of a case's host.
#[derive(Clone)]
enum HostData {
    Described(Fixtures),
    Recorded(Vec<HostCallRecord>),
}

/// One call of a case.
#[derive(Clone)]
pub struct Step {
    /// The time of the call.
    pub now_ms: u64,
    /// Input of the module.
    pub input: AnyInput,
    /// Expected answer; `None` if the file has none yet.
    pub expect: Option<Answer>,
}

/// A malformed file: the invalid case, the path, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TestCaseError(pub(super) String);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CaseText {
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
    steps: Option<Vec<StepText>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StepText {
    now_ms: Option<u64>,
    input: Value,
    expect: Option<Value>,
}

/// A number, or its text: JavaScript can't write every 64-bit number.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a seed is a whole number, or the text of one")]
enum Seed {
    Number(u64),
    Text(String),
}

impl TestCase {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// The invalid case, its path, and the reason.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, TestCaseError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let cases: Vec<CaseText> = serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let path = error.path().clone();
            locate(text, &path, &error.into_inner())
        })?;
        json.end().map_err(|error| TestCaseError(error.to_string()))?;
        let cases = cases.into_iter().enumerate();
        cases.map(|(at, case)| case.check().map_err(|(name, why)| error_in(at, Some(&name), &why))).collect()
    }

    /// Its host, before the first call.
    pub fn host(&self) -> TestCaseHost {
        match &self.host {
            HostData::Described(fixtures) => TestCaseHost::Described(FixtureHost::new(fixtures.clone())),
            HostData::Recorded(calls) => TestCaseHost::Recorded(Arc::new(RecordedHost::replay(calls.clone()))),
        }
    }

    /// The context of a step's call.
    pub fn context(&self, step: &Step) -> CallContext {
        CallContext {
            call_id: self.call_id.clone(),
            network_id: self.network_id.clone(),
            now_ms: step.now_ms,
            seed: self.seed,
            config: Value::Object(self.config.clone()).to_string(),
            root_id: self.call_id.clone(),
            ..CallContext::default()
        }
    }
}

impl CaseText {
    /// The case, or its name and a description of the invalid part.
    fn check(self) -> Result<TestCase, (String, String)> {
        let name = self.name.clone();
        self.case().map_err(|why| (name, why))
    }

    fn case(self) -> Result<TestCase, String> {
        let point = self.point;
        let mut now_ms = self.now_ms.unwrap_or(DEFAULT_NOW_MS);
        let steps = match (self.input, self.steps) {
            (Some(input), None) => vec![step(point, "", now_ms, input, self.expect)?],
            (None, Some(_)) if self.expect.is_some() => {
                return Err("`expect` belongs in each of the `steps`".to_owned());
            }
            (None, Some(steps)) if !steps.is_empty() => {
                let mut checked = vec![];
                for (at, text) in steps.into_iter().enumerate() {
                    now_ms = text.now_ms.unwrap_or(now_ms);
                    checked.push(step(point, &format!("steps[{at}]."), now_ms, text.input, text.expect)?);
                }
                checked
            }
            _ => return Err("needs either an `input` or a list of `steps`".to_owned()),
        };
        let seed = match self.seed {
            None => 0,
            Some(Seed::Number(seed)) => seed,
            Some(Seed::Text(text)) => text.parse().map_err(|_| format!("`seed`: `{text}` is no whole number"))?,
        };
        let host = match (self.hub, self.host_calls) {
            (Some(_), Some(_)) => return Err("has either a `hub` or recorded `hostCalls`".to_owned()),
            (hub, None) => HostData::Described(hub.unwrap_or_default()),
            (None, Some(calls)) => HostData::Recorded(calls),
        };
        Ok(TestCase {
            name: self.name,
            point,
            config: self.config,
            steps,
            call_id: self.call_id.unwrap_or_else(|| "case".to_owned()),
            network_id: self.network_id.unwrap_or_else(|| "case".to_owned()),
            seed,
            host,
        })
    }
}

fn step(point: Point, place: &str, now_ms: u64, input: Value, expect: Option<Value>) -> Result<Step, String> {
    let input = AnyInput::parse(point, input).map_err(|why| format!("`{place}input`: {why}"))?;
    let expect = expect.map(|expect| Answer::parse(point, expect)).transpose();
    Ok(Step { now_ms, input, expect: expect.map_err(|why| format!("`{place}expect`: {why}"))? })
}

/// The error with its case and path, if the file is JSON.
fn locate(text: &str, path: &Path, error: &serde_json::Error) -> TestCaseError {
    let Ok(all) = serde_json::from_str::<Value>(text) else { return TestCaseError(format!("not valid JSON: {error}")) };
    if !all.is_array() {
        return TestCaseError("not a JSON array of cases".to_owned());
    }
    let mut segments = path.iter();
    let Some(Segment::Seq { index }) = segments.next() else { return TestCaseError(error.to_string()) };
    let rest = segments.map(|segment| match segment {
        Segment::Seq { index } => format!("[{index}]"),
        segment => format!(".{segment}"),
    });
    let place = rest.collect::<String>();
    let place = place.trim_start_matches('.');
    let why = if place.is_empty() { error.to_string() } else { format!("`{place}`: {error}") };
    error_in(*index, all[*index]["name"].as_str(), &why)
}

fn error_in(at: usize, name: Option<&str>, why: &str) -> TestCaseError {
    let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
    TestCaseError(format!("case {}{name}: {why}", at + 1))
}
