//! The operator's monitoring: metrics, the log's line for each request, traces.

mod log_lines;
mod traces;

use std::collections::BTreeSet;
use std::path::Path;

use hub::monitoring::{METRICS, Monitoring};
use reqwest::Method;
use serde_json::{Value, json};

use crate::modules::starters;
use crate::servers::{join, register, uuid};
use crate::support::{Backend, Client, Events, Hub, on_each};
use crate::{deliveries, lines, player_sessions};

async fn hub_with_metrics(backend: Backend) -> Hub {
    Hub::start_with(backend, |settings| {
        settings.metrics = Some(([127, 0, 0, 1], 0).into());
        settings.usage_sink = Some("http://127.0.0.1:1/".to_owned());
    })
    .await
}

async fn scrape(hub: &Hub) -> String {
    let url = format!("http://{}/metrics", hub.app.state::<Monitoring>().address().unwrap());
    let answer = hub::http_client::client().unwrap().get(url).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    answer.text().await.unwrap()
}

/// The value of the series whose labels contain all of these.
fn value(text: &str, name: &str, labels: &[&str]) -> Option<f64> {
    let mut series =
        text.lines().filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '{'])));
    let line = series.find(|line| labels.iter().all(|label| line.contains(label)))?;
    line.rsplit_once(' ').unwrap().1.parse().ok()
}

async fn chat(client: &Client) {
    let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": "hello", "serverId": "lobby-1"});
    client.post("/api/plugin/chat", line).await.expect(204);
}

/// Uses every measured feature.
async fn use_everything(hub: &Hub) -> Client {
    let (operator, owner) = (hub.operator().await, hub.network().await);
    let plan = json!({"name": "shown", "limits": {"networkMetrics": 1}});
    operator.post("/api/admin/plans", plan).await.expect(201);
    let network = format!("/api/admin/networks/{}", owner.network.unwrap());
    operator.patch(&network, json!({"plan": "shown"})).await.expect(200);
    starters::install(&owner, "chat-guard", "chat", json!({"words": ["heck"], "action": "REFUSE"})).await;
    register(&owner, "lobby-1", json!({})).await;
    join(&owner, "lobby-1", 1).await;
    join(&owner, "lobby-1", 2).await;
    for _ in 0..3 {
        chat(&owner).await;
    }
    hub.advance_ms(1_000);
    let noted = "SELECT COUNT(*) FROM usage_hours WHERE network_id = $1 AND requests > 0";
    Hub::eventually("usage is stored", async || {
        let rows = hub.app.db.query(noted).bind(owner.network.unwrap());
        rows.one::<(i64,)>().await.unwrap().0 > 0
    })
    .await;
    owner
}

/// Every documented metric is served, with the right counts.
async fn metrics_count_events(backend: Backend) {
    let hub = hub_with_metrics(backend).await;
    let owner = use_everything(&hub).await;
    let _stream = owner.events(None, None).await;
    hub.network().await.get("/api/plugin/servers/unseen-thing").await;
    owner.get("/api/plugin/nothing/of/that/kind").await.expect(404);
    let odd = Method::from_bytes(b"BREW").unwrap();
    owner.send(owner.request(odd, "/api/plugin/servers")).await.expect(405);

    let text = scrape(&hub).await;
    let of = |name: &str, labels: &[&str]| {
        value(&text, name, labels).unwrap_or_else(|| panic!("no {name} with {labels:?} in\n{text}"))
    };
    let chats = ["method=\"POST\"", "route=\"/api/plugin/chat\"", "status=\"204\""];
    assert!((of("hub_requests_total", &chats) - 3.0).abs() < f64::EPSILON);
    assert!((of("hub_request_seconds_count", &chats[..2]) - 3.0).abs() < f64::EPSILON);
    assert!((of("hub_request_seconds_bucket", &[chats[1], "le=\"+Inf\""]) - 3.0).abs() < f64::EPSILON);
    assert!(of("hub_requests_total", &["route=\"-\"", "status=\"404\""]) >= 1.0);
    assert!(of("hub_requests_total", &["method=\"OTHER\"", "status=\"405\""]) >= 1.0);
    let calls = ["point=\"chat\"", "outcome=\"ok\"", "mode=\"active\""];
    assert!((of("hub_module_calls_total", &calls) - 3.0).abs() < f64::EPSILON);
    assert!((of("hub_module_breakers", &["point=\"chat\"", "state=\"closed\""]) - 1.0).abs() < f64::EPSILON);
    for (name, expected) in [
        ("hub_streams", 1.0),
        ("hub_players_online", 2.0),
        ("hub_servers_online", 1.0),
        ("hub_bus_reachable", 1.0),
        ("hub_shards_owned", 256.0),
    ] {
        assert!((of(name, &[]) - expected).abs() < f64::EPSILON, "{name}");
    }
    for name in ["hub_database_statements_total", "hub_bus_published_total", "hub_process_resident_bytes"] {
        assert!(of(name, &[]) > 0.0, "{name}");
    }
    assert!(of("hub_database_connections_max", &["pool=\"shared\""]) >= 2.0);
    assert!(of("hub_fault", &["name=\"disk\""]).abs() < f64::EPSILON);
    let network = format!("network=\"{}\"", owner.network.unwrap());
    assert!(of("hub_network_requests_hour", &[&network]) >= 5.0);

    for metric in METRICS {
        let line = format!("# TYPE {} {}", metric.name, metric.kind);
        assert!(text.contains(&line), "{} is not served:\n{text}", metric.name);
    }
    // No name of a network beyond those, and no path.
    let others = text.lines().filter(|line| line.contains("network=") && !line.contains(&network)).count();
    assert_eq!(others, 0);
    assert!(!text.contains("unseen-thing") && !text.contains("of/that/kind"));
}

