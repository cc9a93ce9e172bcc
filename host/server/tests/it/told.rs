//! Changes are announced on the streams, even if the caller hangs up.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use hub::events::{EventKind, publish_in};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::support::{Client, Event, Events, Hub, on_both};

const CHANGES: usize = 1_000;
const AT_ONCE: usize = 12;

/// One of several routes that change data and announce it.
fn call(number: usize) -> (&'static str, String, Value) {
    match number % 4 {
        0 => (
            "POST",
            "/api/plugin/punishments/create-by-name".into(),
            json!({"playerName": format!("p{number}"), "type": "BAN"}),
        ),
        1 => (
            "POST",
            "/api/plugin/config/publish".into(),
            json!({"group": "g", "namespace": format!("n{number}"), "doc": number}),
        ),
        2 => ("PUT", format!("/api/manage/localization/messages/en/lobby/k{number}"), json!({"value": "x"})),
        _ => (
            "POST",
            "/api/plugin/punishments/unban-by-name".into(),
            json!({"playerName": format!("p{}", number.saturating_sub(43))}),
        ),
    }
}

/// Sends a request and closes the connection after a while, usually before its answer.
async fn send_and_hang_up(hub: &Hub, client: &Client, number: usize, after: Duration, idempotency_key: &str) {
    let (method, path, body) = call(number);
    send_raw(hub, client, (method, &path, &body), after, idempotency_key).await;
}

async fn send_raw(hub: &Hub, client: &Client, call: (&str, &str, &Value), after: Duration, idempotency_key: &str) {
    let ((method, path, body), key) = (call, client.key.as_deref().unwrap());
    let (body, address) = (body.to_string(), hub.address());
    let idempotency_key = match idempotency_key {
        "" => String::new(),
        key => format!("Idempotency-Key: {key}\r\n"),
    };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nX-Service-Api-Key: {key}\r\n{idempotency_key}\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = TcpStream::connect(address).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    tokio::time::sleep(after).await;
}

/// Reads a stream to its end.
fn collect(mut events: Events) -> (Arc<Mutex<Vec<Event>>>, JoinHandle<()>) {
    let seen = Arc::new(Mutex::new(vec![]));
    let task = tokio::spawn({
        let seen = Arc::clone(&seen);
        async move {
            while let Some(event) = events.next().await {
                seen.lock().push(event);
            }
        }
    });
    (seen, task)
}

/// Number of deliveries of each event, by its subject.
fn told(seen: &[Event]) -> BTreeMap<String, usize> {
    let mut told = BTreeMap::new();
    for Event { name, data, .. } in seen {
        let what = match name.as_str() {
            "PUNISHMENT" => format!("{} {}", data["action"].as_str().unwrap(), data["punishment"]["id"]),
            "CONFIG_UPDATED" => format!("config {}", data["namespace"].as_str().unwrap()),
            "LOCALIZATION_UPDATED" => format!("catalog {}", data["version"]),
            _ => continue,
        };
        *told.entry(what).or_default() += 1;
    }
    told
}

/// Changes in the database that must be announced.
async fn changed(hub: &Hub, client: &Client) -> BTreeSet<String> {
    let (db, network) = (&hub.app.db, client.network.unwrap());
    let punishments: Vec<(i64, String)> =
        db.query("SELECT id, state FROM punishments WHERE network_id = $1").bind(network).all().await.unwrap();
    let documents: Vec<(String,)> =
        db.query("SELECT namespace FROM config_documents WHERE network_id = $1").bind(network).all().await.unwrap();
    let version = client.get("/api/plugin/localization/catalog").await.expect(200)["version"].as_i64().unwrap();
    let created = punishments.iter().map(|(id, _)| format!("CREATED {id}"));
    let revoked = punishments.iter().filter(|(_, state)| state == "REVOKED").map(|(id, _)| format!("REVOKED {id}"));
    let documents = documents.iter().map(|(namespace,)| format!("config {namespace}"));
    let versions = (1..=version).map(|version| format!("catalog {version}"));
    created.chain(revoked).chain(documents).chain(versions).collect()
}

