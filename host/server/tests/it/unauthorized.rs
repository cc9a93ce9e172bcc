//! Every operation of the OpenAPI document, called without permission.

use reqwest::Method;
use serde_json::Value;

use crate::support::{Client, on_both};

struct Operation {
    method: Method,
    path: String,
    scopes: Vec<String>,
}

async fn operations(client: &Client) -> Vec<Operation> {
    let document = client.get("/api/openapi.json").await.expect(200).clone();
    let mut operations = vec![];
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let scopes = operation["security"].as_array().map(|all| {
                all.iter()
                    .flat_map(|one| one["apiKey"].as_array().unwrap())
                    .map(|scope| scope.as_str().unwrap().to_owned())
            });
            operations.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: fill(path),
                scopes: scopes.map(Iterator::collect).unwrap_or_default(),
            });
        }
    }
    operations
}

/// Puts valid values into the parameters of a path.
fn fill(path: &str) -> String {
    let mut filled = String::new();
    let mut rest = path;
    while let Some((before, parameter)) = rest.split_once('{') {
        let (_, after) = parameter.split_once('}').unwrap();
        filled.push_str(before);
        filled.push_str("069a79f4-44e9-4726-a5be-fca90e38aaf5");
        rest = after;
    }
    filled + rest
}

/// Calls it without body and query, so that an accepted key changes nothing.
async fn call(client: &Client, operation: &Operation) -> (u16, Value) {
    let response = client.request(operation.method.clone(), &operation.path).send().await.unwrap();
    let status = response.status().as_u16();
    let stream = response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream");
    let body = if stream { Value::Null } else { response.json().await.unwrap_or_default() };
    (status, body)
}

/// Every possible scope of a network's key.
async fn scopes(client: &Client) -> Vec<String> {
    let document = client.get("/api/openapi.json").await.expect(200).clone();
    let all = document["components"]["schemas"]["Scope"]["enum"].as_array().unwrap().iter();
    let scopes: Vec<_> = all.map(|scope| scope.as_str().unwrap().to_owned()).filter(|it| it != "operator").collect();
    assert!(scopes.len() >= 13, "{scopes:?}");
    scopes
}

/// The scope that `larger` includes, beside itself.
fn includes(larger: &str, scope: &str) -> bool {
    match larger {
        "plugin" => {
            let finer = ["events:read", "players:write", "economy:write", "permissions:write", "punishments:write"];
            finer.contains(&scope) || ["deliveries:write", "matchmaking"].contains(&scope)
        }
        "modules:write" => scope == "modules:read",
        "network:manage" => {
            let finer = ["punishments:manage", "reports:manage", "chat:read", "deliveries:manage", "console:read"];
            finer.contains(&scope) || ["audit:read", "lines:manage"].contains(&scope)
        }
        _ => false,
    }
}

on_both! {
    async fn every_operation_needs_its_scope(hub: Hub) {
        let owner = hub.network().await;
        let anonymous = hub.anonymous();
        let mut keys = vec![];
        for scope in scopes(&anonymous).await {
            let key = owner.key_with(&[&scope]).await;
            keys.push((scope, key));
        }
        let public = ["/healthz", "/readyz", "/api/version", "/api/openapi.json", "/api"];
        for operation in operations(&anonymous).await {
            let name = format!("{} {}", operation.method, operation.path);
            let (status, body) = call(&anonymous, &operation).await;
            if operation.scopes.is_empty() {
                let known = public.contains(&operation.path.as_str())
                    || operation.path.starts_with("/api/public/")
                    || operation.path.starts_with("/api/people/")
                    || operation.path.starts_with("/api/artifacts/")
                    || operation.path.starts_with("/api/worlds/blobs/");
                assert!(known, "{name} needs no key");
                continue;
            }
            assert_eq!((status, &body["code"]), (401, &"unauthenticated".into()), "{name} without a key");
            for (scope, key) in &keys {
                let (status, body) = call(key, &operation).await;
                // Its bytes run on machines, so that it also needs `servers:control`.
                let is_bundle = operation.method == "PUT" && operation.path.contains("/provisioning/bundles/");
                let may = operation.scopes.iter().any(|needed| needed == scope || includes(scope, needed)) && !is_bundle;
                if may {
                    assert!(!matches!(status, 401 | 403 | 500..), "{name} with {scope}: {status} {body}");
                } else {
                    assert_eq!((status, &body["code"]), (403, &"forbidden_scope".into()), "{name} with {scope}");
                }
            }
        }
    }

    /// The document states the scopes of an operation; this states the expected ones.
    async fn every_area_of_the_connectors_has_its_scope(hub: Hub) {
        let mut seen = std::collections::BTreeSet::new();
        for operation in operations(&hub.anonymous()).await {
            let Some(rest) = operation.path.strip_prefix("/api/plugin/") else { continue };
            let area = match rest.split('/').next().unwrap() {
                "events" => "events:read",
                "players" => "players:write",
                "economy" => "economy:write",
                "permissions" => "permissions:write",
                "punishments" | "reports" => "punishments:write",
                "deliveries" => "deliveries:write",
                "servers" if rest == "servers/players" && operation.method == "GET" => "players:read",
                "matchmaking" | "transfers" => "matchmaking",
                "localization" if rest.starts_with("localization/players/") => "players:write",
                _ => {
                    let only = ["plugin", "agent"];
                    assert!(operation.scopes.iter().all(|scope| only.contains(&scope.as_str())), "{}", operation.path);
                    continue;
                }
            };
            seen.insert(area);
            let mut needed = vec![area, "plugin"];
            if rest == "punishments/ip" {
                needed.insert(1, "players:write");
            }
            let parts: Vec<_> = rest.split('/').collect();
            let is_players = match parts[0] {
                "players" => matches!(parts.get(2), None | Some(&("ips" | "session" | "data" | "statistics"))),
                "punishments" => parts[1] == "player",
                _ => parts.get(1) == Some(&"player") && parts.last() == Some(&"statistics"),
            };
            if is_players && operation.method == "GET" {
                needed.insert(0, "players:read");
            }
            assert_eq!(operation.scopes, needed, "{} {}", operation.method, operation.path);
        }
        assert_eq!(seen.len(), 8);
    }

    async fn another_networks_key_finds_nothing(hub: Hub) {
        let theirs = hub.network().await;
        let ours = hub.network().await;
        let operations = operations(&ours).await;
        assert!(operations.len() > 4);
        let secret = theirs.key.clone().unwrap();
        for operation in operations.iter().filter(|operation| operation.method == Method::GET) {
            let (status, body) = call(&ours, operation).await;
            assert!(status < 500, "{} {}: {body}", operation.method, operation.path);
            let text = body.to_string();
            assert!(!text.contains(&theirs.network.unwrap().to_string()), "{}", operation.path);
            assert!(!text.contains(&secret[4..16]), "{}", operation.path);
        }
    }
}
