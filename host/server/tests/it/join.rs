//! A connector's work when a player joins: one call, cached permissions, and presence events.

use std::time::Duration;

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::players::load;
use crate::servers::{beat, join, register, uuid};
use crate::support::{Answer, Client, Events, Hub, NOW, on_both};
use hub::events::Streams;

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const PRESENCE: &str = "types=SERVER_ONLINE,SERVER_OFFLINE,PLAYER_JOINED,PLAYER_LEFT,PLAYER_SWITCHED";

async fn stream(client: &Client, query: &str) -> Events {
    Events::open(client.request(Method::GET, &format!("/api/plugin/events?{query}"))).await
}

async fn give(client: &Client, player: &str, node: Value) {
    let path = format!("/api/plugin/permissions/users/{player}/permissions");
    client.post(&path, node).await.expect(204);
}

async fn put_group(client: &Client, id: &str, nodes: Value) {
    let path = format!("/api/plugin/permissions/groups/{id}");
    client.put(&path, json!({"permissions": nodes})).await.expect(204);
}

/// Requests effective permissions unless they still match this tag.
async fn effective(client: &Client, query: &str, tag: &str) -> Answer {
    let path = format!("/api/plugin/permissions/users/{STEVE}/effective{query}");
    client.send(client.request(Method::GET, &path).header("If-None-Match", tag)).await
}

fn tag(answer: &Answer) -> String {
    answer.headers["etag"].to_str().unwrap().to_owned()
}

/// The next presence event as `NAME server player previous`.
async fn told(events: &mut Events) -> String {
    let event = events
        .next_named_any(&["SERVER_ONLINE", "SERVER_OFFLINE", "PLAYER_JOINED", "PLAYER_LEFT", "PLAYER_SWITCHED"])
        .await;
    let data = event.data;
    let text = |value: &Value| value.as_str().map_or("-".to_owned(), str::to_owned);
    if event.name.starts_with("SERVER") {
        return format!("{} {}", event.name, text(&data["server"]["serverId"]));
    }
    format!(
        "{} {} {} {}",
        event.name,
        text(&data["serverId"]),
        text(&data["playerName"]),
        text(&data["previousServerId"])
    )
}

