//! Conversion of recorded calls to test cases.

use hub_sandbox::test_case::{TestCase, one_line};
use reqwest::StatusCode;
use serde_json::{Map, Value, json};

use crate::cli::client::HubClient;
use crate::cli::module::POINTS;

/// Finds a call of this point, or of any point.
pub(super) async fn find(hub: &HubClient, point: Option<&str>, id: &str) -> anyhow::Result<Value> {
    let points = point.map_or_else(|| POINTS.to_vec(), |point| vec![point]);
    for point in &points {
        match hub.get(&format!("/api/manage/extension-points/{point}/calls/{id}")).await {
            Err(error) if error.status() == Some(StatusCode::NOT_FOUND) && points.len() > 1 => {}
            call => return Ok(call?),
        }
    }
    anyhow::bail!("the hub has no recorded call {id}")
}

/// Returns a module's part of a call.
pub(super) fn part<'a>(call: &'a Value, module: &str) -> Option<&'a Value> {
    parts(call).find(|part| part["name"] == module)
}

/// Returns the parts of the called modules.
pub(super) fn parts(call: &Value) -> impl Iterator<Item = &Value> {
    call["modules"].as_array().into_iter().flatten().filter(|part| part["outcome"] != "skipped")
}

/// True if a part ends the same when repeated: it was called, and neither delayed by others nor impossible to load.
pub(super) fn is_repeatable(part: &Value) -> bool {
    !["late", "unavailable", "skipped"].contains(&part["outcome"].as_str().unwrap_or_default())
}

/// Returns the answer of a part, or of the whole call.
pub(super) fn answer(call: &Value, part: Option<&Value>) -> Value {
    match part {
        Some(part) if !part["failure"].is_null() => json!({"failure": part["failure"]["code"]}),
        Some(part) => part["output"].clone(),
        None => call["ruling"].clone(),
    }
}

/// Formats a test case with a part's input and answer, or those of the whole call.
pub(super) fn case(call: &Value, part: Option<&Value>, config: Option<&Map<String, Value>>) -> String {
    let id = call["callId"].as_str().unwrap_or_default();
    let name = match part {
        Some(part) => format!("{} {}, call {id}", part["name"].as_str().unwrap_or_default(), part["version"]),
        None => format!("call {id}"),
    };
    let config = config.map(|config| Value::Object(config.clone()));
    let config = config.or_else(|| Some(part?["config"].clone())).unwrap_or_else(|| json!({}));
    let input = part.map_or(&call["input"], |part| &part["input"]);
    let members = [
        ("name", json!(name)),
        ("point", call["point"].clone()),
        ("callId", call["callId"].clone()),
        ("networkId", call["networkId"].clone()),
        ("nowMs", call["at"].clone()),
        ("seed", call["seed"].clone()),
        ("config", config),
        ("input", input.clone()),
        ("hostCalls", Value::Array(host_calls(call, part))),
        ("expect", answer(call, part)),
    ];
    let lines = members.map(|(member, value)| format!("    \"{member}\": {}", one_line(&value)));
    format!("  {{\n{}\n  }}", lines.join(",\n"))
}

/// Parses the case, ready to run.
pub(super) fn read_case(
    call: &Value,
    part: Option<&Value>,
    config: Option<&Map<String, Value>>,
) -> anyhow::Result<TestCase> {
    let cases = TestCase::parse_all(&format!("[{}]", case(call, part, config)))?;
    cases.into_iter().next().ok_or_else(|| anyhow::anyhow!("the hub's answer contains no call"))
}

/// Host calls of a part, then calls of the chain's other modules about the network, whose answers are valid for all.
/// Stores belong to one module each.
fn host_calls(call: &Value, part: Option<&Value>) -> Vec<Value> {
    let calls = |part: &Value| part["hostCalls"].as_array().cloned().unwrap_or_default();
    let of_store = |record: &Value| record["call"].as_str().is_some_and(|call| call.starts_with("store"));
    let own = part.map(calls).unwrap_or_default();
    let others = parts(call).filter(|other| part.is_none_or(|part| part["name"] != other["name"]));
    let of_network = others.flat_map(calls).filter(|record| !of_store(record));
    own.into_iter().chain(of_network).collect()
}