/// Sessions, lines and deliveries are measured.
async fn what_players_wait_for_is_measured(backend: Backend) {
    let hub = hub_with_metrics(backend).await;
    let owner = hub.network().await;
    for server in ["a", "b"] {
        register(&owner, server, json!({})).await;
    }
    join(&owner, "a", 1).await;
    let path = "/api/plugin/events?serverId=a&types=SESSION_REQUESTED";
    let _asked = Events::open(owner.request(Method::GET, path)).await;
    player_sessions::open(&owner, 1, "a").await;
    player_sessions::open(&owner, 2, "a").await;
    let asking = owner.clone();
    let opening = tokio::spawn(async move { player_sessions::try_open(&asking, 1, "b", 10_000).await });
    for player in [3, 4] {
        lines::wait_in_line(&owner, player, json!({})).await;
    }
    let (held, taken_back) =
        (deliveries::create(&owner, 1, json!({})).await, deliveries::create(&owner, 2, json!({})).await);
    deliveries::claim(&owner, held, "a").await.expect(200);
    owner.post(&format!("/api/manage/deliveries/{taken_back}/cancel"), json!({})).await.expect(200);
    for (name, labels, expected) in [
        ("hub_player_sessions_open", &[][..], 2.0),
        ("hub_player_sessions_waiting", &[], 1.0),
        ("hub_players_waiting", &[], 2.0),
        ("hub_deliveries_settled_total", &["state=\"CANCELLED\""], 1.0),
        ("hub_deliveries_settled_total", &["state=\"HELD\""], 0.0),
    ] {
        Hub::eventually(name, async || value(&scrape(&hub).await, name, labels) == Some(expected)).await;
    }
    hub.advance_ms(10_000);
    opening.await.unwrap().expect(200);
    let text = scrape(&hub).await;
    assert_eq!(value(&text, "hub_player_sessions_waiting", &[]), Some(0.0));
}

/// Without an address nothing is recorded or served.
async fn metrics_are_off_by_default(backend: Backend) {
    let hub = Hub::start(backend).await;
    assert!(hub.app.state::<Monitoring>().address().is_none());
    hub.network().await.get("/metrics").await.expect(404);
}

on_each! { metrics_count_events what_players_wait_for_is_measured metrics_are_off_by_default }

/// Names of metrics in a text, without the suffixes of histograms.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let names = words.filter(|word| word.starts_with("hub_"));
    names
        .map(|name| {
            ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
        })
        .collect()
}

#[test]
fn dashboards_and_alerts_name_metrics_that_are_served() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let served: BTreeSet<_> = METRICS.iter().map(|metric| metric.name.to_owned()).collect();
    let dashboard = std::fs::read_to_string(deploy.join("grafana-dashboard.json")).unwrap();
    let panels: Value = serde_json::from_str(&dashboard).unwrap();
    assert!(panels["panels"].as_array().unwrap().len() >= 10);
    let alerts = std::fs::read_to_string(deploy.join("alerts.yml")).unwrap();
    for (file, text) in [("grafana-dashboard.json", dashboard), ("alerts.yml", alerts)] {
        let named = names(&text);
        assert!(named.len() >= 8, "{file} names only {named:?}");
        let unknown: Vec<_> = named.difference(&served).collect();
        assert!(unknown.is_empty(), "{file} names {unknown:?}");
    }
}
