//! Requests to endpoints and their answers as JSON.
//!
//! `body` is the JSON of a body whose content type is JSON; any other is base64 in `bodyBase64`.

use super::handled::{parse_state, state_json};
use super::read::read;
use crate::contract::effects::Effect;
use crate::contract::endpoints::{Caller, Request, Response};
use crate::contract::events::Failure;
use crate::operation::Answered;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Map, Value, json};

const TYPE: &str = "content-type";
const JSON: &str = "application/json";

fn is_json(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(JSON))
}

/// `body` and `bodyBase64`.
fn body_json(body: &[u8], content_type: Option<&str>, is_exact: bool) -> (Value, Value) {
    if body.is_empty() {
        return (Value::Null, Value::Null);
    }
    let value = content_type.filter(|kind| is_json(kind)).and_then(|_| serde_json::from_slice::<Value>(body).ok());
    let is_same = |value: &Value| !is_exact || serde_json::to_vec(value).is_ok_and(|text| text == body);
    match value.filter(is_same) {
        // Null would read as no body.
        Some(value) if !value.is_null() => (value, Value::Null),
        _ => (Value::Null, BASE64.encode(body).into()),
    }
}

fn parse_body(body: Option<Value>, base64: Option<&str>) -> Result<Vec<u8>, String> {
    match (body, base64) {
        (Some(_), Some(_)) => Err("has either a `body` or a `bodyBase64`".to_owned()),
        (Some(body), None) => serde_json::to_vec(&body).map_err(|error| error.to_string()),
        (None, Some(text)) => BASE64.decode(text).map_err(|error| format!("`bodyBase64`: {error}")),
        (None, None) => Ok(Vec::new()),
    }
}