on_both! {
    async fn a_join_is_one_call(hub: Hub) {
        let client = hub.network().await;
        put_group(&client, "default", json!([{"node": "spawn"}])).await;
        give(&client, STEVE, json!({"node": "fly"})).await;
        let ban = json!({"playerName": "steve", "type": "MUTE", "reason": "spam"});
        let ban = client.post("/api/plugin/punishments/create-by-name", ban).await.expect(200).clone();
        let other = json!({"ipAddress": "203.0.113.7", "type": "BAN"});
        let other = client.post("/api/plugin/punishments/create-ip", other).await.expect(200).clone();
        client.put(&format!("/api/plugin/localization/players/{STEVE}/locale"), json!({"locale": "de"})).await.expect(200);
        let coins = json!({"currency": "coins", "amount": 5});
        client.post(&format!("/api/plugin/economy/player/{STEVE}/currencies/modify"), coins).await.expect(200);
        let kills = json!({"name": "kills", "amount": 2, "gameMode": "sky"});
        client.post(&format!("/api/plugin/players/{STEVE}/statistics/increment"), kills).await.expect(200);
        let data = format!("/api/plugin/players/{STEVE}/data/sky/inventory");
        client.put(&data, json!({"data": "[1]"})).await.expect(200);

        let include = "include=permissions,punishments,language,balances,statistics,data:inventory,data:none";
        let loaded = load(&client, STEVE, &format!("username=Steve&gameMode=sky&ip=203.0.113.7&{include}")).await;
        assert_eq!((&loaded["uuid"], &loaded["username"]), (&json!(STEVE), &json!("Steve")));
        let own = async |path: String| client.get(&path).await.expect(200).clone();
        assert_eq!(loaded["permissions"], own(format!("/api/plugin/permissions/users/{STEVE}/effective")).await);
        assert_eq!(loaded["permissions"]["permissions"], json!({"fly": true, "spawn": true}));
        assert_eq!(loaded["punishments"], json!([other, ban]));
        assert_eq!(loaded["language"], json!({"locale": "de", "source": "PLAYER"}));
        assert_eq!(loaded["balances"], own(format!("/api/plugin/economy/player/{STEVE}/currencies")).await);
        assert_eq!(loaded["statistics"], own(format!("/api/plugin/players/{STEVE}/statistics?gameMode=sky")).await);
        assert_eq!(loaded["statistics"]["statistics"].as_array().unwrap().len(), 4);
        assert_eq!(loaded["data"], json!({"inventory": {"data": "[1]", "version": 1}, "none": null}));

        // Only the requested parts; without the address its ban is not there.
        let some = load(&client, STEVE, "include=punishments,data:inventory").await;
        assert_eq!(some["punishments"].as_array().unwrap().len(), 1);
        assert_eq!(some["data"], json!({"inventory": null}), "of the game mode global");
        for name in ["permissions", "language", "balances", "statistics"] {
            assert!(some.get(name).is_none(), "{name}");
        }
        assert!(load(&client, STEVE, "include=").await.get("permissions").is_none());
        for wrong in ["money", "permissions,Language", "data:", "data:a%20b", "permissions%3Bbalances"] {
            let path = format!("/api/plugin/players/{STEVE}/load?include={wrong}");
            let answer = client.post(&path, Value::Null).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains("`include`"), "{}", answer.body);
        }
        // A narrow key includes the parts that it may read.
        let narrow = client.key_with(&["players:write"]).await;
        load(&narrow, STEVE, "include=language,statistics,data:inventory").await;
        for area in ["permissions", "punishments", "balances"] {
            let path = format!("/api/plugin/players/{STEVE}/load?include={area}");
            narrow.post(&path, Value::Null).await.expect_error(403, "forbidden_scope");
        }
        let wider = client.key_with(&["players:write", "permissions:write"]).await;
        assert!(load(&wider, STEVE, "include=permissions").await["permissions"]["revision"].is_i64());
        // Another network has its own.
        let theirs = load(&hub.network().await, STEVE, include).await;
        assert_eq!((&theirs["permissions"]["permissions"], &theirs["punishments"]), (&json!({}), &json!([])));
        assert_eq!((&theirs["language"]["locale"], &theirs["balances"]), (&Value::Null, &json!([])));
    }

    async fn a_load_that_is_too_large_is_refused(hub: Hub) {
        let client = hub.network().await;
        let names: Vec<_> = (0..5).map(|at| format!("data:n{at}")).collect();
        let quotes = format!("[{}]", vec!["\"\""; 60_000].join(","));
        for at in 0..5 {
            client.put(&format!("/api/plugin/players/{STEVE}/data/global/n{at}"), json!({"data": quotes})).await.expect(200);
        }
        load(&client, STEVE, "include=permissions").await;
        let all = names.join(",");
        let twice = format!("/api/plugin/players/{STEVE}/load?include={all}");
        let size = client.post(&twice, Value::Null).await.expect(200).to_string().len();
        assert!((1_500_000..4 << 20).contains(&size), "{size}");
        let nodes: Vec<_> = (0..5_000).map(|at| json!({"node": format!("{at}.{}", "x".repeat(245))})).collect();
        for group in 0..5 {
            put_group(&client, &format!("g{group}"), json!(nodes[group * 1_000..(group + 1) * 1_000])).await;
            give(&client, STEVE, json!({"node": format!("group.g{group}")})).await;
        }
        load(&client, STEVE, "gameMode=other&include=permissions").await;
        client.post(&format!("{twice},permissions"), Value::Null).await.expect_error(400, "answer_too_large");
    }

    async fn kept_permissions_are_asked_for_again_only_when_they_changed(hub: Hub) {
        let client = hub.network().await;
        let mut events = stream(&client, "types=PERMISSIONS_UPDATED").await;
        let first = client.get(&format!("/api/plugin/permissions/users/{STEVE}/effective")).await;
        assert_eq!((&first.expect(200)["revision"], &first.body["validUntil"]), (&json!(0), &Value::Null));
        let unchanged = effective(&client, "", &tag(&first)).await;
        assert_eq!((unchanged.status, &unchanged.body), (StatusCode::NOT_MODIFIED, &Value::Null));
        assert_eq!(tag(&unchanged), tag(&first));
        // Also among others, and weakly; not for another question, nor with another tag.
        effective(&client, "", &format!("\"x\", W/{}", tag(&first))).await.expect(304);
        effective(&client, "?world=nether", &tag(&first)).await.expect(200);
        for other in ["\"0--\"", "*", "0", "\"0--0123456789abcdef\""] {
            effective(&client, "", other).await.expect(200);
        }

        give(&client, STEVE, json!({"node": "fly", "expiresAt": NOW + 500})).await;
        let event = events.next_named("PERMISSIONS_UPDATED").await.data;
        assert_eq!(event, json!({"type": "PERMISSIONS_UPDATED", "at": NOW, "playerUuid": STEVE, "revision": 1}));
        let second = effective(&client, "", &tag(&first)).await;
        assert_eq!((&second.expect(200)["revision"], &second.body["validUntil"]), (&json!(1), &json!(NOW + 500)));
        effective(&client, "", &tag(&second)).await.expect(304);
        // Another player's change does not affect this one.
        give(&client, &uuid(9), json!({"node": "fly"})).await;
        assert_eq!(events.next_named("PERMISSIONS_UPDATED").await.data["revision"], 2);
        effective(&client, "", &tag(&second)).await.expect(304);
        // Time changes it, too.
        hub.advance_ms(500);
        let third = effective(&client, "", &tag(&second)).await;
        assert_eq!((&third.expect(200)["permissions"], &third.body["validUntil"]), (&json!({}), &Value::Null));
        // A group may belong to all players.
        put_group(&client, "vip", json!([{"node": "a"}])).await;
        let event = events.next_named("PERMISSIONS_UPDATED").await.data;
        assert_eq!(event, json!({"type": "PERMISSIONS_UPDATED", "at": NOW + 500, "groupId": "vip", "revision": 3}));
        assert_eq!(effective(&client, "", &tag(&third)).await.expect(200)["revision"], 3);
        client.delete("/api/plugin/permissions/groups/vip").await.expect(204);
        assert_eq!(events.next_named("PERMISSIONS_UPDATED").await.data["revision"], 4);
        client.delete("/api/plugin/permissions/groups/vip").await.expect_error(404, "unknown_group");
        let path = format!("/api/plugin/permissions/users/{STEVE}/permissions/remove");
        client.post(&path, json!({"node": "never"})).await.expect(204);
        client.post(&path, json!({"node": "fly"})).await.expect(204);
        let event = events.next_named("PERMISSIONS_UPDATED").await.data;
        assert_eq!((&event["playerUuid"], &event["revision"]), (&json!(STEVE), &json!(5)));
        // Another network counts for itself.
        let other = hub.network().await;
        put_group(&other, "vip", json!([])).await;
        assert_eq!(effective(&other, "", "").await.expect(200)["revision"], 1);
    }

    async fn streams_get_presence_events(hub: Hub) {
        let client = hub.network().await;
        let mut usual = stream(&client, "").await;
        let mut events = stream(&client, PRESENCE).await;
        register(&client, "a", json!({})).await;
        let online = events.next().await.unwrap();
        assert_eq!((online.name.as_str(), &online.data["server"]),
            ("SERVER_ONLINE", &client.get("/api/manage/servers/a").await.expect(200)["live"]));
        register(&client, "b", json!({})).await;
        assert_eq!(told(&mut events).await, "SERVER_ONLINE b");
        // Registering an online server again sends nothing.
        register(&client, "a", json!({})).await;
        join(&client, "a", 1).await;
        let joined = events.next().await.unwrap();
        assert_eq!(joined.data, json!({"type": "PLAYER_JOINED", "at": NOW, "playerUuid": uuid(1), "playerName": "p1",
            "serverId": "a", "previousServerId": null}));
        join(&client, "a", 1).await;
        join(&client, "b", 1).await;
        assert_eq!(told(&mut events).await, "PLAYER_SWITCHED b p1 a");
        client.delete(&format!("/api/plugin/servers/players/{}?serverId=a", uuid(1))).await.expect(204);
        client.delete(&format!("/api/plugin/servers/players/{}?serverId=b", uuid(1))).await.expect(204);
        assert_eq!(told(&mut events).await, "PLAYER_LEFT b p1 -");
        // By a heartbeat's list.
        let listed = json!({"players": [{"uuid": uuid(2), "name": "p2"}]});
        beat(&client, "a", listed).await;
        hub.advance_ms(1_000);
        assert_eq!(told(&mut events).await, "PLAYER_JOINED a p2 -");
        beat(&client, "b", json!({"players": []})).await;
        beat(&client, "a", json!({"players": []})).await;
        hub.advance_ms(1_000);
        assert_eq!(told(&mut events).await, "PLAYER_LEFT a p2 -");
        // With its server.
        join(&client, "a", 3).await;
        assert_eq!(told(&mut events).await, "PLAYER_JOINED a p3 -");
        client.post("/api/plugin/servers/unregister?serverId=a", Value::Null).await.expect(204);
        assert_eq!(told(&mut events).await, "PLAYER_LEFT a p3 -");
        assert_eq!(told(&mut events).await, "SERVER_OFFLINE a");
        join(&client, "b", 4).await;
        assert_eq!(told(&mut events).await, "PLAYER_JOINED b p4 -");
        hub.advance_ms(31_000);
        assert_eq!(told(&mut events).await, "PLAYER_LEFT b p4 -");
        assert_eq!(told(&mut events).await, "SERVER_OFFLINE b");
        // Other streams get none of these.
        client.post("/api/plugin/localization/defaults",
            json!({"namespace": "n", "locale": "en", "entries": {"k": "v"}})).await.expect(200);
        loop {
            let event = usual.next().await.unwrap();
            if event.name != "PING" {
                assert_eq!(event.name, "LOCALIZATION_UPDATED");
                break;
            }
        }
        // Another network's are its own.
        let other = hub.network().await;
        let mut theirs = stream(&other, PRESENCE).await;
        register(&client, "c", json!({})).await;
        register(&other, "d", json!({})).await;
        assert_eq!(told(&mut theirs).await, "SERVER_ONLINE d");
    }

    async fn departures_during_a_restart_are_announced_after_it(hub: Hub) {
        let client = hub.network().await;
        let mut events = stream(&client, PRESENCE).await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        join(&client, "a", 1).await;
        join(&client, "b", 2).await;
        for _ in 0..4 {
            told(&mut events).await;
        }
        // Both left during the restart; the hub waits for their heartbeats first.
        let hub = hub.restart(Duration::from_secs(5)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        let mut events = stream(&client, PRESENCE).await;
        hub.advance_ms(60_000);
        register(&client, "c", json!({})).await;
        let mut seen = vec![];
        while seen.len() < 5 {
            seen.push(told(&mut events).await);
        }
        seen.sort();
        assert_eq!(seen, ["PLAYER_LEFT a p1 -", "PLAYER_LEFT b p2 -", "SERVER_OFFLINE a", "SERVER_OFFLINE b", "SERVER_ONLINE c"]);
    }

    async fn a_blank_world_key_is_400(hub: Hub) {
        let client = hub.network().await;
        let open_request = |key: Value| json!({"gameId": "g", "ownerScope": "player", "ownerId": STEVE, "worldKey": key});
        for blank in ["", " ", "\t"] {
            let answer = client.post("/api/plugin/worlds/open", open_request(json!(blank))).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains("`worldKey`"), "{}", answer.body);
        }
        client.post("/api/plugin/worlds/open", open_request(Value::Null)).await.expect(200);
    }
}