/// Appends the cases with new names to the text of a file. Returns the text and the number of added cases.
pub(super) fn append(text: &str, cases: &[String]) -> anyhow::Result<(String, usize)> {
    let text = if text.trim().is_empty() { "[]" } else { text };
    let known: Vec<Value> = serde_json::from_str(text)?;
    let name = |case: &str| serde_json::from_str::<Value>(case).map(|case| case["name"].clone()).unwrap_or_default();
    let is_new = |case: &&String| known.iter().all(|known| known["name"] != name(case));
    let new: Vec<_> = cases.iter().filter(is_new).map(String::as_str).collect();
    if new.is_empty() {
        return Ok((text.to_owned(), 0));
    }
    let before = text.trim_end().strip_suffix(']').unwrap_or_default().trim_end();
    let comma = if known.is_empty() { "" } else { "," };
    Ok((format!("{before}{comma}\n{}\n]\n", new.join(",\n")), new.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call() -> Value {
        let part = |name: &str, key: &str| {
            json!({
                "name": name, "version": 3, "config": {"of": name}, "outcome": "ok", "failure": null,
                "output": {"decision": "allow", "mute": null}, "hostCalls": [
                    {"call": "storeGet", "key": key, "answer": {"Ok": {"value": null}}},
                    {"call": "online", "player": key, "answer": {"Ok": {"online": null}}},
                ],
                "input": {"player": {"uuid": "u", "name": "n"}, "message": name, "serverId": "s", "serverType": "t"},
            })
        };
        let input = part("call", "")["input"].clone();
        json!({
            "callId": "c1", "networkId": "w", "point": "chat", "at": 5, "seed": "18446744073709551615",
            "input": input, "ruling": {"decision": {"refuse": "no"}, "mute": null},
            "modules": [part("a", "ka"), part("b", "kb"), {"name": "c", "outcome": "skipped"}],
        })
    }

    #[test]
    fn a_call_becomes_the_case_of_one_of_its_modules() {
        let call = call();
        let case: Value = serde_json::from_str(&case(&call, part(&call, "b"), None)).unwrap();
        assert_eq!((&case["name"], &case["config"]), (&json!("b 3, call c1"), &json!({"of": "b"})));
        assert_eq!((&case["input"]["message"], &case["expect"]["decision"]), (&json!("b"), &json!("allow")));
        let asked: Vec<_> = case["hostCalls"].as_array().unwrap().iter().map(|record| record["call"].clone()).collect();
        assert_eq!(asked, ["storeGet", "online", "online"]);
        assert_eq!(case["hostCalls"][2]["player"], "ka");
        let read = read_case(&call, None, None).unwrap();
        assert_eq!((read.name.as_str(), read.context(&read.steps[0]).seed), ("call c1", u64::MAX));
        assert_eq!(read.steps[0].expect.as_ref().unwrap().to_json()["decision"], json!({"refuse": "no"}));
        assert_eq!(parts(&call).count(), 2);
    }

    #[test]
    fn cases_are_added_once() {
        let call = call();
        let (a, b) = (case(&call, part(&call, "a"), None), case(&call, part(&call, "b"), None));
        let (text, new) = append("", std::slice::from_ref(&a)).unwrap();
        assert_eq!((new, TestCase::parse_all(&text).unwrap().len()), (1, 1));
        let (more, new) = append(&text, &[a.clone(), b]).unwrap();
        assert_eq!((new, TestCase::parse_all(&more).unwrap().len()), (1, 2));
        assert!(more.starts_with(text.trim_end().trim_end_matches(']').trim_end()));
        assert_eq!(append(&more, &[a]).unwrap(), (more, 0));
        assert!(append("{}", &[]).is_err());
    }
}
