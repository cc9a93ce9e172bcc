//! The event stream of each server.

use std::time::Duration;

use hub::events::{EventKind, Streams, publish};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;

use crate::support::{Client, Events, Hub, NOW, on_both};

async fn say(client: &Client, message: &str) {
    let line = json!({
        "playerUuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "playerName": "Steve", "message": message,
        "serverId": "lobby-1",
    });
    client.post("/api/plugin/chat", line).await.expect(204);
}

/// The messages of the next events, which must all be chat.
async fn heard(events: &mut Events, count: usize) -> Vec<String> {
    let mut messages = vec![];
    for _ in 0..count {
        let event = events.next().await.unwrap();
        assert_eq!(event.name, "CHAT", "{event:?}");
        messages.push(event.data["message"].as_str().unwrap().to_owned());
    }
    messages
}

/// Waits for background work, in real time but no longer than needed.
async fn until(what: &str, mut done: impl FnMut() -> bool) {
    for _ in 0..2_000 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{what} did not happen");
}

/// Beginning of a stream, before any event.
async fn opening(client: &Client) -> String {
    let mut response = client.request(Method::GET, "/api/plugin/events").send().await.unwrap();
    String::from_utf8(response.chunk().await.unwrap().unwrap().to_vec()).unwrap()
}

async fn publish_to(hub: &Hub, client: &Client, server: &str, number: i64) {
    let network = client.network.unwrap();
    let payload = json!({"requestId": number.to_string()});
    publish(&hub.app, network, EventKind::ExecuteCommand, Some(server), payload).await.unwrap();
}

