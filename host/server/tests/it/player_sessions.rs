//! Player sessions: one server at a time writes a player's data.

mod fences;
mod saves;
mod servers;
mod snapshots;

use std::time::Duration;

use hub::limits::{Limit, LimitRow};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::servers::{beat, join, register, uuid};
use crate::support::{Answer, Client, Events, Hub, NOW, on_both};

pub fn path(player: u64) -> String {
    format!("/api/plugin/players/{}/session", uuid(player))
}

pub async fn try_open(client: &Client, player: u64, server: &str, wait_ms: i64) -> Answer {
    client.post(&path(player), json!({"serverId": server, "waitMs": wait_ms})).await
}

/// Opens a session. Returns its fence.
pub async fn open(client: &Client, player: u64, server: &str) -> i64 {
    try_open(client, player, server, 0).await.expect(200)["fence"].as_i64().unwrap()
}

/// Opens a session beside the test.
fn opening(client: &Client, player: u64, server: &'static str, wait_ms: i64) -> JoinHandle<Value> {
    let client = client.clone();
    tokio::spawn(async move { try_open(&client, player, server, wait_ms).await.expect(200).clone() })
}

pub async fn save(client: &Client, player: u64, fence: i64, body: Value) -> Answer {
    client.put(&format!("{}/{fence}", path(player)), body).await
}

pub async fn state(client: &Client, player: u64) -> Value {
    client.get(&path(player)).await.expect(200)["state"].clone()
}

pub fn data(namespace: &str, data: &Value) -> Value {
    json!([{"namespace": namespace, "data": data.to_string()}])
}

/// A stream of the server that names the events of sessions.
pub async fn stream(client: &Client, server: &str) -> Events {
    let path = format!("/api/plugin/events?serverId={server}&types=SESSION_REQUESTED,SESSION_ENDED,CHAT");
    Events::open(client.request(Method::GET, &path)).await
}

/// Number of requests that wait.
fn waiting(hub: &Hub) -> i64 {
    hub.app.state::<hub::player_sessions::PlayerSessions>().counts().1
}

async fn until_waiting(hub: &Hub, count: i64) {
    Hub::eventually("requests wait", async || waiting(hub) == count).await;
}

fn ended_as(answer: &Value) -> (bool, String, String) {
    let text = |field: &str| answer[field].as_str().unwrap_or("null").to_owned();
    (answer["takenOver"].as_bool().unwrap(), text("previousServerId"), text("previousState"))
}

fn taken(taken_over: bool, server: &str, state: &str) -> (bool, String, String) {
    (taken_over, server.to_owned(), state.to_owned())
}

