//! Worlds on demand: the lease's states, who may say what of it, and where worlds boot.

mod property;
mod snapshots;
mod store;

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::servers::{beat, join, register, uuid};
use crate::support::{Answer, Client, Events, Hub, NOW, on_both};

const LEASE: u64 = 60_000;

/// The request for an owner's world, with `more` over it.
#[allow(clippy::needless_pass_by_value, reason = "reads better with json!")]
fn open_request(owner: &str, more: Value) -> Value {
    let mut body = json!({"ownerScope": "party", "ownerId": owner, "gameId": "islands"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

async fn open(client: &Client, owner: &str) -> Value {
    client.post("/api/plugin/worlds/open", open_request(owner, json!({}))).await.expect(200).clone()
}

async fn node(client: &Client, id: &str) {
    register(client, id, json!({"serverType": "islands"})).await;
}

/// Calls back for a lease: `more` over the node and the fence.
#[allow(clippy::needless_pass_by_value, reason = "reads better with json!")]
async fn call(client: &Client, id: &Value, what: &str, node: &str, fence: i64, more: Value) -> Answer {
    let mut body = json!({"nodeServerId": node, "fence": fence});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post(&format!("/api/plugin/worlds/{}/{what}", id.as_str().unwrap()), body).await
}

async fn ready(client: &Client, id: &Value, node: &str, fence: i64) {
    call(client, id, "ready", node, fence, json!({})).await.expect(200);
}

/// Keeps the servers online and the leases alive while time passes.
async fn pass(hub: &Hub, client: &Client, servers: &[&str], leases: &[(&Value, &str, i64, u64)], seconds: u64) {
    for _ in 0..seconds / 20 {
        hub.advance_ms(20_000);
        for server in servers {
            beat(client, server, json!({})).await;
        }
        for (id, node, fence, players) in leases {
            call(client, id, "heartbeat", node, *fence, json!({"playerCount": players})).await;
        }
    }
}

async fn state(client: &Client, id: &Value) -> String {
    let path = format!("/api/plugin/worlds/{}/release", id.as_str().unwrap());
    client.post(&path, Value::Null).await.expect(200)["state"].as_str().unwrap().to_owned()
}

/// The next state of a world that streams are told of, as `id state`.
async fn told_state(events: &mut Events) -> String {
    let data = events.next_named("WORLD_STATE").await.data;
    format!("{} {}", data["worldInstanceId"].as_str().unwrap(), data["state"].as_str().unwrap())
}

on_both! {
    async fn streams_are_told_of_every_state_of_a_world(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let request = client.request(reqwest::Method::GET, "/api/plugin/events?types=WORLD_STATE");
        let mut events = Events::open(request).await;
        let id = open(&client, "p").await["worldInstanceId"].clone();
        assert_eq!(told_state(&mut events).await, "1 LOADING");
        ready(&client, &id, "n1", 1).await;
        // Once, however often it is said.
        ready(&client, &id, "n1", 1).await;
        assert_eq!(told_state(&mut events).await, "1 READY");
        client.post("/api/plugin/worlds/1/release", Value::Null).await.expect(200);
        client.post("/api/plugin/worlds/1/release", Value::Null).await.expect(200);
        assert_eq!(told_state(&mut events).await, "1 DRAINING");
        for _ in 0..2 {
            call(&client, &id, "unloaded", "n1", 1, json!({})).await.expect(200);
        }
        assert_eq!(told_state(&mut events).await, "1 UNLOADED");
        open(&client, "p").await;
        open(&client, "p").await;
        assert_eq!(told_state(&mut events).await, "2 LOADING");
        client.post("/api/plugin/worlds/release-all", json!({"nodeServerId": "n1"})).await.expect(200);
        assert_eq!(told_state(&mut events).await, "2 LOST");
        open(&client, "p").await;
        assert_eq!(told_state(&mut events).await, "3 LOADING");
        // Its time runs out.
        hub.advance_ms(61_000);
        assert_eq!(told_state(&mut events).await, "3 LOST");
        // Another network's worlds are its own.
        let other = hub.network().await;
        node(&other, "n1").await;
        open(&other, "p").await;
        node(&client, "n1").await;
        open(&client, "q").await;
        assert_eq!(told_state(&mut events).await, "4 LOADING");
    }

    async fn a_world_boots_on_a_node_and_is_then_ready(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let mut stream = client.events(Some("n1"), None).await;
        let mut everybody = client.events(None, None).await;
        let seed = json!({"ref": "desert", "format": "schematic", "x": 0.5, "y": 64.0, "z": -3.0});
        let more = json!({"worldKey": "main", "seed": seed, "worldGen": "flat", "persistence": "PERSISTENT"});
        let opened = client.post("/api/plugin/worlds/open", open_request("p", more)).await.expect(200).clone();
        let id = opened["worldInstanceId"].clone();
        assert_eq!(opened, json!({"success": true, "status": "LOADING", "worldInstanceId": id, "errorMessage": null,
            "matchedServer": null, "transferId": null}));
        let told = stream.next_named("WORLD_OPEN").await.data;
        let number: i64 = id.as_str().unwrap().parse().unwrap();
        assert_eq!(told, json!({"type": "WORLD_OPEN", "at": NOW, "worldId": number, "fence": 1, "leaseMs": 60_000,
            "worldKey": "main", "gameId": "islands", "owner": {"scope": "party", "id": "p"}, "persistence": "PERSISTENT",
            "seed": seed, "worldGen": "flat", "blobKey": null, "snapshotUrl": null}));
        let again = client.post("/api/plugin/worlds/open", open_request("p", json!({"worldKey": "main"}))).await;
        assert_eq!(again.expect(200), &opened);
        hub.advance_ms(1_000);
        let answer = call(&client, &id, "ready", "n1", 1, json!({})).await;
        assert_eq!(answer.expect(200), &json!({"worldInstanceId": id, "state": "READY", "fence": 1,
            "nodeServerId": "n1", "playerCount": 0, "leaseMs": 60_000, "expiresAt": NOW + 61_000}));
        let live = client.get("/api/manage/servers/n1").await.expect(200)["live"].clone();
        let event = everybody.next().await.unwrap();
        assert_eq!((event.name.as_str(), &event.data), ("WORLD_READY", &json!({"type": "WORLD_READY", "at": NOW + 1_000,
            "worldInstanceId": id, "server": live})));
        let up = client.post("/api/plugin/worlds/open", open_request("p", json!({"worldKey": "main"}))).await;
        assert_eq!(up.expect(200), &json!({"success": true, "status": "READY", "worldInstanceId": id,
            "errorMessage": null, "matchedServer": live, "transferId": null}));
        // Said again, it is not told again.
        ready(&client, &id, "n1", 1).await;
        client.post("/api/plugin/chat", json!({"playerUuid": uuid(1), "playerName": "p", "message": "hi",
            "serverId": "n1", "serverType": "islands"})).await.expect(204);
        assert_eq!(everybody.next().await.unwrap().name, "CHAT");
        // Another key is another world.
        assert_ne!(open(&client, "p").await["worldInstanceId"], id);
    }

    async fn what_cannot_be_read_is_400(hub: Hub) {
        let client = hub.network().await;
        for (wrong, hint) in [
            (json!({}), "ownerScope"),
            (json!({"ownerScope": "party", "ownerId": "p"}), "gameId"),
            (open_request("", json!({})), "`ownerId`"),
            (open_request("p", json!({"ownerScope": 3})), "`ownerScope`"),
            (open_request(&"x".repeat(129), json!({})), "`ownerId`"),
            (open_request("p", json!({"persistence": "MAYBE"})), "`persistence`"),
            (open_request("p", json!({"seed": {"x": "left"}})), "`seed.x`"),
            (open_request("p", json!({"worldGen": 3})), "`worldGen`"),
        ] {
            let answer = client.post("/api/plugin/worlds/open", wrong.clone()).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(hint), "{wrong}: {}", answer.body);
        }
        node(&client, "n1").await;
        let id = open(&client, "p").await["worldInstanceId"].clone();
        for (what, wrong, hint) in [
            ("heartbeat", json!({"fence": 1}), "nodeServerId"),
            ("heartbeat", json!({"nodeServerId": "n1"}), "fence"),
            ("heartbeat", json!({"nodeServerId": "n1", "fence": 1, "playerCount": -1}), "`playerCount`"),
            ("ready", json!({"nodeServerId": "n1", "fence": "1"}), "`fence`"),
            ("unloaded", json!({"nodeServerId": " ", "fence": 1}), "`nodeServerId`"),
            ("unloaded", json!({"nodeServerId": "n1", "fence": 1, "blobKey": "k", "sizeBytes": -1}), "`sizeBytes`"),
            ("snapshot", json!({"reason": 4}), "`reason`"),
        ] {
            let answer = client.post(&format!("/api/plugin/worlds/{}/{what}", id.as_str().unwrap()), wrong.clone()).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(hint), "{wrong}: {}", answer.body);
        }
        client.post("/api/plugin/worlds/release-all", json!({})).await.expect_error(400, "invalid_request");
        client.post("/api/plugin/worlds/x/release", json!({})).await.expect_error(400, "invalid_request");
        // Long names in four bytes a letter still fit their index.
        let long = "\u{1F30D}".repeat(128);
        let game = "\u{1F30D}".repeat(255);
        let wide = json!({"ownerScope": long, "ownerId": long, "gameId": game, "worldKey": long});
        register(&client, "wide", json!({"serverType": game})).await;
        assert_eq!(client.post("/api/plugin/worlds/open", wide).await.expect(200)["status"], "LOADING");
    }

    async fn where_a_world_boots(hub: Hub) {
        let client = hub.network().await;
        let refused = open(&client, "p0").await;
        assert_eq!((&refused["success"], &refused["status"], &refused["worldInstanceId"]), (&json!(false), &Value::Null, &Value::Null));
        let why = refused["errorMessage"].as_str().unwrap();
        assert!(why.contains("no server of the type `islands` (its `gameId`) is online"), "{why}");
        register(&client, "other", json!({"serverType": "lobby"})).await;
        register(&client, "proxy", json!({"serverType": "islands", "role": "PROXY"})).await;
        register(&client, "full", json!({"serverType": "islands", "maxPlayers": 1})).await;
        join(&client, "full", 1).await;
        let refused = open(&client, "p0").await;
        assert_eq!(refused["success"], false);
        let why = refused["errorMessage"].as_str().unwrap();
        assert!(why.contains("1 have another role than GAME, 1 are full, and 0 accept no players"), "{why}");
        node(&client, "a").await;
        node(&client, "b").await;
        let _streams = (client.events(Some("a"), None).await, client.events(Some("b"), None).await);
        let host = async |owner: &str, prefer: Value| {
            let id = client.post("/api/plugin/worlds/open", open_request(owner, json!({"preferNode": prefer}))).await.expect(200)["worldInstanceId"].clone();
            let mut holder = String::new();
            for node in ["a", "b", "c", "other", "full", "proxy"] {
                if call(&client, &id, "ready", node, 1, json!({})).await.status == 200 {
                    holder = node.to_owned();
                }
            }
            holder
        };
        // The fewest leases, then the id.
        assert_eq!(host("p1", Value::Null).await, "a");
        assert_eq!(host("p2", Value::Null).await, "b");
        assert_eq!(host("p3", json!("a")).await, "a");
        assert_eq!(host("p4", Value::Null).await, "b");
        // One that would not hear of it comes last.
        node(&client, "c").await;
        assert_eq!(host("p5", Value::Null).await, "a");
        // What is preferred counts if it is online with room, whatever its type.
        assert_eq!(host("p6", json!("other")).await, "other");
        for prefer in ["full", "proxy", "nowhere"] {
            assert_eq!(host(&format!("p-{prefer}"), json!(prefer)).await.len(), 1, "{prefer}");
        }
    }

    async fn many_who_open_at_once_get_one_lease(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        node(&client, "n2").await;
        let mut opens = tokio::task::JoinSet::new();
        for round in 0..24 {
            let client = client.clone();
            opens.spawn(async move { open(&client, &format!("p{}", round % 3)).await });
        }
        let answers = opens.join_all().await;
        assert!(answers.iter().all(|answer| answer["status"] == "LOADING"), "{answers:?}");
        let ids: HashSet<_> = answers.iter().map(|answer| answer["worldInstanceId"].to_string()).collect();
        assert_eq!(ids.len(), 3);
    }

    async fn callbacks_of_who_does_not_hold_the_lease_change_nothing(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        node(&client, "n2").await;
        let id = open(&client, "p").await["worldInstanceId"].clone();
        let anonymous = hub.network().await;
        for what in ["ready", "heartbeat", "unloaded"] {
            call(&client, &json!("999"), what, "n1", 1, json!({})).await.expect_error(404, "unknown_world");
            call(&anonymous, &id, what, "n1", 1, json!({})).await.expect_error(404, "unknown_world");
            call(&client, &id, what, "n1", 2, json!({})).await.expect_error(400, "stale_fence");
            call(&client, &id, what, "n2", 1, json!({})).await.expect_error(400, "wrong_node");
        }
        for what in ["release", "snapshot", "upload-url"] {
            anonymous.post(&format!("/api/plugin/worlds/{}/{what}", id.as_str().unwrap()), json!({})).await
                .expect_error(404, "unknown_world");
        }
        // A key for agents may call back, and no more.
        let agent = client.key_with(&["agent"]).await;
        ready(&agent, &id, "n1", 1).await;
        call(&agent, &id, "heartbeat", "n1", 1, json!({"playerCount": 3})).await.expect(200);
        agent.post("/api/plugin/worlds/open", open_request("p", json!({}))).await.expect_error(403, "forbidden_scope");
        call(&client, &id, "unloaded", "n1", 1, json!({})).await.expect(200);
        // Ended, whatever the fence; the same again is the same.
        call(&client, &id, "unloaded", "n1", 1, json!({})).await.expect(200);
        call(&client, &id, "unloaded", "n1", 2, json!({})).await.expect_error(400, "lease_ended");
        call(&client, &id, "unloaded", "n1", 1, json!({"blobKey": "k"})).await.expect_error(400, "lease_ended");
        for what in ["ready", "heartbeat"] {
            call(&client, &id, what, "n1", 1, json!({})).await.expect_error(400, "lease_ended");
            call(&client, &id, what, "n2", 7, json!({})).await.expect_error(400, "lease_ended");
        }
        assert_eq!(state(&client, &id).await, "UNLOADED");
        for what in ["snapshot", "upload-url"] {
            client.post(&format!("/api/plugin/worlds/{}/{what}", id.as_str().unwrap()), json!({})).await
                .expect_error(400, "lease_ended");
        }
    }

    async fn a_lease_that_is_not_renewed_is_lost(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        node(&client, "n2").await;
        let first = open(&client, "p").await["worldInstanceId"].clone();
        hub.advance_ms(20_000);
        beat(&client, "n1", json!({})).await;
        beat(&client, "n2", json!({})).await;
        // Who boots may beat, too.
        let answer = call(&client, &first, "heartbeat", "n1", 1, json!({})).await.expect(200).clone();
        assert_eq!((&answer["state"], &answer["expiresAt"]), (&json!("LOADING"), &json!(NOW + 80_000)));
        hub.advance_ms(20_000);
        ready(&client, &first, "n1", 1).await;
        hub.advance_ms(LEASE - 1);
        call(&client, &first, "heartbeat", "n1", 1, json!({})).await.expect(200);
        hub.advance_ms(LEASE);
        call(&client, &first, "heartbeat", "n1", 1, json!({})).await.expect_error(400, "lease_ended");
        node(&client, "n2").await;
        let second = open(&client, "p").await;
        assert_eq!(second["status"], "LOADING");
        assert_ne!(second["worldInstanceId"], first);
        // The one that was away meets the successor.
        call(&client, &first, "unloaded", "n1", 1, json!({})).await.expect_error(400, "lease_ended");
        call(&client, &second["worldInstanceId"], "unloaded", "n1", 1, json!({})).await.expect_error(400, "stale_fence");
        ready(&client, &second["worldInstanceId"], "n2", 2).await;
        assert_eq!(state(&client, &first).await, "LOST");
        // One that boots for too long is lost as well.
        let third = open(&client, "q").await["worldInstanceId"].clone();
        hub.advance_ms(LEASE);
        call(&client, &third, "ready", "n2", 1, json!({})).await.expect_error(400, "lease_ended");
    }

    async fn an_empty_world_is_saved_and_unloaded_after_five_minutes(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let mut stream = client.events(Some("n1"), None).await;
        let idle = open(&client, "idle").await["worldInstanceId"].clone();
        let busy = open(&client, "busy").await["worldInstanceId"].clone();
        let brief = client.post("/api/plugin/worlds/open", open_request("brief", json!({"persistence": "EPHEMERAL"}))).await.expect(200)["worldInstanceId"].clone();
        for id in [&idle, &busy, &brief] {
            ready(&client, id, "n1", 1).await;
        }
        call(&client, &busy, "heartbeat", "n1", 1, json!({"playerCount": 1})).await.expect(200);
        let held = [(&idle, "n1", 1, 0), (&busy, "n1", 1, 1), (&brief, "n1", 1, 0)];
        pass(&hub, &client, &["n1"], &held, 280).await;
        let beat = call(&client, &idle, "heartbeat", "n1", 1, json!({"playerCount": 0})).await;
        assert_eq!(beat.expect(200)["state"], "READY");
        pass(&hub, &client, &["n1"], &held, 20).await;
        let mut told = vec![];
        while told.len() < 3 {
            let event = stream.next().await.unwrap();
            if event.name.starts_with("WORLD_") && event.name != "WORLD_OPEN" && event.name != "WORLD_READY" {
                assert_eq!((&event.data["reason"], &event.data["fence"]), (&json!("IDLE"), &json!(1)));
                told.push(format!("{} {}", event.name, event.data["worldId"]));
            }
        }
        let number = |id: &Value| id.as_str().unwrap().to_owned();
        // What is EPHEMERAL is not saved.
        let mut expected = vec![
            format!("WORLD_SNAPSHOT {}", number(&idle)),
            format!("WORLD_UNLOAD {}", number(&idle)),
            format!("WORLD_UNLOAD {}", number(&brief)),
        ];
        if told[0].starts_with("WORLD_UNLOAD") {
            expected.rotate_right(1);
        }
        assert_eq!(told, expected);
        let beat = call(&client, &idle, "heartbeat", "n1", 1, json!({"playerCount": 0})).await;
        assert_eq!(beat.expect(200)["state"], "DRAINING");
        let beat = call(&client, &busy, "heartbeat", "n1", 1, json!({"playerCount": 0})).await;
        assert_eq!(beat.expect(200)["state"], "READY");
    }

    async fn who_opens_a_world_keeps_it_up(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let id = open(&client, "p").await["worldInstanceId"].clone();
        ready(&client, &id, "n1", 1).await;
        pass(&hub, &client, &["n1"], &[(&id, "n1", 1, 0)], 280).await;
        assert_eq!(open(&client, "p").await["status"], "READY");
        pass(&hub, &client, &["n1"], &[(&id, "n1", 1, 0)], 200).await;
        let beat = call(&client, &id, "heartbeat", "n1", 1, json!({})).await;
        assert_eq!(beat.expect(200)["state"], "READY");
    }

    async fn a_released_world_is_drained_at_once_and_its_successor_waits(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let mut stream = client.events(Some("n1"), None).await;
        let first = open(&client, "p").await["worldInstanceId"].clone();
        // One that boots is not idle.
        assert_eq!(state(&client, &first).await, "LOADING");
        ready(&client, &first, "n1", 1).await;
        assert_eq!(state(&client, &first).await, "DRAINING");
        assert_eq!(stream.next_named("WORLD_SNAPSHOT").await.data["reason"], "RELEASED");
        let told = stream.next_named("WORLD_UNLOAD").await.data;
        assert_eq!((&told["worldId"].to_string(), &told["fence"]), (&first.as_str().unwrap().to_owned(), &json!(1)));
        // Released again, it is not told again.
        assert_eq!(state(&client, &first).await, "DRAINING");
        let second = open(&client, "p").await;
        assert_eq!(second["status"], "LOADING");
        let second = second["worldInstanceId"].clone();
        assert_ne!(second, first);
        assert_eq!(open(&client, "p").await["worldInstanceId"], second);
        // Nobody holds it yet.
        call(&client, &second, "ready", "n1", 2, json!({})).await.expect_error(400, "wrong_node");
        pass(&hub, &client, &["n1"], &[(&first, "n1", 1, 0)], 100).await;
        assert_eq!(open(&client, "p").await["worldInstanceId"], second);
        call(&client, &first, "unloaded", "n1", 1, json!({})).await.expect(200);
        let told = stream.next_named("WORLD_OPEN").await.data;
        assert_eq!((&told["at"], &told["fence"]), (&json!(NOW + 100_000), &json!(2)));
        assert_eq!(told["worldId"].to_string(), second.as_str().unwrap());
        ready(&client, &second, "n1", 2).await;
        assert_eq!(open(&client, "p").await["status"], "READY");
    }

    async fn a_successor_boots_when_the_drained_lease_is_lost(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let first = open(&client, "p").await["worldInstanceId"].clone();
        ready(&client, &first, "n1", 1).await;
        assert_eq!(state(&client, &first).await, "DRAINING");
        let second = open(&client, "p").await["worldInstanceId"].clone();
        let mut stream = client.events(Some("n1"), None).await;
        for _ in 0..3 {
            hub.advance_ms(20_000);
            beat(&client, "n1", json!({})).await;
        }
        hub.advance_ms(1_000);
        let told = stream.next_named("WORLD_OPEN").await.data;
        assert_eq!((told["worldId"].to_string(), &told["fence"]), (second.as_str().unwrap().to_owned(), &json!(2)));
        ready(&client, &second, "n1", 2).await;
    }

    async fn a_node_that_starts_anew_drops_its_leases(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let (a, b) = (open(&client, "a").await["worldInstanceId"].clone(), open(&client, "b").await["worldInstanceId"].clone());
        ready(&client, &a, "n1", 1).await;
        let anonymous = hub.network().await;
        let all = json!({"nodeServerId": "n1"});
        assert_eq!(anonymous.post("/api/plugin/worlds/release-all", all.clone()).await.expect(200), &json!({"released": 0}));
        let agent = client.key_with(&["agent"]).await;
        assert_eq!(agent.post("/api/plugin/worlds/release-all", all.clone()).await.expect(200), &json!({"released": 2}));
        assert_eq!(agent.post("/api/plugin/worlds/release-all", all).await.expect(200), &json!({"released": 0}));
        call(&client, &a, "heartbeat", "n1", 1, json!({})).await.expect_error(400, "lease_ended");
        assert_eq!(state(&client, &b).await, "LOST");
        assert_ne!(open(&client, "a").await["worldInstanceId"], a);
    }

    async fn a_slot_is_kept_for_an_owner_who_is_a_player(hub: Hub) {
        let client = hub.network().await;
        register(&client, "n1", json!({"serverType": "islands", "maxPlayers": 1})).await;
        let body = json!({"ownerScope": "player", "ownerId": uuid(1), "gameId": "islands"});
        let opened = client.post("/api/plugin/worlds/open", body.clone()).await.expect(200).clone();
        assert_eq!(opened["transferId"], Value::Null);
        ready(&client, &opened["worldInstanceId"], "n1", 1).await;
        let up = client.post("/api/plugin/worlds/open", body.clone()).await.expect(200).clone();
        assert_eq!(up["transferId"].as_str().unwrap().len(), 36);
        let find = |player: u64| json!({"playerUuid": uuid(player), "serverId": "n1"});
        let find = async |player| client.post("/api/plugin/matchmaking/find", find(player)).await.expect(200)["result"].clone();
        assert_eq!(find(2).await, "SERVER_FULL");
        // A transfer there uses it, and knows the world before any heartbeat shows it.
        register(&client, "lobby", json!({})).await;
        join(&client, "lobby", 1).await;
        let _stream = client.events(Some("lobby"), None).await;
        let order = json!({"playerUuid": uuid(1), "targetServerId": "n1", "targetWorldId": up["worldInstanceId"]});
        let sent = client.post("/api/plugin/transfers", order.clone()).await.expect(200).clone();
        assert_eq!((&sent["result"], &sent["transferId"]), (&json!("SUCCESS"), &up["transferId"]));
        let mut elsewhere = order;
        elsewhere["targetWorldId"] = json!("999");
        assert_eq!(client.post("/api/plugin/transfers", elsewhere).await.expect(200)["result"], "WORLD_NOT_FOUND");
        join(&client, "n1", 1).await;
        // Who is there needs none; nor is one promised where none is free.
        assert_eq!(client.post("/api/plugin/worlds/open", body).await.expect(200)["transferId"], Value::Null);
    }

    async fn a_world_whose_node_is_silent_cannot_be_had(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let id = open(&client, "p").await["worldInstanceId"].clone();
        ready(&client, &id, "n1", 1).await;
        hub.advance_ms(30_000);
        let refused = open(&client, "p").await;
        assert_eq!((&refused["success"], &refused["status"]), (&json!(false), &Value::Null), "{refused}");
        assert!(refused["errorMessage"].as_str().unwrap().contains("node"));
    }

    async fn leases_outlive_a_restart_of_the_hub(hub: Hub) {
        let client = hub.network().await;
        node(&client, "n1").await;
        let up = open(&client, "up").await["worldInstanceId"].clone();
        let booting = open(&client, "booting").await["worldInstanceId"].clone();
        ready(&client, &up, "n1", 1).await;
        let key = client.key.clone().unwrap();
        let hub = hub.restart(Duration::from_secs(20)).await;
        let client = hub.with_key(&key);
        assert_eq!(open(&client, "up").await["worldInstanceId"], up);
        assert_eq!(open(&client, "booting").await["worldInstanceId"], booting);
        call(&client, &up, "heartbeat", "n1", 1, json!({"playerCount": 2})).await.expect(200);
        ready(&client, &booting, "n1", 1).await;
    }

    async fn an_owners_live_world_comes_first_in_matchmaking(hub: Hub) {
        let client = hub.network().await;
        // Without it, `a` is the one: emptiest and first by name.
        node(&client, "a").await;
        register(&client, "z", json!({"serverType": "islands"})).await;
        join(&client, "z", 9).await;
        let on_z = open_request("p", json!({"preferNode": "z"}));
        let id = client.post("/api/plugin/worlds/open", on_z).await.expect(200)["worldInstanceId"].clone();
        let find = async |more: Value| {
            let mut body = json!({"playerUuid": uuid(1), "serverType": "islands", "affinityGameId": "islands",
                "affinityOwnerScope": "party", "affinityOwnerId": "p"});
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let found = client.post("/api/plugin/matchmaking/find", body).await.expect(200).clone();
            (found["matchedServer"]["serverId"].as_str().unwrap().to_owned(), found["warm"].as_bool().unwrap(),
                found["matchedWorld"]["worldId"].clone())
        };
        // It boots; it is not live.
        assert_eq!(find(json!({})).await, ("a".to_owned(), false, Value::Null));
        ready(&client, &id, "z", 1).await;
        assert_eq!(find(json!({})).await, ("z".to_owned(), true, Value::Null));
        assert_eq!(find(json!({"affinityOwnerId": "q"})).await, ("a".to_owned(), false, Value::Null));
        assert_eq!(find(json!({"affinityOwnerId": null})).await, ("a".to_owned(), false, Value::Null));
        // Of worlds, the very one.
        beat(&client, "a", json!({"worlds": [{"worldId": "1000"}]})).await;
        beat(&client, "z", json!({"worlds": [{"worldId": "0"}, {"worldId": id}]})).await;
        assert_eq!(find(json!({"worldMatchmaking": true})).await, ("z".to_owned(), true, id.clone()));
        let explained = client.post("/api/plugin/matchmaking/find?explain=true", json!({"playerUuid": uuid(1),
            "serverType": "islands", "affinityGameId": "islands", "affinityOwnerScope": "party",
            "affinityOwnerId": "p"})).await.expect(200).clone();
        assert!(explained["explanation"]["candidates"][0]["for"].to_string().contains("owner"), "{explained}");
        // Drained, it is nobody's home.
        assert_eq!(state(&client, &id).await, "DRAINING");
        assert_eq!(find(json!({})).await, ("a".to_owned(), false, Value::Null));
    }
}