on_both! {
    async fn a_stream_opens_at_once_and_confirms_it(hub: Hub) {
        let client = hub.network().await;
        let response = client.request(Method::GET, "/api/plugin/events?serverId=lobby-1").send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["cache-control"], "no-cache");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        let opening = opening(&client).await;
        assert!(opening.starts_with(": open\n") && opening.ends_with("\n\n"), "{opening}");
        let retry: u64 = opening.split_once("retry: ").unwrap().1.lines().next().unwrap().parse().unwrap();
        assert!((2_000..4_000).contains(&retry));
    }

    async fn only_a_good_key_and_a_sane_server_open_a_stream(hub: Hub) {
        let client = hub.network().await;
        for query in ["serverId=", "serverId=%20%20", "serverId=%00", "serverId=a%0Ab"] {
            client.get(&format!("/api/plugin/events?{query}")).await.expect_error(400, "invalid_request");
        }
        let long = "x".repeat(256);
        client.get(&format!("/api/plugin/events?serverId={long}")).await.expect_error(400, "invalid_request");
        hub.anonymous().get("/api/plugin/events").await.expect_error(401, "unauthenticated");
        let reader = client.key_with(&["servers:read"]).await;
        reader.get("/api/plugin/events").await.expect_error(403, "forbidden_scope");
        client.post("/api/plugin/events", json!({})).await.expect_error(405, "method_not_allowed");
        assert_eq!(hub.app.state::<Streams>().count(), 0);
    }

    async fn an_event_names_itself_and_its_time(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(Some("lobby-1"), None).await;
        hub.advance_ms(7);
        say(&client, "hello").await;
        let event = events.next().await.unwrap();
        assert_eq!(event.name, "CHAT");
        assert_eq!((&event.data["type"], &event.data["at"]), (&json!("CHAT"), &json!(NOW + 7)));
        let (epoch, sequence) = event.id.as_deref().unwrap().split_once('.').unwrap();
        assert!(epoch.parse::<u64>().is_ok() && sequence.parse::<u64>().is_ok());
    }

    async fn a_broken_stream_goes_on_where_it_stopped(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(Some("lobby-1"), None).await;
        for message in ["1", "2", "3"] {
            say(&client, message).await;
        }
        publish_to(&hub, &client, "lobby-1", 4).await;
        let first = events.next().await.unwrap();
        assert_eq!(first.data["message"], "1");
        drop(events);
        say(&client, "5").await;
        publish_to(&hub, &client, "lobby-2", 6).await;
        let mut events = client.events(Some("lobby-1"), first.id.as_deref()).await;
        say(&client, "7").await;
        assert_eq!(heard(&mut events, 2).await, ["2", "3"]);
        assert_eq!(events.next().await.unwrap().data["requestId"], "4");
        assert_eq!(heard(&mut events, 2).await, ["5", "7"]);
    }

    async fn a_stream_can_be_resumed_before_its_first_event(hub: Hub) {
        let client = hub.network().await;
        let opening = opening(&client).await;
        let id = opening.split_once("\nid: ").unwrap().1.trim().to_owned();
        say(&client, "missed").await;
        let mut events = client.events(None, Some(&id)).await;
        assert_eq!(heard(&mut events, 1).await, ["missed"]);
    }

    async fn a_client_that_cannot_resume_gets_a_resync(hub: Hub) {
        let client = hub.network().await;
        say(&client, "before").await;
        for unknown in ["0.0", "1.99999", "malformed", "184467440737095516160.1", "é"] {
            let mut events = client.events(None, Some(unknown)).await;
            let resync = events.next().await.unwrap();
            assert_eq!((resync.name.as_str(), &resync.data["type"]), ("RESYNC", &json!("RESYNC")), "{unknown}");
            say(&client, unknown).await;
            assert_eq!(heard(&mut events, 1).await, [unknown]);
        }
        // No id was given.
        let mut events = client.events(None, Some("")).await;
        say(&client, "live").await;
        assert_eq!(heard(&mut events, 1).await, ["live"]);
    }

    async fn after_two_minutes_the_past_is_gone(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        say(&client, "old").await;
        let old = events.next().await.unwrap();
        say(&client, "missed").await;
        drop(events);
        hub.advance_ms(120_000);
        let mut events = client.events(None, old.id.as_deref()).await;
        assert_eq!(events.next().await.unwrap().name, "RESYNC");
    }

    async fn after_a_restart_the_client_gets_a_resync(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        say(&client, "old").await;
        let old = events.next().await.unwrap();
        let hub = hub.restart(Duration::from_secs(1)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        let mut events = client.events(None, old.id.as_deref()).await;
        assert_eq!(events.next().await.unwrap().name, "RESYNC");
    }

    async fn a_second_stream_of_a_server_replaces_the_first(hub: Hub) {
        let client = hub.network().await;
        let mut first = client.events(Some("lobby-1"), None).await;
        let mut other = client.events(Some("lobby-2"), None).await;
        let mut nameless = client.events(None, None).await;
        // A request for the headers only replaces no stream.
        let head = client.send(client.request(Method::HEAD, "/api/plugin/events?serverId=lobby-1")).await;
        assert_eq!(head.headers["content-type"], "text/event-stream");
        say(&client, "one").await;
        assert_eq!(heard(&mut first, 1).await, ["one"]);
        let mut second = client.events(Some("lobby-1"), None).await;
        assert_eq!(first.next().await, None);
        say(&client, "two").await;
        assert_eq!(heard(&mut second, 1).await, ["two"]);
        assert_eq!(heard(&mut other, 2).await, ["one", "two"]);
        assert_eq!(heard(&mut nameless, 2).await, ["one", "two"]);
    }

    async fn networks_never_see_each_other(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        let mut our_events = ours.events(Some("lobby-1"), None).await;
        let mut their_events = theirs.events(Some("lobby-1"), None).await;
        say(&ours, "ours").await;
        publish_to(&hub, &ours, "lobby-1", 1).await;
        say(&theirs, "theirs").await;
        assert_eq!(heard(&mut their_events, 1).await, ["theirs"]);
        assert_eq!(heard(&mut our_events, 1).await, ["ours"]);
        let our_last = our_events.next().await.unwrap();
        assert_eq!(our_last.data["requestId"], "1");
        // Neither by an id of the other's.
        drop(their_events);
        let mut their_events = theirs.events(Some("lobby-1"), our_last.id.as_deref()).await;
        say(&theirs, "more").await;
        loop {
            let event = their_events.next().await.unwrap();
            assert!(event.name == "RESYNC" || event.name == "CHAT", "{event:?}");
            if event.data["message"] == "more" {
                break;
            }
        }
    }

    async fn an_event_for_one_server_is_on_its_stream_alone(hub: Hub) {
        let client = hub.network().await;
        let mut ours = client.events(Some("lobby-1"), None).await;
        let mut other = client.events(Some("lobby-2"), None).await;
        let mut nameless = client.events(None, None).await;
        publish_to(&hub, &client, "lobby-1", 1).await;
        say(&client, "to all").await;
        let event = ours.next().await.unwrap();
        assert_eq!((event.name.as_str(), &event.data["requestId"]), ("EXECUTE_COMMAND", &json!("1")));
        for events in [&mut ours, &mut other, &mut nameless] {
            assert_eq!(heard(events, 1).await, ["to all"]);
        }
    }

    async fn a_ping_comes_every_15_s_on_a_busy_stream_too(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(Some("lobby-1"), None).await;
        for round in 1..=2 {
            for _ in 0..2 {
                hub.advance_ms(5_000);
                say(&client, "busy").await;
            }
            assert_eq!(heard(&mut events, 2).await, ["busy", "busy"]);
            hub.advance_ms(5_000);
            let ping = events.next().await.unwrap();
            assert_eq!((ping.name.as_str(), ping.id), ("PING", None));
            assert_eq!(ping.data, json!({"type": "PING", "at": NOW + round * 15_000}));
        }
    }

    async fn streams_end_when_the_hub_stops(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(Some("lobby-1"), None).await;
        let _hub = hub.restart(Duration::ZERO).await;
        assert_eq!(events.next().await, None);
    }

    async fn a_stream_ends_with_its_key(hub: Hub) {
        let owner = hub.network().await;
        let mut stays = owner.events(Some("stays"), None).await;
        let make = async |body: Value| {
            let made = owner.post("/api/manage/keys", body).await.expect(201).clone();
            let key = hub.with_key(made["apiKey"].as_str().unwrap());
            (format!("/api/manage/keys/{}", made["keyId"].as_str().unwrap()), key)
        };
        let (path, revoked) = make(json!({"name": "a", "scopes": ["plugin"]})).await;
        let mut events = revoked.events(Some("a"), None).await;
        owner.delete(&path).await.expect(204);
        hub.advance_ms(1_000);
        assert_eq!(events.next().await, None);

        let (path, rolled) = make(json!({"name": "b", "scopes": ["plugin"]})).await;
        let mut events = rolled.events(Some("b"), None).await;
        owner.post(&format!("{path}/roll"), json!({"overlapMs": 5_000})).await.expect(201);
        hub.advance_ms(4_999);
        say(&owner, "still").await;
        assert_eq!(heard(&mut events, 1).await, ["still"]);
        hub.advance_ms(1_000);
        assert_eq!(events.next().await, None);

        let now = NOW + 6_999;
        let (_, short) = make(json!({"name": "c", "scopes": ["plugin"], "expiresAt": now + 1_000})).await;
        let mut events = short.events(Some("c"), None).await;
        hub.advance_ms(1_000);
        assert_eq!(events.next().await, None);

        say(&owner, "here").await;
        assert_eq!(heard(&mut stays, 2).await, ["still", "here"]);
        hub.app.db.write("UPDATE networks SET suspended = $2 WHERE network_id = $1")
            .bind(owner.network.unwrap()).bind(true).execute().await.unwrap();
        hub.advance_ms(1_000);
        assert_eq!(stays.next().await, None);
    }

    async fn a_client_that_reads_nothing_is_disconnected_and_delays_no_other(hub: Hub) {
        let client = hub.network().await;
        let mut healthy = client.events(Some("healthy"), None).await;
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4_096).unwrap();
        let address = hub.url().strip_prefix("http://").unwrap().parse().unwrap();
        let mut stuck = socket.connect(address).await.unwrap();
        let key = client.key.as_deref().unwrap();
        let request = format!(
            "GET /api/plugin/events?serverId=stuck HTTP/1.1\r\nHost: hub\r\nX-Service-Api-Key: {key}\r\n\r\n"
        );
        stuck.write_all(request.as_bytes()).await.unwrap();
        let mut head = [0; 12];
        stuck.read_exact(&mut head).await.unwrap();
        assert_eq!(&head, b"HTTP/1.1 200");

        let payload = json!({"padding": "x".repeat(32 * 1024)});
        for _ in 0..60 {
            for _ in 0..10 {
                publish(&hub.app, client.network.unwrap(), EventKind::ConfigUpdated, None, &payload).await.unwrap();
            }
            for _ in 0..10 {
                assert_eq!(healthy.next_named("CONFIG_UPDATED").await.data["padding"], payload["padding"]);
            }
        }
        assert_eq!(hub.app.state::<Streams>().count(), 2);
        until("the cut", || {
            hub.advance_ms(500);
            hub.app.state::<Streams>().count() == 1
        }).await;
        assert!(!hub.app.bus.is_connected(client.network.unwrap().0.as_u128(), "stuck"));
        say(&client, "on it goes").await;
        assert_eq!(healthy.next_named("CHAT").await.data["message"], "on it goes");
    }

    async fn a_client_that_left_is_forgotten(hub: Hub) {
        let client = hub.network().await;
        let network = client.network.unwrap().0.as_u128();
        let events = client.events(Some("lobby-1"), None).await;
        assert!(hub.app.bus.is_connected(network, "lobby-1"));
        drop(events);
        until("the end of the stream", || !hub.app.bus.is_connected(network, "lobby-1")).await;
        assert_eq!(hub.app.state::<Streams>().count(), 0);
    }
}
