//! Calls of an operation in each language: by the hub's connectors, whose `call` takes any route.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

use crate::code;
use crate::reference::document::Body;
use crate::reference::fields;

/// A call in a language.
#[derive(Debug, Serialize)]
pub(crate) struct Sample {
    id: &'static str,
    name: &'static str,
    /// HTML.
    code: String,
}

struct Call<'a> {
    method: &'a str,
    path: String,
    body: Option<&'a Value>,
    /// True if the body is sent as it is, and not as JSON.
    sends_bytes: bool,
    streams: bool,
    is_silent: bool,
    headers: Vec<(String, String)>,
}

/// Samples of an operation, with the examples of what it needs.
pub(crate) fn all(
    method: &str,
    path: &str,
    parameters: &Value,
    document: &Value,
    body: Option<&Body>,
    streams: bool,
    is_silent: bool,
) -> Vec<Sample> {
    let (mut filled, mut query, mut headers) = (path.to_owned(), String::new(), vec![]);
    for parameter in parameters.as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().unwrap_or_default();
        let value = fields::example(document, parameter);
        match parameter["in"].as_str() {
            Some("path") => filled = filled.replace(&format!("{{{name}}}"), &encoded(&value)),
            Some("query") if parameter["required"] == true => {
                let mark = if query.is_empty() { '?' } else { '&' };
                // Writing to a text does not fail.
                let _ = write!(query, "{mark}{name}={}", encoded(&value));
            }
            Some("header") if parameter["required"] == true => headers.push((name.to_owned(), value)),
            _ => {}
        }
    }
    let sends_bytes = body.is_some_and(|body| body.kind != "application/json");
    let body = body.filter(|_| !sends_bytes).map(|body| &body.sample);
    let call = Call { method, path: filled + &query, body, sends_bytes, streams, is_silent, headers };
    let sample = |id, name, language, text: String| Sample { id, name, code: code::block(language, &text) };
    let mut all = vec![sample("curl", "curl", "sh", curl(&call))];
    // The clients' other calls take and answer JSON.
    if !call.sends_bytes && call.headers.is_empty() && !call.streams {
        all.push(sample("java", "Java", "java", java(&call)));
        all.push(sample("typescript", "TypeScript", "ts", typescript(&call)));
        all.push(sample("python", "Python", "python", python(&call)));
        all.push(sample("rust", "Rust", "rust", rust(&call)));
    }
    if call.streams && call.path.starts_with("/api/plugin/events") {
        let of = [("java", "Java", "java", STREAM_JAVA), ("typescript", "TypeScript", "ts", STREAM_TYPESCRIPT)];
        let more = [("python", "Python", "python", STREAM_PYTHON), ("rust", "Rust", "rust", STREAM_RUST)];
        all.extend(
            of.into_iter().chain(more).map(|(id, name, language, text)| sample(id, name, language, text.to_owned())),
        );
    }
    all
}

fn encoded(value: &str) -> String {
    form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>().replace('+', "%20")
}

fn pretty(body: &Value) -> String {
    serde_json::to_string_pretty(body).unwrap_or_default()
}

/// Text with each line but the first indented.
fn indented(text: &str, indent: &str) -> String {
    text.replace('\n', &format!("\n{indent}"))
}

fn curl(call: &Call<'_>) -> String {
    let mut text = String::from("curl -s");
    if call.streams {
        text.push_str(" -N");
    }
    if call.method != "GET" {
        text.extend([" -X ", call.method]);
    }
    let _ = write!(text, " \"$HUB_URL{}\" \\\n  -H \"X-Service-Api-Key: $HUB_KEY\"", call.path.replace('$', "\\$"));
    for (name, value) in &call.headers {
        let _ = write!(text, " \\\n  -H \"{name}: {value}\"");
    }
    if let Some(body) = call.body {
        let _ = write!(
            text,
            " \\\n  -H 'Content-Type: application/json' \\\n  -d '{}'",
            pretty(body).replace('\'', "'\\''")
        );
    } else if call.sends_bytes {
        text.push_str(" \\\n  -H 'Content-Type: application/octet-stream' \\\n  --data-binary @FILE");
    }
    text
}

fn java(call: &Call<'_>) -> String {
    let mut text = format!(
        "{}\nimport networkhub.HubClient;\n\n{JAVA_CLIENT}",
        if call.body.is_some() { GSON } else { GSON_ELEMENT }
    );
    let body = match call.body {
        Some(body) => {
            let json = pretty(body).replace('\\', "\\\\");
            let _ = write!(
                text,
                "JsonElement body = JsonParser.parseString(\"\"\"\n    {}\n    \"\"\");\n",
                indented(&json, "    ")
            );
            "body"
        }
        None => "null",
    };
    let answer = if call.is_silent { "" } else { "JsonElement answer = " };
    let _ = write!(text, "{answer}hub.call(\"{}\", \"{}\", {body}).join();", call.method, call.path);
    text
}

fn typescript(call: &Call<'_>) -> String {
    let body = call.body.map(|body| format!(", {}", pretty(body))).unwrap_or_default();
    let answer = if call.is_silent { "" } else { "const answer = " };
    format!(
        "import {{ HubClient }} from \"network-hub-connector\";\n\nconst hub = HubClient.fromEnvironment();\n\
         {answer}await hub.call(\"{}\", \"{}\"{body});",
        call.method, call.path
    )
}