on_both! {
    async fn a_session_is_opened_saved_and_closed(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        client.get(&path(1)).await.expect_error(404, "unknown_session");
        save(&client, 1, 1, json!({})).await.expect_error(409, "stale_session");
        let body = json!({
            "serverId": "a", "username": "Steve", "gameType": "MINECRAFT", "include": ["data:inventory", "session", "language"],
        });
        let opened = client.post(&path(1), body).await.expect(200).clone();
        assert_eq!((&opened["takenOver"], &opened["previousServerId"]), (&json!(false), &Value::Null));
        assert_eq!(opened["previousState"], Value::Null);
        let profile = &opened["profile"];
        assert_eq!((&profile["uuid"], &profile["username"]), (&json!(uuid(1)), &json!("Steve")));
        assert_eq!(profile["data"], json!({"inventory": null}));
        assert_eq!(profile["language"], json!({"locale": null, "source": null}));
        let fence = opened["fence"].as_i64().unwrap();
        let open = json!({"fence": fence, "serverId": "a", "openedAt": NOW, "endedAt": null, "state": "OPEN"});
        assert_eq!(profile["session"], open);
        assert_eq!(client.get(&path(1)).await.expect(200), &open);

        let body = json!({"data": data("inventory", &json!({"diamonds": 3})), "close": false});
        let saved = save(&client, 1, fence, body).await.expect(200).clone();
        let version = json!([{"gameMode": "global", "namespace": "inventory", "version": 1}]);
        assert_eq!(saved, json!({"versions": version, "closed": false}));
        hub.advance_ms(1_000);
        save(&client, 1, fence, json!({"close": true})).await.expect(200);
        let closed = client.get(&path(1)).await.expect(200).clone();
        assert_eq!((&closed["state"], &closed["endedAt"]), (&json!("CLOSED"), &json!(NOW + 1_000)));
        save(&client, 1, fence, json!({"data": data("inventory", &json!(7))})).await.expect_error(409, "stale_session");

        register(&client, "b", json!({})).await;
        let next = try_open(&client, 1, "b", 0).await.expect(200).clone();
        assert_eq!(ended_as(&next), taken(false, "a", "CLOSED"));
        assert!(next["fence"].as_i64().unwrap() > fence);
        assert_eq!(next["profile"]["namespaces"][0]["data"], json!({"diamonds": 3}).to_string());
        let loaded = client.post(&format!("/api/plugin/players/{}/load?include=session", uuid(1)), Value::Null).await;
        assert_eq!(loaded.expect(200)["session"]["serverId"], "b");
        let loaded = client.post(&format!("/api/plugin/players/{}/load?include=session", uuid(2)), Value::Null).await;
        assert_eq!(loaded.expect(200)["session"], Value::Null);
        // Another network's players are others.
        hub.network().await.get(&path(1)).await.expect_error(404, "unknown_session");
    }

    async fn invalid_openings_are_refused(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        for wrong in [
            json!({}), json!({"serverId": " "}), json!({"serverId": "a", "waitMs": -1}),
            json!({"serverId": "a", "waitMs": 10_001}), json!({"serverId": "a", "include": ["money"]}),
            json!({"serverId": "a", "include": "language"}), json!({"serverId": "a", "gameMode": "a b"}),
            json!({"serverId": "a", "gameType": "DOOM"}), json!({"serverId": "a", "ip": "localhost"}),
        ] {
            let refused = client.post(&path(1), wrong.clone()).await;
            refused.expect_error(400, "invalid_request");
            assert!(refused.body["error"].as_str().unwrap().contains("body"), "{}", refused.body);
        }
        try_open(&client, 1, "b", 0).await.expect_error(400, "unknown_server");
        client.post("/api/plugin/servers/unregister?serverId=a", Value::Null).await.expect(204);
        try_open(&client, 1, "a", 0).await.expect_error(400, "unknown_server");
        client.get(&path(1)).await.expect_error(404, "unknown_session");
        let scoped = client.key_with(&["players:write"]).await;
        register(&client, "a", json!({})).await;
        let body = json!({"serverId": "a", "include": ["permissions"]});
        scoped.post(&path(1), body).await.expect_error(403, "forbidden_scope");
        // Opening again is safe, and the key is not kept.
        let request = || client.request(Method::POST, &path(1)).header("Idempotency-Key", "k").json(&json!({"serverId": "a"}));
        let first = client.send(request()).await.expect(200)["fence"].clone();
        assert_ne!(client.send(request()).await.expect(200)["fence"], first);
    }

    async fn a_server_that_holds_the_player_is_asked_and_waited_for(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        let (mut of_a, mut of_b) = (stream(&client, "a").await, stream(&client, "b").await);
        let first = open(&client, 1, "a").await;
        let asked = opening(&client, 1, "b", 3_000);
        let request = of_a.next_named("SESSION_REQUESTED").await.data;
        let expected = json!({
            "type": "SESSION_REQUESTED", "at": NOW, "playerUuid": uuid(1), "fence": first, "serverId": "b",
            "deadline": NOW + 3_000,
        });
        assert_eq!(request, expected);
        let body = json!({"data": data("inventory", &json!("sword")), "close": true});
        save(&client, 1, first, body).await.expect(200);
        let opened = asked.await.unwrap();
        assert_eq!(ended_as(&opened), taken(false, "a", "CLOSED"));
        assert_eq!(opened["profile"]["namespaces"][0]["data"], "\"sword\"");
        // Nobody else was told.
        let line = json!({"playerUuid": uuid(2), "playerName": "p2", "message": "hello", "serverId": "a"});
        client.post("/api/plugin/chat", line).await.expect(204);
        assert_eq!(of_b.next().await.unwrap().name, "CHAT");
        assert_eq!(of_a.next().await.unwrap().name, "CHAT");
    }

    async fn a_request_that_waits_ends_with_its_key(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        let mut of_a = stream(&client, "a").await;
        let first = open(&client, 1, "a").await;
        let body = json!({"name": "short", "scopes": ["plugin"], "expiresAt": NOW + 1_000});
        let key = client.post("/api/manage/keys", body).await.expect(201)["apiKey"].as_str().unwrap().to_owned();
        let short = client.with_key(&key);
        let asked = tokio::spawn(async move { try_open(&short, 1, "b", 10_000).await });
        of_a.next_named("SESSION_REQUESTED").await;
        hub.advance_ms(1_000);
        asked.await.unwrap().expect_error(401, "unauthenticated");
        assert_eq!(client.get(&path(1)).await.expect(200)["fence"], json!(first));
        assert_eq!(state(&client, 1).await, "OPEN");
    }

    async fn a_session_is_taken_over_when_the_wait_is_over(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        let mut of_a = stream(&client, "a").await;
        let first = open(&client, 1, "a").await;
        let asked = opening(&client, 1, "b", 3_000);
        of_a.next_named("SESSION_REQUESTED").await;
        until_waiting(&hub, 1).await;
        hub.advance_ms(2_999);
        save(&client, 1, first, json!({"data": data("inventory", &json!(1))})).await.expect(200);
        assert!(!asked.is_finished());
        hub.advance_ms(1);
        assert_eq!(ended_as(&asked.await.unwrap()), taken(true, "a", "TAKEN_OVER"));
        save(&client, 1, first, json!({"data": data("inventory", &json!(2))})).await.expect_error(409, "stale_session");
        let ended = of_a.next_named("SESSION_ENDED").await.data;
        assert_eq!((&ended["playerUuid"], &ended["fence"]), (&json!(uuid(1)), &json!(first)));
        assert_eq!(waiting(&hub), 0);
    }

    async fn a_server_without_a_stream_is_waited_for_half_a_second(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        // A stream that does not name the event is none.
        let _other = client.events(Some("a"), None).await;
        open(&client, 1, "a").await;
        let asked = opening(&client, 1, "b", 10_000);
        until_waiting(&hub, 1).await;
        hub.advance_ms(499);
        assert!(!asked.is_finished());
        hub.advance_ms(1);
        assert_eq!(ended_as(&asked.await.unwrap()), taken(true, "a", "TAKEN_OVER"));

        // One that opens in time is asked, and has all of the time.
        let asked = opening(&client, 1, "a", 10_000);
        until_waiting(&hub, 1).await;
        hub.advance_ms(400);
        let mut of_b = stream(&client, "b").await;
        hub.advance_ms(60);
        of_b.next_named("SESSION_REQUESTED").await;
        hub.advance_ms(5_000);
        assert!(!asked.is_finished());
        hub.advance_ms(5_000);
        assert_eq!(ended_as(&asked.await.unwrap()), taken(true, "b", "TAKEN_OVER"));
    }

    async fn servers_come_in_the_order_in_which_they_asked(hub: Hub) {
        let client = hub.network().await;
        let mut streams = vec![];
        for server in ["a", "b", "c"] {
            register(&client, server, json!({})).await;
            streams.push(stream(&client, server).await);
        }
        let first = open(&client, 1, "a").await;
        let second = opening(&client, 1, "b", 10_000);
        until_waiting(&hub, 1).await;
        let third = opening(&client, 1, "c", 10_000);
        until_waiting(&hub, 2).await;
        streams[0].next_named("SESSION_REQUESTED").await;
        save(&client, 1, first, json!({"close": true})).await.expect(200);
        let second = second.await.unwrap();
        assert_eq!(ended_as(&second), taken(false, "a", "CLOSED"));
        // The next one asks the one before.
        let request = streams[1].next_named("SESSION_REQUESTED").await.data;
        assert_eq!((&request["fence"], &request["serverId"]), (&second["fence"], &json!("c")));
        // The holder itself gets a new fence at once, and is asked again.
        let again = try_open(&client, 1, "b", 10_000).await.expect(200).clone();
        assert_eq!(ended_as(&again), taken(false, "b", "SAME_SERVER"));
        let request = streams[1].next_named("SESSION_REQUESTED").await.data;
        assert_eq!(request["fence"], again["fence"]);
        save(&client, 1, second["fence"].as_i64().unwrap(), json!({})).await.expect_error(409, "stale_session");
        save(&client, 1, again["fence"].as_i64().unwrap(), json!({"close": true})).await.expect(200);
        assert_eq!(ended_as(&third.await.unwrap()), taken(false, "b", "CLOSED"));
        assert_eq!(waiting(&hub), 0);
    }

    async fn a_later_request_whose_time_is_over_lets_the_earlier_ones_go_first(hub: Hub) {
        let client = hub.network().await;
        let mut streams = vec![];
        for server in ["a", "b", "c"] {
            register(&client, server, json!({})).await;
            streams.push(stream(&client, server).await);
        }
        open(&client, 1, "a").await;
        let second = opening(&client, 1, "b", 10_000);
        until_waiting(&hub, 1).await;
        let third = opening(&client, 1, "c", 1_000);
        until_waiting(&hub, 2).await;
        hub.advance_ms(1_000);
        let (second, third) = (second.await.unwrap(), third.await.unwrap());
        assert_eq!(ended_as(&second), taken(true, "a", "TAKEN_OVER"));
        assert_eq!(ended_as(&third), taken(true, "b", "TAKEN_OVER"));
        assert!(third["fence"].as_i64() > second["fence"].as_i64());
        assert_eq!(client.get(&path(1)).await.expect(200)["serverId"], "c");
    }

    async fn a_server_that_goes_offline_is_not_waited_for(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        let _of_a = stream(&client, "a").await;
        let first = open(&client, 1, "a").await;
        let asked = opening(&client, 1, "b", 10_000);
        until_waiting(&hub, 1).await;
        client.post("/api/plugin/servers/unregister?serverId=a", Value::Null).await.expect(204);
        hub.advance_ms(100);
        assert_eq!(ended_as(&asked.await.unwrap()), taken(true, "a", "LOST"));
        save(&client, 1, first, json!({})).await.expect_error(409, "stale_session");
    }

    async fn a_session_is_lost_with_its_server_or_without_its_player(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let never_there = open(&client, 1, "a").await;
        open(&client, 2, "a").await;
        join(&client, "a", 2).await;
        open(&client, 3, "a").await;
        for _ in 0..59 {
            hub.advance_ms(1_000);
            beat(&client, "a", json!({})).await;
        }
        assert_eq!(state(&client, 1).await, "OPEN");
        hub.advance_ms(1_000);
        let lost = client.get(&path(1)).await.expect(200).clone();
        assert_eq!((&lost["state"], &lost["endedAt"]), (&json!("LOST"), &json!(NOW + 60_000)));
        assert_eq!(state(&client, 2).await, "OPEN");
        save(&client, 1, never_there, json!({})).await.expect_error(409, "stale_session");
        assert_eq!(ended_as(try_open(&client, 1, "a", 0).await.expect(200)), taken(true, "a", "LOST"));

        // The minute begins when the player leaves.
        client.delete(&format!("/api/plugin/servers/players/{}?serverId=a", uuid(2))).await.expect(204);
        for _ in 0..3 {
            hub.advance_ms(19_999);
            beat(&client, "a", json!({})).await;
        }
        assert_eq!(state(&client, 2).await, "OPEN");
        hub.advance_ms(3);
        assert_eq!(state(&client, 2).await, "LOST");

        let last = open(&client, 4, "a").await;
        join(&client, "a", 4).await;
        hub.advance_ms(30_000);
        assert_eq!(state(&client, 4).await, "LOST");
        save(&client, 4, last, json!({"data": data("n", &json!(1))})).await.expect_error(409, "stale_session");
    }

    async fn a_session_that_is_lost_while_it_is_read_is_not_open(hub: Hub) {
        let client = hub.network().await;
        for round in 0..20 {
            register(&client, "a", json!({})).await;
            for player in 0..8 {
                open(&client, player, "a").await;
            }
            // The hub ends them by itself, beside the requests.
            hub.advance_ms(30_000);
            let reads = (0..8).flat_map(|player| [player; 4]).map(|player| state(&client, player));
            let states = futures_util::future::join_all(reads).await;
            assert!(states.iter().all(|state| state == "LOST"), "in round {round}: {states:?}");
        }
    }

    async fn lost_sessions_end_without_being_asked_for(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        open(&client, 1, "a").await;
        client.post("/api/plugin/servers/unregister?serverId=a", Value::Null).await.expect(204);
        hub.advance_ms(1_000);
        Hub::eventually("the session is lost", async || {
            let sql = "SELECT COUNT(*) FROM player_sessions WHERE state = 'LOST'";
            hub.app.db.query(sql).one::<(i64,)>().await.unwrap().0 == 1
        })
        .await;
    }

    async fn an_erased_player_has_no_session_and_no_old_fence(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let first = open(&client, 1, "a").await;
        save(&client, 1, first, json!({"data": data("n", &json!(1)), "close": true})).await.expect(200);
        let second = open(&client, 1, "a").await;
        client.delete(&format!("/api/manage/players/{}", uuid(1))).await.expect(204);
        client.get(&path(1)).await.expect_error(404, "unknown_session");
        save(&client, 1, second, json!({})).await.expect_error(409, "stale_session");
        assert!(open(&client, 1, "a").await > second);
        let snapshots = format!("/api/manage/players/{}/data/global/n/snapshots", uuid(1));
        assert_eq!(client.get(&snapshots).await.expect(200)["total"], 0);
    }

    async fn a_restart_keeps_sessions_and_waits_for_their_servers(hub: Hub) {
        let client = hub.network().await;
        for server in ["a", "b"] {
            register(&client, server, json!({})).await;
        }
        let fences = [open(&client, 1, "a").await, open(&client, 2, "a").await, open(&client, 3, "b").await];
        let hub = hub.restart(Duration::from_secs(100)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        // Longer than servers may be silent: none is back yet, and all sessions are still there.
        hub.advance_ms(1_000);
        assert_eq!(state(&client, 1).await, "OPEN");
        register(&client, "c", json!({})).await;
        // Another server that asks does not wait.
        let taken_from = try_open(&client, 2, "c", 10_000).await.expect(200).clone();
        assert_eq!(ended_as(&taken_from), taken(true, "a", "LOST"));
        assert!(taken_from["fence"].as_i64().unwrap() > fences[2]);
        register(&client, "a", json!({})).await;
        save(&client, 1, fences[0], json!({"data": data("n", &json!(5))})).await.expect(200);
        for _ in 0..3 {
            hub.advance_ms(19_500);
            beat(&client, "a", json!({})).await;
        }
        assert_eq!(state(&client, 3).await, "OPEN");
        hub.advance_ms(1_000);
        assert_eq!(state(&client, 3).await, "LOST", "its server never came back");
        save(&client, 3, fences[2], json!({})).await.expect_error(409, "stale_session");
    }

    async fn an_older_copy_of_the_database_accepts_no_fence_of_before(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let before = open(&client, 1, "a").await;
        hub.app.db.begin_epoch(hub.app.db.epoch_number().await.unwrap()).await.unwrap();
        save(&client, 1, before, json!({"data": data("n", &json!(1))})).await.expect_error(409, "stale_session");
        let change = json!({"currency": "coins", "amount": 1, "fence": before});
        let modify = format!("/api/plugin/economy/player/{}/currencies/modify", uuid(1));
        client.post(&modify, change).await.expect_error(409, "stale_session");
        assert_eq!(state(&client, 1).await, "LOST");
        let after = open(&client, 1, "a").await;
        assert!(after > before + 1_000_000, "fences of the lost part may be above {before}: {after}");
        save(&client, 1, after, json!({"data": data("n", &json!(1))})).await.expect(200);
    }

    async fn keys_of_other_servers_have_no_sessions(hub: Hub) {
        let client = hub.network().await;
        for server in ["a", "b"] {
            register(&client, server, json!({})).await;
        }
        let bound = json!({"name": "b", "scopes": ["plugin"], "servers": ["b"]});
        let key = client.post("/api/manage/keys", bound).await.expect(201)["apiKey"].as_str().unwrap().to_owned();
        let bound = client.with_key(&key);
        let fence = open(&client, 1, "a").await;
        try_open(&bound, 1, "a", 0).await.expect_error(403, "forbidden_origin");
        bound.get(&path(1)).await.expect_error(403, "forbidden_origin");
        save(&bound, 1, fence, json!({})).await.expect_error(403, "forbidden_origin");
        let place = format!("/api/plugin/players/{}/data/global/n", uuid(1));
        bound.put(&place, json!({"data": "1", "fence": fence})).await.expect_error(403, "forbidden_origin");
        let change = json!({"currency": "coins", "amount": 1, "fence": fence});
        let modify = format!("/api/plugin/economy/player/{}/currencies/modify", uuid(1));
        bound.post(&modify, change).await.expect_error(403, "forbidden_origin");
        let own = open(&bound, 1, "b").await;
        save(&bound, 1, own, json!({"close": true})).await.expect(200);
        bound.get(&path(1)).await.expect(200);
    }
}

/// Limit of requests that wait.
const WAITERS: Limit = Limit::new(&LimitRow { name: "sessionWaiters", bound: 1_000, counted: "", effect: None });

async fn only_so_many_requests_wait(backend: crate::support::Backend) {
    let hub = Hub::start_with(backend, |settings| settings.limits = settings.limits.clone().with(WAITERS, 2)).await;
    let client = hub.network().await;
    for server in ["a", "b"] {
        register(&client, server, json!({})).await;
    }
    let _stream = stream(&client, "a").await;
    for player in 1..=3 {
        open(&client, player, "a").await;
    }
    let waiting: Vec<_> = (1..=2).map(|player| opening(&client, player, "b", 10_000)).collect();
    until_waiting(&hub, 2).await;
    let refused = try_open(&client, 3, "b", 10_000).await;
    refused.expect_error(429, "rate_limited");
    assert!(refused.headers.contains_key("retry-after"));
    // Those that need not wait are served.
    open(&client, 4, "b").await;
    open(&client, 3, "b").await;
    hub.advance_ms(10_000);
    for waiting in waiting {
        waiting.await.unwrap();
    }
    assert_eq!(self::waiting(&hub), 0);
}

crate::support::on_each! { only_so_many_requests_wait }
