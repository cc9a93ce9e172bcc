//! The registry and presence.

use std::time::Duration;

use mmdb_writer::{Writer, ipnet::IpNet};
use serde_json::{Value, json};

use crate::support::{Backend, Client, Hub, NOW, on_all};

/// A register call's body, with `more` over the defaults.
#[allow(clippy::needless_pass_by_value, reason = "reads better with json!")]
pub fn server(id: &str, more: Value) -> Value {
    let mut body = json!({"serverId": id, "serverType": "lobby", "host": "10.1.2.3", "port": 25565, "maxPlayers": 10});
    let fields = more.as_object().unwrap();
    body.as_object_mut().unwrap().extend(fields.clone());
    body
}

pub async fn register(client: &Client, id: &str, more: Value) {
    client.post("/api/plugin/servers/register", server(id, more)).await.expect(201);
}

pub async fn beat(client: &Client, id: &str, more: Value) {
    let mut body = json!({"serverId": id});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post("/api/plugin/servers/heartbeat", body).await.expect(204);
}

pub async fn join(client: &Client, id: &str, player: u64) {
    let body = json!({"serverId": id, "playerUuid": uuid(player), "playerName": format!("p{player}")});
    client.post("/api/plugin/servers/players", body).await.expect(204);
}

pub fn uuid(player: u64) -> String {
    format!("069a79f4-44e9-4726-a5be-{player:012x}")
}

async fn record(client: &Client, id: &str) -> Value {
    client.get(&format!("/api/manage/servers/{id}")).await.expect(200).clone()
}

/// Location of each player, as `server/player`.
async fn online(client: &Client) -> Vec<String> {
    let list = client.get("/api/plugin/servers/players").await.expect(200).clone();
    let text = |row: &Value, field: &str| row[field].as_str().unwrap_or("-").to_owned();
    let rows = list.as_array().unwrap().iter();
    rows.map(|row| format!("{}/{}", text(row, "serverId"), text(row, "playerName"))).collect()
}

async fn ids(client: &Client, query: &str) -> (Vec<String>, i64) {
    let page = client.get(&format!("/api/plugin/servers?{query}")).await.expect(200).clone();
    let ids = page["items"].as_array().unwrap().iter().map(|row| row["serverId"].as_str().unwrap().to_owned());
    (ids.collect(), page["total"].as_i64().unwrap())
}