/// A request as JSON; [`parse_request`] reads the same back.
pub(super) fn request_json(request: &Request) -> Value {
    let content_type = request.headers.iter().find(|(name, _)| name == TYPE).map(|(_, value)| value.as_str());
    let (body, base64) = body_json(&request.body, content_type, true);
    let parameters = request.parameters.iter().map(|(name, value)| (name.clone(), json!(value)));
    let mut text = json!({
        "endpoint": request.endpoint,
        "method": request.method,
        "path": request.path,
        "parameters": parameters.collect::<Map<_, _>>(),
        "query": request.query,
        "headers": request.headers,
        "body": body,
        "bodyBase64": base64,
        "dedupe": request.dedupe,
        "caller": request.caller,
        "addressHash": request.address_hash,
    });
    if let Some(address) = &request.address {
        text["address"] = json!(address);
    }
    text
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RequestText {
    endpoint: String,
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    parameters: Map<String, Value>,
    #[serde(default)]
    query: Vec<(String, String)>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    body: Option<Value>,
    #[serde(default)]
    body_base64: Option<String>,
    #[serde(default)]
    dedupe: Option<String>,
    #[serde(default)]
    caller: Caller,
    #[serde(default)]
    address_hash: String,
    #[serde(default)]
    address: Option<String>,
}

/// Reads a request. The method that a case leaves out is POST, and the path is the endpoint's name; a `body` has the content
/// type of JSON.
pub(super) fn parse_request(input: Value) -> Result<Request, String> {
    let text: RequestText = read(input)?;
    let mut headers = text.headers;
    if text.body.is_some() && !headers.iter().any(|(name, _)| name == TYPE) {
        headers.insert(0, (TYPE.to_owned(), JSON.to_owned()));
    }
    let parameters = text.parameters.into_iter().map(|(name, value)| match value {
        Value::String(value) => Ok((name, value)),
        _ => Err(format!("`parameters.{name}`: must be a text")),
    });
    Ok(Request {
        method: text.method.unwrap_or_else(|| "POST".to_owned()),
        path: text.path.unwrap_or_else(|| text.endpoint.clone()),
        endpoint: text.endpoint,
        parameters: parameters.collect::<Result<_, _>>()?,
        query: text.query,
        headers,
        body: parse_body(text.body, text.body_base64.as_deref())?,
        dedupe: text.dedupe,
        caller: text.caller,
        address_hash: text.address_hash,
        address: text.address,
    })
}

impl Answered {
    /// The answer as JSON, without the call's reads.
    pub(crate) fn to_json(&self) -> Value {
        let response = match &self.answer {
            Ok(response) => response,
            Err(failure) => return json!({failure.code(): failure.reason()}),
        };
        let content_type = response.headers.iter().find(|(name, _)| name == TYPE).map(|(_, value)| value.as_str());
        let headers: Vec<_> = response.headers.iter().filter(|(name, _)| name != TYPE).collect();
        let (body, base64) = body_json(&response.body, content_type, false);
        let mut answer = json!({
            "status": response.status,
            "headers": headers,
            "contentType": content_type,
            "body": body,
            "bodyBase64": base64,
            "effects": response.effects,
        });
        if let Some(state) = state_json(&self.state) {
            answer["state"] = state;
        }
        answer
    }

    /// Reads an expected answer. Without a status it is 200, or 204 without a body.
    pub(crate) fn parse(answer: Value) -> Result<Self, String> {
        let text: ResponseText = read(answer)?;
        let has_response = text.status.is_some() || text.body.is_some() || text.body_base64.is_some();
        let is_alone = !has_response && text.effects.is_none() && text.state.is_empty();
        let answer = match (text.retry, text.reject) {
            (Some(reason), None) if is_alone => Err(Failure::Retry(reason)),
            (None, Some(reason)) if is_alone => Err(Failure::Reject(reason)),
            (None, None) => {
                let content_type = text.content_type.or_else(|| text.body.is_some().then(|| JSON.to_owned()));
                let body = parse_body(text.body, text.body_base64.as_deref())?;
                let mut headers = text.headers;
                headers.extend(content_type.map(|kind| (TYPE.to_owned(), kind)));
                let status = text.status.unwrap_or(if body.is_empty() { 204 } else { 200 });
                Ok(Response { status, headers, body, effects: text.effects.unwrap_or_default() })
            }
            _ => {
                return Err(
                    "needs `status`, `body`, `effects` and `state`, or else `retry` or `reject` alone".to_owned()
                );
            }
        };
        Ok(Self { answer, state: parse_state(text.state)? })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ResponseText {
    status: Option<u16>,
    #[serde(default)]
    headers: Vec<(String, String)>,
    content_type: Option<String>,
    body: Option<Value>,
    body_base64: Option<String>,
    effects: Option<Vec<Effect>>,
    #[serde(default)]
    state: Map<String, Value>,
    retry: Option<String>,
    reject: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_reads_back_from_its_json() {
        let texts = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<Vec<_>>()
        };
        for (content_type, body) in [
            ("application/json", &br#"{"id":"8812"}"#[..]),
            // Other spaces than the hub's: the bytes are kept.
            ("application/json; charset=utf-8", br#"{ "id": "8812" }"#),
            ("application/json", b"null"),
            ("application/json", b"{"),
            ("text/plain", b"a"),
            ("text/plain", b""),
        ] {
            let request = Request {
                endpoint: "purchase".into(),
                method: "PUT".into(),
                path: "purchases/8812".into(),
                parameters: texts(&[("id", "8812")]),
                query: texts(&[("test", "1"), ("test", "2")]),
                headers: texts(&[(TYPE, content_type), ("x-signature", "9f")]),
                body: body.to_vec(),
                dedupe: Some("8812".into()),
                address_hash: "b1946ac9".into(),
                address: Some("192.0.2.1".into()),
                ..Request::default()
            };
            assert_eq!(parse_request(request_json(&request)).unwrap(), request, "{content_type}");
        }
        let short = parse_request(json!({"endpoint": "vote", "body": {"a": 1}})).unwrap();
        assert_eq!((short.method.as_str(), short.path.as_str(), &short.body[..]), ("POST", "vote", &br#"{"a":1}"#[..]));
        assert!(parse_request(json!({"endpoint": "vote", "body": 1, "bodyBase64": "MQ=="})).is_err());
        assert!(
            parse_request(json!({"endpoint": "vote", "parameters": {"a": 1}})).unwrap_err().contains("parameters.a")
        );
    }

    #[test]
    fn an_answer_reads_back_from_its_json() {
        for answer in [
            json!({"retry": "the shop is closed"}),
            json!({"reject": "no such kit"}),
            json!({"status": 200, "headers": [["cache-control", "no-store"]], "contentType": JSON, "body": {"ok": true},
                "bodyBase64": null, "effects": [{"cancelTimer": {"key": "k"}}], "state": {"a": "text"}}),
            json!({"status": 204, "headers": [], "contentType": null, "body": null, "bodyBase64": null, "effects": []}),
            json!({"status": 200, "headers": [], "contentType": "text/plain", "body": null, "bodyBase64": "YQ==",
                "effects": []}),
        ] {
            assert_eq!(Answered::parse(answer.clone()).unwrap().to_json(), answer);
        }
        assert_eq!(Answered::parse(json!({})).unwrap(), Answered::default());
        assert_eq!(Answered::parse(json!({"body": 1})).unwrap().to_json()["contentType"], JSON);
        assert!(Answered::parse(json!({"status": 200, "retry": "x"})).is_err());
    }
}