fn python(call: &Call<'_>) -> String {
    let body = call.body.map(|body| format!(", {}", indented(&literal(body, 0), "    "))).unwrap_or_default();
    let answer = if call.is_silent { "" } else { "answer = " };
    format!(
        "import os\nfrom networkhub import HubClient\n\nwith HubClient(os.environ[\"HUB_URL\"], os.environ[\"HUB_KEY\"]) as hub:\n    \
         {answer}hub.call(\"{}\", \"{}\"{body})",
        call.method, call.path
    )
}

/// JSON in Python's words.
fn literal(value: &Value, depth: usize) -> String {
    let indent = "    ".repeat(depth + 1);
    let end = "    ".repeat(depth);
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| format!("{indent}{}", literal(item, depth + 1))).collect();
            format!("[\n{},\n{end}]", items.join(",\n"))
        }
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                format!("{indent}{}: {}", Value::from(name.as_str()), literal(value, depth + 1))
            };
            let fields: Vec<_> = fields.iter().map(field).collect();
            format!("{{\n{},\n{end}}}", fields.join(",\n"))
        }
        value => value.to_string(),
    }
}

fn rust(call: &Call<'_>) -> String {
    let mut text = format!("use network_hub_client::{{HubClient, Method}};\n\n{RUST_CLIENT}");
    let (answer, send) = if call.is_silent { ("", "run") } else { ("let answer: serde_json::Value = ", "send") };
    let _ = write!(text, "{answer}hub\n    .request(Method::{}, \"{}\")", call.method, call.path);
    if let Some(body) = call.body {
        let _ = write!(text, "\n    .json(&serde_json::json!({}))", indented(&pretty(body), "    "));
    }
    let _ = write!(text, "\n    .{send}()\n    .await?;");
    text
}

/// First lines of the samples.
const GSON: &str = "import com.google.gson.JsonElement;\nimport com.google.gson.JsonParser;";
const GSON_ELEMENT: &str = "import com.google.gson.JsonElement;";
const JAVA_CLIENT: &str = "HubClient hub = HubClient.create(System.getenv(\"HUB_URL\"), System.getenv(\"HUB_KEY\"));\n";
const RUST_CLIENT: &str = "let hub = HubClient::new(&std::env::var(\"HUB_URL\")?, &std::env::var(\"HUB_KEY\")?)?;\n";
/// Event streams, which the connectors resume by themselves.
const STREAM_TYPESCRIPT: &str = "\
import { HubClient } from \"network-hub-connector\";

const hub = HubClient.fromEnvironment();
hub.events({}, { onEvent: (event) => console.log(event) }).open();";
const STREAM_PYTHON: &str = "\
import os
from networkhub import HubClient

with HubClient(os.environ[\"HUB_URL\"], os.environ[\"HUB_KEY\"]) as hub:
    for event in hub.events():
        print(event)";
const STREAM_JAVA: &str = "\
import java.util.List;
import java.util.concurrent.Executors;
import networkhub.HubClient;

HubClient hub = HubClient.create(System.getenv(\"HUB_URL\"), System.getenv(\"HUB_KEY\"));
var thread = Executors.newSingleThreadScheduledExecutor();
hub.events(null, List.of(), thread, event -> System.out.println(event)).open();";
const STREAM_RUST: &str = "\
use network_hub_client::HubClient;

let hub = HubClient::new(&std::env::var(\"HUB_URL\")?, &std::env::var(\"HUB_KEY\")?)?;
let mut stream = hub.events(None, &[]);
loop {
    let update = stream.next().await;
    println!(\"{update:?}\");
}";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(body: &Value) -> Call<'_> {
        let path = "/api/x?y=1".to_owned();
        Call {
            method: "POST",
            path,
            body: Some(body),
            sends_bytes: false,
            streams: false,
            is_silent: false,
            headers: vec![],
        }
    }

    #[test]
    fn bodies_are_written_in_the_words_of_each_language() {
        let body = json!({"a": null, "b": [true, "it's \"x\""], "c": {}});
        let call = call(&body);
        assert!(curl(&call).contains(r#""it'\''s \"x\"""#), "{}", curl(&call));
        assert!(java(&call).contains(r#""it's \\"x\\"""#), "{}", java(&call));
        let python = python(&call);
        for part in ["\"a\": None", "True,\n", "\"c\": {}", r#""it's \"x\"""#] {
            assert!(python.contains(part), "{part}: {python}");
        }
        assert!(
            rust(&call).contains(".json(&serde_json::json!({") && typescript(&call).contains("await hub.call(\"POST\"")
        );
    }

    #[test]
    fn a_call_names_the_examples_of_its_path_and_query() {
        let parameters = json!([
            {"name": "id", "in": "path", "required": true, "example": "a b"},
            {"name": "q", "in": "query", "required": true, "schema": {"enum": ["X"]}},
            {"name": "optional", "in": "query", "example": 1},
        ]);
        let samples = all("PUT", "/api/{id}", &parameters, &json!({}), None, false, true);
        assert_eq!(samples.len(), 5);
        assert!(samples[0].code.contains("/api/a%20b?q=X&quot;"), "{}", samples[0].code);
        assert!(samples[4].code.contains(".run()"), "{}", samples[4].code);
    }
}
