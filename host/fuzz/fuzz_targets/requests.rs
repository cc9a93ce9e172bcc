//! Up to eight requests of one network, or of the operator, with every body and parameter of the document: values that
//! its schemas allow or nearly allow, and any bytes. Nothing panics, nothing is a fault of the hub, errors have their
//! shape, and every status is a documented one.
#![no_main]

use axum::body::Body;
use axum::http::Request;
use hub_fuzz::{Document, FuzzedJson, Hub, Location, Network, Operation, percent_encode};
use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use std::time::Duration;

static DOCUMENT: LazyLock<Document> = LazyLock::new(Document::read);

/// Paths that wait for a game server or an agent; none exists, and the hub's clock stands still.
const WAITING: [&str; 6] = ["/commands", "/console", "/kill", "/restart", "/start", "/stop"];
const PATIENCE: Duration = Duration::from_millis(300);
const MOST_REQUESTS: usize = 8;

fuzz_target!(|data: &[u8]| {
    Hub::run(async |hub| {
        let network = hub.network().await;
        let mut input = Unstructured::new(data);
        let mut json = FuzzedJson::new(&DOCUMENT);
        for _ in 0..MOST_REQUESTS {
            if input.is_empty() {
                break;
            }
            let Ok(Some((operation, request))) = request(hub, &network, &json, &mut input) else { continue };
            let patience = WAITING.iter().any(|end| operation.path.ends_with(end)).then_some(PATIENCE);
            let Some(answer) = hub.send(request, patience).await else { continue };
            let (status, answer) = (answer.status.as_u16().to_string(), answer.json());
            // An empty parameter makes a path of no route, or of another.
            let is_elsewhere = matches!(answer["code"].as_str(), Some("unknown_route" | "method_not_allowed"));
            let is_documented = is_elsewhere || operation.statuses.contains(&status);
            assert!(is_documented, "{} {} answers {status} {answer}", operation.method, operation.path);
            json.remember(&answer);
        }
    });
});

fn request<'a>(
    hub: &Hub,
    network: &Network,
    json: &FuzzedJson<'_>,
    input: &mut Unstructured<'_>,
) -> Result<Option<(&'a Operation, Request<Body>)>> {
    let number: u16 = input.arbitrary()?;
    let operation = &DOCUMENT.operations[usize::from(number) % DOCUMENT.operations.len()];
    let mut path = operation.path.clone();
    let mut query = Vec::new();
    let mut request = Request::builder().method(operation.method.as_str());
    for parameter in &operation.parameters {
        if parameter.location != Location::Path && input.ratio(1, 2)? {
            continue;
        }
        let text = json.text(&parameter.name, &parameter.schema, input)?;
        let encoded = percent_encode(text.as_bytes());
        match parameter.location {
            Location::Path => path = path.replace(&format!("{{{}}}", parameter.name), &encoded),
            Location::Query => query.push(format!("{}={encoded}", parameter.name)),
            Location::Header => request = request.header(&parameter.name, text),
        }
    }
    if !query.is_empty() {
        path = format!("{path}?{}", query.join("&"));
    }
    let key = if operation.is_operators { hub.operator() } else { &network.key };
    request = request.uri(path).header("x-service-api-key", key);
    let body = body(operation, json, input)?;
    if operation.body.is_some() {
        request = request.header("content-type", "application/json");
    }
    // Such as a path that is too long for a URI, or a header with a line break.
    Ok(request.body(Body::from(body)).ok().map(|request| (operation, request)))
}

fn body(operation: &Operation, json: &FuzzedJson<'_>, input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let choice: u8 = input.arbitrary()?;
    let length = input.int_in_range(0..=256)?;
    let Some(schema) = operation.body.as_ref().filter(|_| choice > 16) else {
        return Ok(input.bytes(length.min(input.len()))?.to_vec());
    };
    let mut body = serde_json::to_vec(&json.value("", schema, input)?).unwrap_or_default();
    if choice < 64 {
        for _ in 0..input.int_in_range(0..=8)? {
            let at = input.choose_index(body.len())?;
            match input.int_in_range(0..=2)? {
                0 => body[at] = input.arbitrary()?,
                1 => body.insert(at, input.arbitrary()?),
                _ => body.truncate(at.max(1)),
            }
        }
    }
    Ok(body)
}
