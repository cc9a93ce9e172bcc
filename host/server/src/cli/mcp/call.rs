//! Calls of tools.

use futures_util::StreamExt as _;
use network_hub_client::{Method, Request};
use reqwest::Response;
use serde_json::{Map, Value};

use super::tools::{Argument, Tool};
use crate::cli::api::{Place, request_path};
use crate::cli::client::HubClient;

/// Maximum size of an answer, which a model reads at once. The largest pages are below it.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Answer of the hub as JSON, or the reason of its refusal with its code.
pub(super) async fn run(hub: &HubClient, tool: &Tool, arguments: Map<String, Value>) -> Result<String, String> {
    let request = request(hub, tool, arguments)?;
    let answer = hub.answer(request).await;
    let answer = answer.map_err(|error| format!("{}: {}", error.code(), error.message()))?;
    text(answer).await
}

fn request(hub: &HubClient, tool: &Tool, mut given: Map<String, Value>) -> Result<Request, String> {
    // Models send null for what they leave out, and the hub tells null from nothing only in bodies.
    given.retain(|name, value| {
        !value.is_null() || tool.arguments.iter().any(|it| it.name == *name && it.place == Place::Body)
    });
    for argument in tool.arguments.iter().filter(|it| it.is_required) {
        if !given.contains_key(&argument.name) {
            return Err(format!("the argument `{}` is missing", argument.name));
        }
    }
    let (mut query, mut headers, mut body) = (vec![], vec![], Map::new());
    let mut path = Map::new();
    for (name, value) in given {
        let Some(Argument { place, field, .. }) = tool.arguments.iter().find(|it| it.name == name) else {
            let names: Vec<_> = tool.arguments.iter().map(|it| format!("`{}`", it.name)).collect();
            return Err(format!("there is no argument `{name}`; it takes: {}", names.join(", ")));
        };
        match place {
            Place::Path => drop(path.insert(field.clone(), Value::String(plain(&value)))),
            Place::Query => query.extend(each(&value).into_iter().map(|value| (field.as_str(), value))),
            Place::Header => headers.push((field.as_str(), plain(&value))),
            Place::Body => drop(body.insert(field.clone(), value)),
        }
    }
    let in_path = |name: &str| path.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let path = request_path(&tool.operation.path, in_path, &query).map_err(|error| format!("{error:#}"))?;
    let method = Method::from_bytes(tool.operation.method.as_bytes()).map_err(|error| error.to_string())?;
    let mut request = hub.request(method, &path);
    for (name, value) in headers {
        request = request.header(name, &value);
    }
    let takes_body = tool.operation.body.is_some();
    Ok(if takes_body && !(body.is_empty() && tool.is_body_optional()) {
        request.json(&Value::Object(body))
    } else {
        request
    })
}

/// A value of a path, a query or a header.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn each(value: &Value) -> Vec<String> {
    value.as_array().map_or_else(|| vec![plain(value)], |values| values.iter().map(plain).collect())
}

async fn text(answer: Response) -> Result<String, String> {
    let mut bytes = vec![];
    let mut chunks = answer.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        bytes.extend(chunk.map_err(|error| format!("the answer broke off: {error}"))?);
        if bytes.len() > MAX_ANSWER_BYTES {
            return Err("the answer has more than 1 MiB; ask for less, for example by `limit`".to_owned());
        }
    }
    if bytes.is_empty() {
        return Ok("Done.".to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "the answer is not text".to_owned())
}