on_all! {
    async fn a_server_registers_and_is_seen_in_full(hub: Hub) {
        let client = hub.network().await;
        let body = server("bw-1", json!({
            "serverType": "bedwars", "gameType": "MINECRAFT", "displayName": "Bedwars One", "maxPlayers": 16,
            "gameState": "WAITING", "playersToStart": 8, "region": "eu", "pluginVersion": "1.4.0", "pluginBuild": 77,
            "pluginCommit": "abc123", "platformName": "Paper", "platformVersion": "1.21",
            "plugins": [{"name": "Guard", "version": "2", "enabled": true}], "unknownField": {"is": "ignored"},
            "worlds": [
                {"worldId": "w1", "displayName": "Arena", "currentPlayers": 3, "maxPlayers": 8, "gameState": "PLAYING",
                 "playersToStart": 4, "worldType": "duel"},
                {"worldId": "w2"},
            ],
        }));
        let welcome = client.post("/api/plugin/servers/register", body).await.expect(201).clone();
        assert_eq!(welcome["serverId"], "bw-1");
        assert_eq!((&welcome["heartbeatIntervalMs"], &welcome["offlineAfterMs"]), (&json!(5000), &json!(30000)));
        assert!(welcome["signingSecret"].as_str().unwrap().len() >= 32);
        join(&client, "bw-1", 1).await;

        let expected_live = json!({
            "serverId": "bw-1", "serverType": "bedwars", "gameType": "MINECRAFT", "displayName": "Bedwars One",
            "currentPlayers": 1, "maxPlayers": 16, "host": "10.1.2.3", "port": 25565, "startedAt": NOW,
            "lastHeartbeat": NOW, "gameState": "WAITING", "playersToStart": 8, "region": "EUROPE",
            "full": false, "playerCountDisplay": "1/16", "joinable": true, "minigameServer": true,
            "playersNeededToStart": 7, "totalPlayers": 3,
            "worlds": [
                {"worldId": "w1", "displayName": "Arena", "currentPlayers": 3, "maxPlayers": 8, "gameState": "PLAYING",
                 "playersToStart": 4, "worldType": "duel", "full": false, "playerCountDisplay": "3/8", "joinable": false,
                 "minigameWorld": true, "playersNeededToStart": 1},
                {"worldId": "w2", "displayName": null, "currentPlayers": 0, "maxPlayers": 0, "gameState": null,
                 "playersToStart": 0, "worldType": null, "full": false, "playerCountDisplay": "0/0", "joinable": true,
                 "minigameWorld": false, "playersNeededToStart": 0},
            ],
        });
        let expected = json!({
            "serverId": "bw-1", "serverType": "bedwars", "gameType": "MINECRAFT", "role": "GAME",
            "connectivity": "HEARTBEAT_ONLY", "displayName": "Bedwars One", "maxPlayers": 16, "status": "ONLINE",
            "lastHost": "10.1.2.3", "lastPort": 25565, "firstSeen": NOW, "lastSeen": NOW, "online": true,
            "live": expected_live, "geoRegion": "EUROPE", "geoCountry": null, "control": null,
            "buildInfo": {"version": "1.4.0", "build": 77, "commit": "abc123"},
            "platform": {"name": "Paper", "version": "1.21"},
            "ports": [{"port": 25565, "protocol": "tcp", "adopted": true}], "provisioned": false,
        });
        assert_eq!(record(&client, "bw-1").await, expected);
        for path in ["/api/plugin/servers", "/api/manage/servers"] {
            let page = client.get(path).await.expect(200).clone();
            assert_eq!(page, json!({"items": [expected], "page": 0, "limit": 50, "total": 1}), "{path}");
        }
    }

    async fn a_blank_host_is_where_the_request_came_from(hub: Hub) {
        let client = hub.network().await;
        for (id, host) in [("a", json!("")), ("b", json!("  ")), ("c", Value::Null)] {
            register(&client, id, json!({"host": host})).await;
            assert_eq!(record(&client, id).await["live"]["host"], "127.0.0.1");
        }
        let bare = json!({"serverId": "d", "serverType": "lobby", "port": 1});
        client.post("/api/plugin/servers/register", bare).await.expect(201);
        let live = record(&client, "d").await["live"].clone();
        assert_eq!((&live["host"], &live["port"], &live["maxPlayers"]), (&json!("127.0.0.1"), &json!(1), &json!(0)));
        assert_eq!((&live["full"], &live["joinable"], &live["region"]), (&json!(false), &json!(true), &json!("UNKNOWN")));
    }

    async fn a_malformed_registration_is_400(hub: Hub) {
        let client = hub.network().await;
        for (wrong, hint) in [
            (json!({"port": 0}), "`port`"),
            (json!({"port": -5}), "`port`"),
            (json!({"port": 65536}), "`port`"),
            (json!({"port": i64::MAX}), "`port`"),
            (json!({"port": null}), "`port`"),
            (json!({"port": "25565"}), "`port`"),
            (json!({"serverId": " "}), "`serverId`"),
            (json!({"serverId": "x".repeat(256)}), "`serverId`"),
            (json!({"serverType": ""}), "`serverType`"),
            (json!({"serverType": null}), "`serverType`"),
            (json!({"gameType": "DOOM"}), "MINECRAFT, HYTALE"),
            (json!({"role": "KING"}), "`role`"),
            (json!({"maxPlayers": -1}), "`maxPlayers`"),
            (json!({"maxPlayers": 2_147_483_648i64}), "`maxPlayers`"),
            (json!({"maxPlayers": 1.5}), "`maxPlayers`"),
            (json!({"playersToStart": -1}), "`playersToStart`"),
            (json!({"gameState": "waiting for you"}), "`gameState`"),
            (json!({"region": "the moon!"}), "`region`"),
            (json!({"publicIp": "not an address"}), "`publicIp`"),
            (json!({"host": "a b/c"}), "`host`"),
            (json!({"host": "1.2.3.4:25565"}), "`host`"),
            (json!({"host": "lobby.example.org:25566"}), "`host`"),
            (json!({"host": "[::1"}), "`host`"),
            (json!({"displayName": "x".repeat(256)}), "`displayName`"),
            (json!({"worlds": [{"worldId": ""}]}), "`worlds[0].worldId`"),
            (json!({"worlds": [{"worldId": "w", "currentPlayers": -1}]}), "`worlds[0].currentPlayers`"),
            (json!({"worlds": {}}), "`worlds`"),
            (json!({"pluginBuild": "seven"}), "`pluginBuild`"),
            (json!({"plugins": [{"version": "1"}]}), "`plugins[0]`"),
        ] {
            let answer = client.post("/api/plugin/servers/register", server("s", wrong.clone())).await;
            answer.expect_error(400, "invalid_request");
            let error = answer.body["error"].as_str().unwrap();
            assert!(error.contains(hint), "{wrong}: {error}");
        }
        assert_eq!(ids(&client, "").await.1, 0);
    }

    async fn a_silent_server_is_offline_after_its_time(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        join(&client, "a", 1).await;
        hub.advance_ms(29_999);
        assert_eq!(record(&client, "a").await["online"], true);
        beat(&client, "b", json!({})).await;
        hub.advance_ms(1);
        let gone = record(&client, "a").await;
        assert_eq!((&gone["online"], &gone["status"], &gone["live"]), (&json!(false), &json!("OFFLINE"), &Value::Null));
        assert_eq!((&gone["connectivity"], &gone["lastSeen"]), (&json!("DISCONNECTED"), &json!(NOW)));
        assert_eq!(online(&client).await, Vec::<String>::new());
        let there = record(&client, "b").await;
        assert_eq!((&there["online"], &there["lastSeen"]), (&json!(true), &json!(NOW + 29_999)));
        assert_eq!((&there["live"]["lastHeartbeat"], &there["live"]["startedAt"]), (&json!(NOW + 29_999), &json!(NOW)));
        // It has to register again.
        let late = json!({"serverId": "a"});
        client.post("/api/plugin/servers/heartbeat", late).await.expect_error(400, "unknown_server");
        register(&client, "a", json!({})).await;
        let back = record(&client, "a").await;
        assert_eq!((&back["firstSeen"], &back["live"]["startedAt"]), (&json!(NOW), &json!(NOW + 30_000)));
        assert_eq!(back["live"]["currentPlayers"], 0);
    }

    async fn a_heartbeat_changes_only_the_fields_it_has(hub: Hub) {
        let client = hub.network().await;
        let first = json!({"gameState": "IDLE", "playersToStart": 2, "worlds": [{"worldId": "w"}], "pluginVersion": "1",
            "platformName": "Paper"});
        register(&client, "a", first).await;
        beat(&client, "a", json!({})).await;
        let live = record(&client, "a").await["live"].clone();
        assert_eq!((&live["gameState"], &live["playersToStart"]), (&json!("IDLE"), &json!(2)));
        assert_eq!(live["worlds"][0]["worldId"], "w");
        hub.advance_ms(5_000);
        let news = json!({"gameState": "MAINTENANCE_2", "playersToStart": 0, "worlds": [{"worldId": "v"}, {"worldId": "v",
            "maxPlayers": 4}], "pluginVersion": "2", "serverType": "lobby"});
        beat(&client, "a", news).await;
        let record = record(&client, "a").await;
        let live = &record["live"];
        assert_eq!((&live["gameState"], &live["playersToStart"]), (&json!("MAINTENANCE_2"), &json!(0)));
        assert_eq!((live["worlds"].as_array().unwrap().len(), &live["worlds"][0]["maxPlayers"]), (1, &json!(4)));
        assert_eq!((&live["lastHeartbeat"], &live["joinable"]), (&json!(NOW + 5_000), &json!(true)));
        assert_eq!(record["buildInfo"]["version"], "2");
        assert_eq!(record["platform"]["name"], "Paper");
        for wrong in [json!({}), json!({"serverId": "a", "players": [{"uuid": "x"}]}), json!({"serverId": "a", "gameState": "no!"})] {
            client.post("/api/plugin/servers/heartbeat", wrong).await.expect_error(400, "invalid_request");
        }
        client.post("/api/plugin/servers/heartbeat", json!({"serverId": "b"})).await.expect_error(400, "unknown_server");
    }

    async fn a_minigame_is_joinable_by_its_state(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({"playersToStart": 2, "maxPlayers": 1})).await;
        for (state, joinable) in [("IDLE", true), ("WAITING", true), ("STARTING", true), ("PLAYING", false), ("ENDED", false)] {
            beat(&client, "a", json!({"gameState": state})).await;
            assert_eq!(record(&client, "a").await["live"]["joinable"], joinable, "{state}");
        }
        beat(&client, "a", json!({"gameState": "WAITING"})).await;
        join(&client, "a", 1).await;
        let live = record(&client, "a").await["live"].clone();
        assert_eq!((&live["full"], &live["joinable"]), (&json!(true), &json!(false)));
    }

    async fn unregistering_is_offline_at_once_and_stays_listed(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        join(&client, "a", 1).await;
        hub.advance_ms(1_000);
        let unregister = "/api/plugin/servers/unregister?serverId=a&serverType=lobby";
        client.post(unregister, Value::Null).await.expect(204);
        let gone = record(&client, "a").await;
        assert_eq!((&gone["status"], &gone["lastSeen"]), (&json!("OFFLINE"), &json!(NOW + 1_000)));
        assert_eq!(online(&client).await, Vec::<String>::new());
        client.post("/api/plugin/servers/heartbeat", json!({"serverId": "a"})).await.expect_error(400, "unknown_server");
        client.post(unregister, Value::Null).await.expect(204);
        client.post("/api/plugin/servers/unregister?serverId=nobody", Value::Null).await.expect(204);
        client.post("/api/plugin/servers/unregister", Value::Null).await.expect_error(400, "invalid_request");
        client.post("/api/plugin/servers/unregister?serverId=", Value::Null).await.expect_error(400, "invalid_request");
    }

    async fn players_join_change_worlds_and_leave(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({"serverType": "arena"})).await;
        join(&client, "a", 1).await;
        join(&client, "a", 2).await;
        join(&client, "a", 2).await;
        assert_eq!(online(&client).await, ["a/p1", "a/p2"]);
        let list = client.get("/api/plugin/servers/players?serverType=lobby").await.expect(200).clone();
        let first = json!({"playerUuid": uuid(1), "playerName": "p1", "serverId": "a", "serverType": "lobby"});
        assert_eq!(list[0], first);
        let none = client.get("/api/plugin/servers/players?serverType=arena").await.expect(200).clone();
        assert_eq!(none, json!([]));

        // A join elsewhere moves; a late leave changes nothing.
        join(&client, "b", 1).await;
        assert_eq!(online(&client).await, ["a/p2", "b/p1"]);
        let leave = |player: u64, query: &str| format!("/api/plugin/servers/players/{}{query}", uuid(player));
        client.delete(&leave(1, "?serverId=a")).await.expect(204);
        assert_eq!(online(&client).await, ["a/p2", "b/p1"]);
        client.delete(&leave(1, "?serverId=b")).await.expect(204);
        client.delete(&leave(1, "?serverId=b")).await.expect(204);
        assert_eq!(online(&client).await, ["a/p2"]);
        client.delete(&leave(2, "")).await.expect(204);
        assert_eq!(online(&client).await, Vec::<String>::new());
        client.delete("/api/plugin/servers/players/nobody?serverId=a").await.expect_error(400, "invalid_request");

        let world = |server: &str, player: u64| json!({"serverId": server, "playerUuid": uuid(player), "newWorldId": "w"});
        let path = "/api/plugin/servers/players/world";
        client.post(path, world("a", 1)).await.expect_error(400, "player_not_on_server");
        join(&client, "a", 1).await;
        client.post(path, world("a", 1)).await.expect(204);
        client.post(path, world("b", 1)).await.expect_error(400, "player_not_on_server");
        client.post(path, world("nowhere", 1)).await.expect_error(400, "unknown_server");
        client.post(path, json!({"serverId": "a", "playerUuid": uuid(1)})).await.expect_error(400, "invalid_request");

        let path = "/api/plugin/servers/players";
        let nowhere = json!({"serverId": "nowhere", "playerUuid": uuid(1)});
        client.post(path, nowhere).await.expect_error(400, "unknown_server");
        for wrong in [json!({"serverId": "a"}), json!({"serverId": "a", "playerUuid": "{069a79f4-44e9-4726-a5be-fca90e38aaf5}"})] {
            client.post(path, wrong).await.expect_error(400, "invalid_request");
        }
        let bare = json!({"serverId": "a", "playerUuid": "069A79F444E94726A5BEFCA90E38AAF5"});
        client.post(path, bare).await.expect(204);
        let list = client.get(path).await.expect(200).clone();
        assert_eq!(list[1]["playerUuid"], "069a79f4-44e9-4726-a5be-fca90e38aaf5");
        assert_eq!(list[1]["playerName"], Value::Null);
    }

    async fn a_heartbeats_list_replaces_the_players(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        join(&client, "a", 1).await;
        beat(&client, "a", json!({})).await;
        assert_eq!(online(&client).await, ["a/p1"]);
        let listed = |player: u64| json!({"uuid": uuid(player), "name": format!("p{player}")});
        beat(&client, "a", json!({"players": [listed(2), listed(3)]})).await;
        assert_eq!(online(&client).await, ["a/p2", "a/p3"]);
        // A list that is older than a move does not undo it.
        join(&client, "b", 3).await;
        beat(&client, "a", json!({"players": [listed(2), listed(3)]})).await;
        assert_eq!(online(&client).await, ["a/p2", "b/p3"]);
        assert_eq!(record(&client, "a").await["live"]["currentPlayers"], 1);
        beat(&client, "a", json!({"players": []})).await;
        assert_eq!(online(&client).await, ["b/p3"]);
    }

    async fn lists_are_filtered_and_paged(hub: Hub) {
        let client = hub.network().await;
        register(&client, "B-2", json!({"displayName": "100% Fun", "region": "ASIA"})).await;
        register(&client, "a-1", json!({"serverType": "arena", "region": "EU"})).await;
        register(&client, "a_3", json!({"displayName": "Über Lobby", "role": "PROXY"})).await;
        hub.advance_ms(20_000);
        beat(&client, "a-1", json!({})).await;
        hub.advance_ms(10_000);
        for (query, expected, total) in [
            ("", vec!["B-2", "a-1", "a_3"], 3),
            ("limit=2", vec!["B-2", "a-1"], 3),
            ("limit=2&page=1", vec!["a_3"], 3),
            ("page=9223372036854775807", vec![], 3),
            ("online=true", vec!["a-1"], 1),
            ("online=false", vec!["B-2", "a_3"], 2),
            ("online=false&limit=1&page=1", vec!["a_3"], 2),
            ("serverType=arena", vec!["a-1"], 1),
            ("serverType=nothing", vec![], 0),
            ("serverType=", vec!["B-2", "a-1", "a_3"], 3),
            ("region=eu", vec!["a-1"], 1),
            ("region=UNKNOWN", vec!["a_3"], 1),
            ("search=A", vec!["a-1", "a_3"], 2),
            ("search=b-", vec!["B-2"], 1),
            ("search=0%25", vec!["B-2"], 1),
            ("search=%25", vec!["B-2"], 1),
            ("search=_", vec!["a_3"], 1),
            ("search=%C3%9CBER", vec!["a_3"], 1),
            ("search=a&online=true&serverType=arena&region=EUROPE", vec!["a-1"], 1),
        ] {
            let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
            assert_eq!(ids(&client, query).await, (expected, total), "{query}");
        }
        for wrong in ["online=perhaps", "region=!", "limit=0", "page=-1"] {
            client.get(&format!("/api/plugin/servers?{wrong}")).await.expect_error(400, "invalid_request");
        }
        assert_eq!(record(&client, "a_3").await["role"], "PROXY");
        client.get("/api/manage/servers/nobody").await.expect_error(404, "unknown_server");
        client.key_with(&["plugin"]).await.get("/api/manage/servers/a-1").await.expect_error(403, "forbidden_scope");
    }

    async fn registering_again_keeps_the_players(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({"displayName": "Old", "pluginVersion": "1"})).await;
        join(&client, "a", 1).await;
        hub.advance_ms(1_000);
        register(&client, "a", json!({"serverType": "arena", "maxPlayers": 1})).await;
        let now = record(&client, "a").await;
        assert_eq!((&now["displayName"], &now["buildInfo"], &now["serverType"]), (&Value::Null, &Value::Null, &json!("arena")));
        assert_eq!((&now["live"]["currentPlayers"], &now["live"]["full"]), (&json!(1), &json!(true)));
        assert_eq!((&now["live"]["startedAt"], &now["lastSeen"]), (&json!(NOW), &json!(NOW + 1_000)));
        assert_eq!(ids(&client, "serverType=lobby").await.1, 0);
        assert_eq!(ids(&client, "serverType=arena").await.1, 1);
    }

    async fn a_restart_restores_online_players(hub: Hub) {
        let client = hub.network().await;
        let state = json!({"gameState": "WAITING", "playersToStart": 2, "worlds": [{"worldId": "w", "currentPlayers": 1}],
            "role": "PROXY", "region": "ASIA", "pluginVersion": "1"});
        register(&client, "a", state).await;
        register(&client, "b", json!({})).await;
        join(&client, "a", 1).await;
        hub.advance_ms(10_000);
        // In memory alone until the stop.
        beat(&client, "a", json!({"gameState": "STARTING", "players": [{"uuid": uuid(1)}, {"uuid": uuid(2), "name": "p2"}]})).await;
        let before = record(&client, "a").await;
        let hub = hub.restart(Duration::from_millis(29_999)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        assert_eq!(record(&client, "a").await, before);
        assert_eq!(online(&client).await, ["a/p1", "a/p2"]);
        assert_eq!(record(&client, "b").await["online"], false);
        beat(&client, "a", json!({})).await;
        client.post("/api/plugin/servers/heartbeat", json!({"serverId": "b"})).await.expect_error(400, "unknown_server");

        let hub = hub.restart(Duration::from_secs(31)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        assert_eq!(record(&client, "a").await["online"], false);
        assert_eq!(online(&client).await, Vec::<String>::new());
        // Those players are not found again on a server that comes back.
        register(&client, "a", json!({})).await;
        let hub = hub.restart(Duration::ZERO).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        assert_eq!(record(&client, "a").await["live"]["currentPlayers"], 0);
    }

    async fn a_kill_loses_no_online_player(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "left", json!({})).await;
        join(&client, "a", 1).await;
        join(&client, "a", 2).await;
        client.delete(&format!("/api/plugin/servers/players/{}", uuid(2))).await.expect(204);
        client.post("/api/plugin/servers/unregister?serverId=left", Value::Null).await.expect(204);
        let hub = hub.abandon(Duration::from_secs(29)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        assert_eq!(online(&client).await, ["a/p1"]);
        assert_eq!(record(&client, "left").await["online"], false);
        beat(&client, "a", json!({})).await;
        assert_eq!(record(&client, "a").await["lastSeen"], NOW + 29_000);
    }

    async fn a_kill_between_two_saves_loses_no_server(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        // The last save was up to a second before the kill: servers with a later heartbeat must not be missed. The
        // killed hub's background work must not continue here.
        hub.app.begin_stop();
        let hub = hub.abandon(Duration::from_millis(30_500)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        assert_eq!(record(&client, "a").await["online"], true);
        hub.advance_ms(500);
        assert_eq!(record(&client, "a").await["online"], false);
    }

    async fn heartbeats_are_saved_without_a_request(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        hub.advance_ms(20_000);
        beat(&client, "a", json!({})).await;
        beat(&client, "b", json!({"gameState": "PLAYING"})).await;
        hub::presence::service::save_all(&hub.app).await.unwrap();
        let hub = hub.abandon(Duration::from_secs(29)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        assert_eq!(record(&client, "a").await["lastSeen"], NOW + 20_000);
        assert_eq!(record(&client, "b").await["live"]["gameState"], "PLAYING");
    }

    async fn concurrent_joins_are_all_saved(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({"maxPlayers": 0})).await;
        let joins: Vec<_> = (0..60).map(|player| {
            let client = client.clone();
            tokio::spawn(async move { join(&client, "a", player).await })
        }).collect();
        for join in joins {
            join.await.unwrap();
        }
        let hub = hub.abandon(Duration::from_millis(1)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        assert_eq!(online(&client).await.len(), 60);
    }

    async fn an_open_stream_is_connected(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let network = client.network.unwrap().0.as_u128();
        let _stream = hub.app.bus.subscribe(network, Some("a"), None, NOW).await.unwrap();
        assert_eq!(record(&client, "a").await["connectivity"], "CONNECTED");
    }

    async fn another_network_sees_and_changes_nothing(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        register(&ours, "a", json!({"displayName": "Ours"})).await;
        join(&ours, "a", 1).await;
        assert_eq!(ids(&theirs, "").await.1, 0);
        assert_eq!(online(&theirs).await, Vec::<String>::new());
        theirs.get("/api/manage/servers/a").await.expect_error(404, "unknown_server");
        theirs.post("/api/plugin/servers/heartbeat", json!({"serverId": "a"})).await.expect_error(400, "unknown_server");
        theirs.post("/api/plugin/servers/unregister?serverId=a", Value::Null).await.expect(204);
        theirs.delete(&format!("/api/plugin/servers/players/{}", uuid(1))).await.expect(204);
        register(&theirs, "a", json!({"displayName": "Theirs"})).await;
        join(&theirs, "a", 1).await;
        theirs.delete(&format!("/api/plugin/servers/players/{}", uuid(1))).await.expect(204);
        assert_eq!(online(&ours).await, ["a/p1"]);
        assert_eq!(record(&ours, "a").await["displayName"], "Ours");
    }
}

/// A GeoIP file in the layout that MaxMind and DB-IP share.
pub fn geo_file(folder: &std::path::Path) -> std::path::PathBuf {
    let mut writer = Writer::new("GeoLite2-Country");
    for (network, continent, country) in [
        ("81.2.69.0/24", "EU", "GB"),
        ("89.160.20.0/24", "EU", "SE"),
        ("216.160.83.0/24", "NA", "US"),
        ("2001:218::/32", "AS", "JP"),
    ] {
        let network: IpNet = network.parse().unwrap();
        let record = json!({
            "continent": {"code": continent, "names": {"en": "Somewhere"}, "geoname_id": 1},
            "country": {"iso_code": country, "is_in_european_union": false},
            "city": {"names": {"en": "Town"}}, "location": {"latitude": 1.5, "longitude": 2.5},
        });
        writer.insert(network, &record).unwrap();
    }
    let file = folder.join("geo.mmdb");
    std::fs::write(&file, writer.to_bytes().unwrap()).unwrap();
    file
}

#[tokio::test]
async fn a_region_comes_from_the_address() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = geo_file(folder.path());
    let hub = Hub::start_with(Backend::sqlite(), |settings| settings.geoip = Some(file)).await;
    let client = hub.network().await;
    for (id, fields, region, country) in [
        ("public", json!({"publicIp": "81.2.69.142", "host": "216.160.83.56"}), "EUROPE", json!("GB")),
        ("host", json!({"host": "216.160.83.56"}), "NORTH_AMERICA", json!("US")),
        ("v6", json!({"host": "[2001:218::1]"}), "ASIA", json!("JP")),
        ("mapped", json!({"publicIp": "::ffff:89.160.20.128"}), "EUROPE", json!("SE")),
        ("private public", json!({"publicIp": "10.0.0.1", "host": "216.160.83.56"}), "NORTH_AMERICA", json!("US")),
        ("name", json!({"host": "play.example.org"}), "UNKNOWN", Value::Null),
        ("said", json!({"region": "us", "publicIp": "81.2.69.142"}), "NORTH_AMERICA", json!("GB")),
        ("own", json!({"region": "moon"}), "MOON", Value::Null),
    ] {
        register(&client, id, fields).await;
        let record = record(&client, &id.replace(' ', "%20")).await;
        assert_eq!((&record["geoRegion"], &record["geoCountry"]), (&json!(region), &country), "{id}");
        assert_eq!(record["live"]["region"], region, "{id}");
    }
}

#[tokio::test]
async fn a_bad_geoip_file_stops_the_start() {
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("bad.mmdb");
    std::fs::write(&file, b"this is no database").unwrap();
    let settings = hub::config::Settings {
        geoip: Some(file.clone()),
        data: folder.path().to_owned(),
        ..hub::config::Settings::default()
    };
    let started = hub::lifecycle::start(settings, hub::clock::Clock::System, hub::ids::Ids::System).await;
    let error = format!("{:#}", started.err().unwrap());
    assert!(error.contains("bad.mmdb"), "{error}");
}