/// Waits until each change was announced, and checks that none was announced twice.
async fn expect_announced_once(hub: &Hub, client: &Client, seen: &Mutex<Vec<Event>>) -> BTreeSet<String> {
    // Requests of callers that are gone may still run: wait until nothing changes any more.
    let mut before = BTreeSet::new();
    Hub::eventually("all changes are announced", async || {
        let changed = changed(hub, client).await;
        let told = told(&seen.lock());
        let is_settled = changed == before && changed.iter().all(|change| told.contains_key(change));
        before = changed;
        if !is_settled {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        is_settled
    })
    .await;
    let told = told(&seen.lock());
    assert_eq!(told.keys().cloned().collect::<BTreeSet<_>>(), before, "announced without a change");
    let doubled: Vec<_> = told.iter().filter(|(_, times)| **times != 1).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
    before
}

async fn waiting(hub: &Hub) -> i64 {
    let (count,): (i64,) = hub.app.db.query("SELECT COUNT(*) FROM outbox").one().await.unwrap();
    count
}

on_both! {
    async fn changes_of_callers_who_hang_up_are_announced_once(hub: Hub) {
        let client = hub.network().await;
        let (seen, _reading) = collect(client.events(None, None).await);
        let (mut calls, mut longest) = (0, 12_000);
        // Callers wait for longer on a slow machine, so that more of them are too late to stop anything.
        while changed(&hub, &client).await.len() < CHANGES {
            assert!(calls < 20 * CHANGES, "{calls} calls");
            stream::iter(calls..calls + 400)
                .for_each_concurrent(AT_ONCE, async |number| {
                    let after = Duration::from_micros((number * 7_919 % longest) as u64);
                    send_and_hang_up(&hub, &client, number, after, "").await;
                })
                .await;
            (calls, longest) = (calls + 400, longest * 3 / 2);
        }
        expect_announced_once(&hub, &client, &seen).await;
        Hub::eventually("the outbox is empty", async || waiting(&hub).await == 0).await;
    }

    async fn changes_of_one_row_are_announced_in_order(hub: Hub) {
        let client = hub.network().await;
        let (seen, _reading) = collect(client.events(None, None).await);
        // Each raises the catalog's version.
        stream::iter(0..200)
            .for_each_concurrent(AT_ONCE, async |number| {
                let path = format!("/api/manage/localization/messages/en/lobby/k{number}");
                client.put(&path, json!({"value": "x"})).await.expect(200);
            })
            .await;
        Hub::eventually("all are announced", async || seen.lock().len() == 200).await;
        let versions: Vec<_> = seen.lock().iter().map(|event| event.data["version"].as_i64().unwrap()).collect();
        assert_eq!(versions, (1..=200).collect::<Vec<_>>());
    }

    async fn a_retry_after_a_hang_up_has_one_effect_and_is_announced_once(hub: Hub) {
        let client = hub.network().await;
        let (seen, _reading) = collect(client.events(None, None).await);
        let line = |number: usize| json!({"playerUuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "playerName": "p",
            "message": number.to_string(), "serverId": "s", "serverType": "lobby"});
        stream::iter(0..100_usize)
            .for_each_concurrent(AT_ONCE, async |number| {
                let (after, key) = (Duration::from_micros((number * 7_919 % 6_000) as u64), format!("key-{number}"));
                // A ban, whose effect and key are one transaction, and a line of chat, whose are not.
                send_and_hang_up(&hub, &client, number * 4, after, &key).await;
                send_raw(&hub, &client, ("POST", "/api/plugin/chat", &line(number)), after, &format!("c{key}")).await;
                let (_, path, body) = call(number * 4);
                for (path, body, key, status) in
                    [(path.as_str(), body, key.clone(), 200), ("/api/plugin/chat", line(number), format!("c{key}"), 204)]
                {
                    let request = client.request(reqwest::Method::POST, path).header("Idempotency-Key", key);
                    client.send(request.json(&body)).await.expect(status);
                }
            })
            .await;
        let changed = expect_announced_once(&hub, &client, &seen).await;
        assert_eq!(changed.len(), 100);
        let mut lines: Vec<usize> = seen.lock().iter().filter(|event| event.name == "CHAT")
            .map(|event| event.data["message"].as_str().unwrap().parse().unwrap()).collect();
        lines.sort_unstable();
        assert_eq!(lines, (0..100).collect::<Vec<_>>());
    }

    async fn a_panic_after_the_commit_loses_no_event_and_one_before_sends_nothing(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        for panics_before in [true, false] {
            let (app, network) = (hub.app.clone(), client.network.unwrap());
            let task = tokio::spawn(async move {
                let payload = json!({"before": panics_before});
                let work = async |mut tx| {
                    publish_in(&app, &mut tx, network, EventKind::ConfigUpdated, None, &payload).await?;
                    assert!(!panics_before, "a panic in the transaction");
                    Ok::<_, hub_db::Error>(())
                };
                app.db.transaction(work).await.unwrap();
                panic!("a panic after the commit");
            });
            assert!(task.await.unwrap_err().is_panic());
        }
        assert_eq!(events.next().await.unwrap().data["before"], false);
        Hub::eventually("the outbox is empty", async || waiting(&hub).await == 0).await;
    }

    async fn changes_of_a_killed_hub_are_announced_after_the_restart(hub: Hub) {
        let client = hub.network().await;
        let mut first = client.events(Some("node-1"), None).await;
        client.post("/api/plugin/config/publish", json!({"group": "g", "namespace": "seen", "doc": 1})).await.expect(200);
        let last = first.next().await.unwrap();
        assert_eq!(last.data["namespace"], "seen");
        Hub::eventually("the outbox is empty", async || waiting(&hub).await == 0).await;
        let key = client.key.clone().unwrap();
        let network = client.network.unwrap();
        // State of a hub killed between commit and publication.
        for (target, namespace) in [(None, "left"), (Some("node-1"), "for one"), (Some("node-2"), "for another")] {
            let data = json!({"type": "CONFIG_UPDATED", "at": 5, "namespace": namespace}).to_string();
            hub.app.db
                .write("INSERT INTO outbox (network_id, name, target, data, created_at)
                        VALUES ($1, 'CONFIG_UPDATED', $2, $3, 5)")
                .bind(network).bind(target).bind(data).execute().await.unwrap();
        }
        let hub = hub.restart(Duration::from_secs(1)).await;
        let client = hub.with_key(&key).for_network(network);
        Hub::eventually("left-over events are published", async || waiting(&hub).await == 0).await;
        // An earlier client has missed an event, and gets the left-over ones nevertheless.
        let mut again = client.events(Some("node-1"), last.id.as_deref()).await;
        assert_eq!(again.next().await.unwrap().name, "RESYNC");
        let left = again.next().await.unwrap();
        assert_eq!(left.data["namespace"], "left");
        assert_eq!(again.next().await.unwrap().data["namespace"], "for one");
        // It can be resumed from, and new events follow.
        drop(again);
        let mut again = client.events(Some("node-1"), left.id.as_deref()).await;
        assert_eq!(again.next().await.unwrap().data["namespace"], "for one");
        client.post("/api/plugin/config/publish", json!({"group": "g", "namespace": "new", "doc": 1})).await.expect(200);
        assert_eq!(again.next().await.unwrap().data["namespace"], "new");
        // A new client gets later events only.
        let mut new = client.events(Some("node-2"), None).await;
        client.post("/api/plugin/config/publish", json!({"group": "g", "namespace": "newer", "doc": 1})).await.expect(200);
        assert_eq!(new.next().await.unwrap().data["namespace"], "newer");
    }

    async fn an_event_without_a_publication_request_is_found(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        hub.app.db
            .write("INSERT INTO outbox (network_id, name, data, created_at) VALUES ($1, 'CONFIG_UPDATED', '{}', 5)")
            .bind(client.network.unwrap()).execute().await.unwrap();
        hub.advance_ms(1_000);
        assert_eq!(events.next().await.unwrap().name, "CONFIG_UPDATED");
        Hub::eventually("the outbox is empty", async || waiting(&hub).await == 0).await;
    }
}