/// Time for which a network counts as listening.
const LISTENING_MS: u64 = 600_000;

on_both! {
    async fn listening_lasts_as_long_as_a_stream(hub: Hub) {
        let client = hub.network().await;
        let mut events = stream(&client, "types=SERVER_ONLINE").await;
        // Renewed while the stream is open.
        for _ in 0..6 {
            hub.advance_ms(LISTENING_MS / 4);
            tokio::task::yield_now().await;
            Hub::eventually("it is renewed", async || listeners(&hub).await == 1).await;
        }
        register(&client, "a", json!({})).await;
        assert_eq!(events.next_named("SERVER_ONLINE").await.data["server"]["serverId"], "a");
        drop(events);
        Hub::eventually("the stream is closed", async || hub.app.state::<Streams>().count() == 0).await;
        hub.advance_ms(LISTENING_MS * 2);
        assert_eq!(listeners(&hub).await, 0);
        let mut again = stream(&client, "types=SERVER_ONLINE").await;
        register(&client, "b", json!({})).await;
        assert_eq!(again.next_named("SERVER_ONLINE").await.data["server"]["serverId"], "b");
    }
}

/// Number of event kinds listened to for another minute.
async fn listeners(hub: &Hub) -> i64 {
    let later = hub.app.clock.now() + 60_000;
    let (count,): (i64,) =
        hub.app.db.query("SELECT COUNT(*) FROM event_listeners WHERE until > $1").bind(later).one().await.unwrap();
    count
}
