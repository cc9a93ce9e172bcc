//! Every operation of the OpenAPI document, called with malformed parameters and bodies.

use reqwest::Method;
use serde_json::Value;

use crate::support::{Client, on_both};

const FILLED: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

/// The path with valid parameters, except the one that is `wrong`.
fn fill(path: &str, wrong: Option<&str>) -> String {
    let segments = path.split('/').map(|segment| match segment.strip_prefix('{') {
        Some(name) if Some(name) == wrong.map(|name| format!("{name}}}")).as_deref() => "a%00b",
        Some(_) => FILLED,
        None => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}

async fn expect_refused(client: &Client, method: &Method, path: &str, body: Option<&str>) {
    let request = client.request(method.clone(), path);
    let answer = client.send(if let Some(body) = body { request.body(body.to_owned()) } else { request }).await;
    let shown = (answer.status.as_u16(), answer.body["code"].as_str());
    assert_eq!(shown, (400, Some("invalid_request")), "{method} {path} {body:?}: {}", answer.body);
    crate::words::check_sentence(answer.body["error"].as_str().unwrap());
}

on_both! {
    async fn every_operation_refuses_malformed_requests(hub: Hub) {
        let (owner, operator) = (hub.network().await, hub.operator().await);
        let document = owner.get("/api/openapi.json").await.expect(200).clone();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                // Public ones differ: links answer 403 and pages a page.
                let Some(security) = operation["security"].as_array() else { continue };
                let client = if security[0]["apiKey"][0] == "operator" { &operator } else { &owner };
                let method = method.to_uppercase().parse().unwrap();
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let name = parameter["name"].as_str().unwrap();
                    match parameter["in"].as_str().unwrap() {
                        "path" => expect_refused(client, &method, &fill(path, Some(name)), None).await,
                        "query" => expect_refused(client, &method, &format!("{}?{name}=a%00b", fill(path, None)), None).await,
                        _ => {}
                    }
                }
                let content = &operation["requestBody"]["content"];
                if content.get("application/json").is_some() {
                    for body in ["", "{", "[]", "7", "{} {}", "\u{0}"] {
                        if accepts(content, body) {
                            continue;
                        }
                        expect_refused(client, &method, &fill(path, None), Some(body)).await;
                    }
                }
            }
        }
    }
}

/// True if the operation accepts any JSON.
fn accepts(content: &Value, body: &str) -> bool {
    let schema = &content["application/json"]["schema"];
    let any = schema.get("$ref").is_none() && schema.get("properties").is_none();
    any && serde_json::from_str::<Value>(body).is_ok()
}
