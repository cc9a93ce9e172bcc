//! Bans, mutes, warnings and kicks: created, matched, revoked, expired.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Client, Events, Hub, NOW, on_both};

mod expiry;

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";
const ALEX: &str = "61699b2e-d327-4a01-9f1e-0ea8c3f06bc6";
const MINUTE: i64 = 60_000;

async fn post(client: &Client, route: &str, body: Value) -> Value {
    client.post(&format!("/api/plugin/punishments/{route}"), body).await.expect(200).clone()
}

async fn get(client: &Client, route: &str) -> Value {
    client.get(&format!("/api/plugin/punishments/{route}")).await.expect(200).clone()
}

/// The ids of a list, in its order.
async fn ids(client: &Client, route: &str) -> Vec<i64> {
    ids_of(&get(client, route).await)
}

fn ids_of(list: &Value) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|punishment| punishment["id"].as_i64().unwrap()).collect()
}

/// Creates one and returns its id.
async fn create(client: &Client, player: &str, kind: &str, duration: Option<i64>) -> i64 {
    let body = json!({"playerUuid": player, "playerName": name_of(player), "type": kind, "durationMs": duration});
    post(client, "create", body).await["id"].as_i64().unwrap()
}

fn name_of(player: &str) -> &'static str {
    if player == STEVE { "Steve" } else { "Alex" }
}

async fn seen(client: &Client, player: &str, name: &str, ip: &str) {
    let body = json!({"playerUuid": player, "playerName": name, "ipAddress": ip});
    client.post("/api/plugin/punishments/ip", body).await.expect(204);
}

async fn refuse(client: &Client, route: &str, body: Value, hint: &str) {
    let answer = client.post(&format!("/api/plugin/punishments/{route}"), body.clone()).await;
    answer.expect_error(400, "invalid_request");
    assert!(answer.body["error"].as_str().unwrap().contains(hint), "{route} {body}: {}", answer.body);
}

/// `body` with one field changed.
fn with(body: &Value, field: &str, value: Value) -> Value {
    let mut body = body.clone();
    body[field] = value;
    body
}

/// Expects this event of this punishment next.
async fn expect_event(events: &mut Events, action: &str, id: i64) -> Value {
    let event = events.next().await.unwrap();
    assert_eq!(event.name, "PUNISHMENT", "{event:?}");
    assert_eq!((&event.data["action"], &event.data["punishment"]["id"]), (&json!(action), &json!(id)));
    assert_eq!(event.data["type"], "PUNISHMENT");
    event.data["punishment"].clone()
}

/// Checks, by a line of chat, that no event but pings precedes it.
async fn expect_no_event(client: &Client, events: &mut Events) {
    let line = json!({"playerUuid": STEVE, "playerName": "Steve", "message": "mark", "serverId": "lobby-1"});
    client.post("/api/plugin/chat", line).await.expect(204);
    loop {
        let event = events.next().await.unwrap();
        match event.name.as_str() {
            "PING" => {}
            "CHAT" => return,
            _ => panic!("{event:?}"),
        }
    }
}

async fn wait_for_published(hub: &Hub, count: u64) {
    for _ in 0..2_000 {
        if hub.app.bus.stats().published == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("{} events, not {count}", hub.app.bus.stats().published);
}

on_both! {
    async fn a_ban_is_created_published_and_found(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(Some("lobby-1"), None).await;
        let made = post(&client, "create", json!({
            "playerUuid": "069A79F444E94726A5BEFCA90E38AAF5", "playerName": "Steve", "type": "ban",
            "reason": "Griefing\nand more", "durationMs": MINUTE, "ipBased": false, "issuerUuid": ALEX,
            "issuerName": "Alex", "unknown": true,
        })).await;
        let expected = json!({
            "id": 1, "playerUuid": STEVE, "playerName": "Steve", "type": "BAN", "reason": "Griefing\nand more",
            "durationMs": MINUTE, "expiresAt": NOW + MINUTE, "ipBased": false, "active": true, "ipAddress": null,
            "issuerUuid": ALEX, "issuerName": "Alex", "issuedAt": NOW, "appealCode": made["appealCode"],
        });
        assert_eq!(made["appealCode"].as_str().map(str::len), Some(12));
        assert_eq!(made, expected);
        assert_eq!(expect_event(&mut events, "CREATED", 1).await, expected);
        for route in [
            &format!("player/{STEVE}"), &format!("player/{STEVE}/history"), "player-name/sTEVE",
            "player-name/Steve/history", &format!("query?playerUuid={STEVE}"),
            "player/069A79F444E94726A5BEFCA90E38AAF5?activeOnly=true",
        ] {
            assert_eq!(get(&client, route).await, json!([expected]), "{route}");
        }
        for route in [&format!("player/{ALEX}"), "player-name/Alex", "player-name/Stev", "query?ip=203.0.113.7"] {
            assert_eq!(get(&client, route).await, json!([]), "{route}");
        }
    }

    async fn a_permanent_one_needs_only_a_player_and_a_kind(hub: Hub) {
        let client = hub.network().await;
        let made = post(&client, "create", json!({"playerUuid": STEVE, "type": "Mute"})).await;
        assert_eq!(made, json!({
            "id": 1, "playerUuid": STEVE, "playerName": null, "type": "MUTE", "reason": null, "durationMs": null,
            "expiresAt": null, "ipBased": false, "active": true, "ipAddress": null, "issuerUuid": null,
            "issuerName": null, "issuedAt": NOW, "appealCode": made["appealCode"],
        }));
        hub.advance_ms(400 * 365 * 24 * 60 * 60 * 1_000);
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, [1]);
        let longest = 1_000_i64 * 365 * 24 * 60 * 60 * 1_000;
        let made = post(&client, "create", json!({"playerUuid": STEVE, "type": "WARN", "durationMs": longest})).await;
        assert_eq!(made["durationMs"], longest);
    }

    async fn a_warning_is_active_and_a_kick_never(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        let warn = create(&client, STEVE, "WARN", None).await;
        let kick = post(&client, "create", json!({"playerUuid": STEVE, "type": "KICK", "durationMs": 1_000})).await;
        assert_eq!((&kick["type"], &kick["active"]), (&json!("KICK"), &json!(false)));
        expect_event(&mut events, "CREATED", warn).await;
        assert_eq!(expect_event(&mut events, "CREATED", 2).await["active"], false);
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, [warn]);
        assert_eq!(ids(&client, &format!("player/{STEVE}?activeOnly=false")).await, [2, 1]);
        // It neither expires nor can be revoked.
        hub.advance_ms(10_000);
        let unchanged = post(&client, "remove", json!({"punishmentId": 2})).await;
        assert_eq!(unchanged, kick);
        expect_no_event(&client, &mut events).await;
    }

    async fn an_invalid_body_is_400_with_a_hint(hub: Hub) {
        let client = hub.network().await;
        let create = json!({"playerUuid": STEVE, "playerName": "Steve", "type": "BAN"});
        let by_name = json!({"playerName": "Steve", "type": "BAN"});
        let by_ip = json!({"ipAddress": "203.0.113.7", "type": "BAN"});
        for (route, body) in [("create", &create), ("create-by-name", &by_name), ("create-ip", &by_ip)] {
            for (field, value, hint) in [
                ("type", json!("JAIL"), "BAN, MUTE, WARN or KICK"),
                ("type", json!(""), "BAN, MUTE, WARN or KICK"),
                ("type", json!(1), "type"),
                ("durationMs", json!(0), "1 or more"),
                ("durationMs", json!(-1), "1 or more"),
                ("durationMs", json!(i64::MIN), "1 or more"),
                ("durationMs", json!(i64::MAX), "at most"),
                ("durationMs", json!(u64::MAX), "durationMs"),
                ("durationMs", json!(1.5), "durationMs"),
                ("durationMs", json!("60000"), "durationMs"),
                ("reason", json!("x".repeat(1_025)), "1024"),
                ("reason", json!(5), "reason"),
                ("issuerUuid", json!("Alex"), "issuerUuid"),
                ("issuerUuid", json!(""), "issuerUuid"),
                ("issuerName", json!("x".repeat(256)), "255"),
                ("issuerName", json!("a\u{0}"), "NUL"),
            ] {
                refuse(&client, route, with(body, field, value), hint).await;
            }
            let mut without = body.clone();
            without.as_object_mut().unwrap().remove("type");
            refuse(&client, route, without, "missing field `type`").await;
            refuse(&client, route, json!([body]), "body").await;
        }
        for (field, value) in [("playerUuid", json!("Steve")), ("playerUuid", json!("")), ("playerUuid", Value::Null),
            ("playerName", json!("")), ("playerName", json!("x".repeat(256))), ("ipBased", json!("no"))] {
            refuse(&client, "create", with(&create, field, value), field).await;
        }
        for value in [json!(""), json!("  "), Value::Null, json!(5)] {
            refuse(&client, "create-by-name", with(&by_name, "playerName", value), "playerName").await;
        }
        for value in [json!("203.0.113.256"), json!("localhost"), json!("203.0.113.7:25565"), json!("203.0.113.0/24")] {
            refuse(&client, "create-ip", with(&by_ip, "ipAddress", value.clone()), "IPv4 or IPv6").await;
            refuse(&client, "unban-ip", json!({"ipAddress": value}), "IPv4 or IPv6").await;
            refuse(&client, "ip", json!({"playerUuid": STEVE, "ipAddress": value}), "IPv4 or IPv6").await;
        }
        refuse(&client, "ip", json!({"playerUuid": STEVE, "playerName": "Steve"}), "ipAddress").await;
        refuse(&client, "ip", json!({"playerUuid": STEVE, "ipAddress": ""}), "ipAddress").await;
        refuse(&client, "ip", json!({"playerName": "Steve", "ipAddress": "203.0.113.7"}), "playerUuid").await;
        refuse(&client, "remove", json!({}), "punishmentId").await;
        refuse(&client, "remove", json!({"punishmentId": "1"}), "punishmentId").await;
        refuse(&client, "unban-by-name", json!({"playerName": ""}), "playerName").await;
        refuse(&client, "unban-by-name", json!({"playerName": "Steve", "alsoUnbanLastIp": 1}), "alsoUnbanLastIp").await;
        refuse(&client, "unban-ip", json!({}), "ipAddress").await;
        assert_eq!(ids(&client, "player-name/Steve/history").await, Vec::<i64>::new());
    }

    async fn an_invalid_query_is_400(hub: Hub) {
        let client = hub.network().await;
        for route in [
            "query", "query?ip=&playerUuid=", "query?ip=nowhere", "query?playerUuid=Steve",
            &format!("query?playerUuid={STEVE}&activeOnly=maybe"), "player/Steve", "player/Steve/history",
            "player-name/%20", "player-name/%20/history", "player-name/Steve?activeOnly=1",
            "player-name/Steve/history?limit=0", "player-name/Steve/history?limit=x",
            "player-name/Steve/history?offset=-1", &format!("player/{STEVE}/history?offset=x"),
        ] {
            let answer = client.get(&format!("/api/plugin/punishments/{route}")).await;
            answer.expect_error(400, "invalid_request");
        }
        assert_eq!(get(&client, &format!("player/{STEVE}/history?offset=99999999999999999999")).await, json!([]));
    }

    async fn ids_belong_to_their_network(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        let mut their_events = theirs.events(None, None).await;
        seen(&ours, STEVE, "Steve", "203.0.113.7").await;
        assert_eq!(create(&ours, STEVE, "BAN", None).await, 1);
        assert_eq!(create(&ours, STEVE, "MUTE", None).await, 2);
        post(&ours, "create-ip", json!({"ipAddress": "203.0.113.7", "type": "BAN"})).await;
        for route in [
            &format!("player/{STEVE}"), &format!("player/{STEVE}/history"), "player-name/Steve",
            "player-name/Steve/history", &format!("query?playerUuid={STEVE}&ip=203.0.113.7&activeOnly=false"),
        ] {
            assert_eq!(get(&theirs, route).await, json!([]), "{route}");
        }
        let unknown = theirs.post("/api/plugin/punishments/remove", json!({"punishmentId": 1})).await;
        unknown.expect_error(400, "unknown_punishment");
        assert_eq!(post(&theirs, "unban-by-name", json!({"playerName": "Steve", "alsoUnbanLastIp": true})).await, json!([]));
        assert_eq!(post(&theirs, "unban-ip", json!({"ipAddress": "203.0.113.7"})).await, json!([]));
        assert_eq!(create(&theirs, ALEX, "BAN", None).await, 1);
        expect_event(&mut their_events, "CREATED", 1).await;
        // The same id is another punishment in each network.
        assert_eq!(ids(&theirs, &format!("player/{STEVE}")).await, Vec::<i64>::new());
        assert_eq!(post(&theirs, "unban-by-name", json!({"playerName": "Steve"})).await, json!([]));
        assert_eq!(ids(&ours, &format!("query?playerUuid={STEVE}&ip=203.0.113.7")).await, [3, 2, 1]);
    }

    async fn concurrent_punishments_get_different_ids(hub: Hub) {
        let client = hub.network().await;
        let all = (0..40).map(|_| create(&client, STEVE, "WARN", None));
        let mut all = futures_util::future::join_all(all).await;
        all.sort_unstable();
        assert_eq!(all, (1..=40).collect::<Vec<_>>());
    }

    async fn routes_need_the_plugin_scope(hub: Hub) {
        let client = hub.network().await;
        let other = client.key_with(&["agent", "servers:control"]).await;
        let body = json!({"playerUuid": STEVE, "type": "BAN"});
        other.post("/api/plugin/punishments/create", body.clone()).await.expect_error(403, "forbidden_scope");
        hub.anonymous().post("/api/plugin/punishments/create", body).await.expect_error(401, "unauthenticated");
        client.delete("/api/plugin/punishments/create").await.expect_error(405, "method_not_allowed");
    }

    async fn a_ban_by_name_matches_the_player_once_seen_with_it(hub: Hub) {
        let client = hub.network().await;
        let made = post(&client, "create-by-name", json!({"playerName": "STEVE", "type": "BAN"})).await;
        assert_eq!((&made["playerUuid"], &made["playerName"]), (&Value::Null, &json!("STEVE")));
        assert_eq!(ids(&client, "player-name/steve").await, [1]);
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, Vec::<i64>::new());
        seen(&client, STEVE, "Steve", "203.0.113.7").await;
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, [1]);
        assert_eq!(ids(&client, &format!("player/{STEVE}/history")).await, [1]);
        assert_eq!(ids(&client, &format!("query?playerUuid={STEVE}")).await, [1]);
        assert_eq!(ids(&client, &format!("player/{ALEX}")).await, Vec::<i64>::new());
        // It still matches after the player changes the name.
        hub.advance_ms(1);
        seen(&client, STEVE, "Renamed", "203.0.113.7").await;
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, [1]);
        // It does not cover the address.
        assert_eq!(ids(&client, "query?ip=203.0.113.7").await, Vec::<i64>::new());
    }

    async fn a_ban_by_name_matches_a_player_who_joins_with_it(hub: Hub) {
        let client = hub.network().await;
        post(&client, "create-by-name", json!({"playerName": "STEVE", "type": "BAN"})).await;
        let server = json!({
            "serverId": "lobby-1", "serverType": "LOBBY", "gameType": "MINECRAFT", "host": "203.0.113.9", "port": 25_565,
        });
        client.post("/api/plugin/servers/register", server).await.expect(201);
        let join = json!({"serverId": "lobby-1", "serverType": "LOBBY", "playerUuid": STEVE, "playerName": "Steve"});
        client.post("/api/plugin/servers/players", join).await.expect(204);
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, [1]);
    }

    async fn a_name_finds_the_punishments_of_its_bearers_earlier_names(hub: Hub) {
        let client = hub.network().await;
        create(&client, STEVE, "BAN", None).await;
        hub.advance_ms(1);
        seen(&client, STEVE, "Renamed", "203.0.113.7").await;
        assert_eq!(ids(&client, "player-name/renamed").await, [1]);
        // A player who takes the old name over is not the banned one.
        hub.advance_ms(1);
        seen(&client, ALEX, "Steve", "203.0.113.8").await;
        assert_eq!(ids(&client, &format!("player/{ALEX}")).await, Vec::<i64>::new());
        assert_eq!(ids_of(&post(&client, "unban-by-name", json!({"playerName": "renamed"})).await), [1]);
    }

    async fn names_compare_without_case_in_any_script(hub: Hub) {
        let client = hub.network().await;
        post(&client, "create-by-name", json!({"playerName": "ÄÖÜ Жук", "type": "BAN"})).await;
        assert_eq!(ids(&client, "player-name/%C3%A4%C3%B6%C3%BC%20%D0%B6%D1%83%D0%BA").await, [1]);
    }

    async fn an_address_is_punished_for_every_player(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        for nothing in [json!({}), json!({"ipAddress": null}), json!({"ipAddress": "  ", "type": "BAN"})] {
            let answer = client.post("/api/plugin/punishments/create-ip", nothing).await;
            assert_eq!(answer.expect(204), &Value::Null);
        }
        expect_no_event(&client, &mut events).await;
        let made = post(&client, "create-ip", json!({
            "ipAddress": "::ffff:203.0.113.7", "type": "BAN", "reason": "Bots", "durationMs": MINUTE, "issuerName": "Alex",
        })).await;
        assert_eq!(made, json!({
            "id": 1, "playerUuid": null, "playerName": null, "type": "BAN", "reason": "Bots", "durationMs": MINUTE,
            "expiresAt": NOW + MINUTE, "ipBased": true, "active": true, "ipAddress": "203.0.113.7", "issuerUuid": null,
            "issuerName": "Alex", "issuedAt": NOW, "appealCode": made["appealCode"],
        }));
        expect_event(&mut events, "CREATED", 1).await;
        post(&client, "create-ip", json!({"ipAddress": "2001:0DB8:0::0001", "type": "MUTE"})).await;
        assert_eq!(ids(&client, "query?ip=203.0.113.7").await, [1]);
        assert_eq!(ids(&client, "query?ip=::ffff:203.0.113.7").await, [1]);
        assert_eq!(ids(&client, "query?ip=2001:db8::1").await, [2]);
        assert_eq!(ids(&client, "query?ip=203.0.113.8").await, Vec::<i64>::new());
        // It covers the address, not the player who has it.
        seen(&client, STEVE, "Steve", "203.0.113.7").await;
        assert_eq!(ids(&client, &format!("query?playerUuid={STEVE}")).await, Vec::<i64>::new());
        assert_eq!(ids(&client, &format!("query?playerUuid={STEVE}&ip=203.0.113.7")).await, [1]);
    }

    async fn an_ip_based_ban_covers_the_last_address_and_later_ones(hub: Hub) {
        let client = hub.network().await;
        seen(&client, STEVE, "Steve", "203.0.113.1").await;
        hub.advance_ms(1);
        seen(&client, STEVE, "Steve", "203.0.113.2").await;
        hub.advance_ms(1);
        let ban = json!({"playerUuid": STEVE, "playerName": "Steve", "type": "BAN", "ipBased": true});
        let made = post(&client, "create", ban).await;
        assert_eq!((&made["ipBased"], &made["ipAddress"]), (&json!(true), &json!("203.0.113.2")));
        // An earlier address of the player may belong to another player now.
        assert_eq!(ids(&client, "query?ip=203.0.113.1").await, Vec::<i64>::new());
        assert_eq!(ids(&client, "query?ip=203.0.113.2").await, [1]);
        assert_eq!(ids(&client, "query?ip=203.0.113.3").await, Vec::<i64>::new());
        hub.advance_ms(1);
        seen(&client, STEVE, "Steve", "203.0.113.3").await;
        assert_eq!(ids(&client, "query?ip=203.0.113.3").await, [1]);
        hub.advance_ms(1);
        seen(&client, STEVE, "Steve", "203.0.113.1").await;
        assert_eq!(ids(&client, "query?ip=203.0.113.1").await, [1]);
        // Another player with the address is matched by the address alone.
        seen(&client, ALEX, "Alex", "203.0.113.1").await;
        assert_eq!(ids(&client, &format!("player/{ALEX}")).await, Vec::<i64>::new());
        assert_eq!(ids(&client, &format!("query?playerUuid={ALEX}&ip=203.0.113.1")).await, [1]);
        // One that is not ip-based covers no address.
        create(&client, ALEX, "BAN", None).await;
        hub.advance_ms(1);
        seen(&client, ALEX, "Alex", "203.0.113.9").await;
        assert_eq!(ids(&client, "query?ip=203.0.113.9").await, Vec::<i64>::new());
    }

    async fn an_ip_based_ban_by_name_knows_the_players_addresses(hub: Hub) {
        let client = hub.network().await;
        let ban = |name: &str| json!({"playerName": name, "type": "BAN", "ipBased": true});
        assert_eq!(post(&client, "create-by-name", ban("steve")).await["ipAddress"], Value::Null);
        seen(&client, STEVE, "Steve", "203.0.113.1").await;
        assert_eq!(ids(&client, "query?ip=203.0.113.1").await, [1]);
        assert_eq!(post(&client, "create-by-name", ban("STEVE")).await["ipAddress"], "203.0.113.1");
        assert_eq!(ids(&client, "query?ip=203.0.113.1").await, [2, 1]);
    }

    async fn removing_one_revokes_it_once(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        let id = create(&client, STEVE, "BAN", Some(MINUTE)).await;
        expect_event(&mut events, "CREATED", id).await;
        let body = json!({"punishmentId": id, "actorUuid": ALEX, "actorName": "Alex", "reason": "appeal"});
        let removed = post(&client, "remove", body.clone()).await;
        assert_eq!((&removed["id"], &removed["active"]), (&json!(id), &json!(false)));
        assert_eq!(expect_event(&mut events, "REVOKED", id).await, removed);
        assert_eq!(post(&client, "remove", body).await, removed);
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, Vec::<i64>::new());
        assert_eq!(ids(&client, &format!("player/{STEVE}/history")).await, [id]);
        hub.advance_ms(2 * MINUTE as u64);
        expect_no_event(&client, &mut events).await;
        for unknown in [0, -1, id + 1, i64::MAX] {
            let answer = client.post("/api/plugin/punishments/remove", json!({"punishmentId": unknown})).await;
            answer.expect_error(400, "unknown_punishment");
        }
    }

    async fn concurrent_removals_are_published_once(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        let id = create(&client, STEVE, "BAN", None).await;
        expect_event(&mut events, "CREATED", id).await;
        let all = (0..10).map(|_| post(&client, "remove", json!({"punishmentId": id})));
        for removed in futures_util::future::join_all(all).await {
            assert_eq!(removed["active"], false);
        }
        expect_event(&mut events, "REVOKED", id).await;
        expect_no_event(&client, &mut events).await;
    }

    async fn unbanning_a_name_revokes_its_bans_and_nothing_else(hub: Hub) {
        let client = hub.network().await;
        seen(&client, STEVE, "Steve", "203.0.113.1").await;
        let mut events = client.events(None, None).await;
        let expired = create(&client, STEVE, "BAN", Some(1_000)).await;
        let by_uuid = create(&client, STEVE, "BAN", None).await;
        let mute = create(&client, STEVE, "MUTE", None).await;
        let others = create(&client, ALEX, "BAN", None).await;
        for id in [expired, by_uuid, mute, others] {
            expect_event(&mut events, "CREATED", id).await;
        }
        hub.advance_ms(1_000);
        expect_event(&mut events, "EXPIRED", expired).await;
        let by_name = post(&client, "create-by-name", json!({"playerName": "sTeVe", "type": "BAN"})).await["id"].as_i64();
        let by_name = by_name.unwrap();
        expect_event(&mut events, "CREATED", by_name).await;
        let by_ip = post(&client, "create-ip", json!({"ipAddress": "203.0.113.1", "type": "BAN"})).await["id"].as_i64();
        expect_event(&mut events, "CREATED", by_ip.unwrap()).await;
        let body = json!({"playerName": "STEVE", "alsoUnbanLastIp": false, "actorName": "Alex", "reason": "appeal"});
        let revoked = post(&client, "unban-by-name", body.clone()).await;
        assert_eq!(ids_of(&revoked), [by_name, by_uuid]);
        assert!(revoked.as_array().unwrap().iter().all(|ban| ban["active"] == false));
        expect_event(&mut events, "REVOKED", by_name).await;
        expect_event(&mut events, "REVOKED", by_uuid).await;
        assert_eq!(post(&client, "unban-by-name", body).await, json!([]));
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, [mute]);
        assert_eq!(ids(&client, &format!("player/{ALEX}")).await, [others]);
        assert_eq!(ids(&client, "query?ip=203.0.113.1").await, [by_ip.unwrap()]);
        let with_address = json!({"playerName": "steve", "alsoUnbanLastIp": true});
        assert_eq!(ids_of(&post(&client, "unban-by-name", with_address).await), [by_ip.unwrap()]);
        assert_eq!(post(&client, "unban-by-name", json!({"playerName": "Nobody", "alsoUnbanLastIp": true})).await, json!([]));
    }

    async fn unbanning_an_address_leaves_no_ban_on_it(hub: Hub) {
        let client = hub.network().await;
        let by_ip = post(&client, "create-ip", json!({"ipAddress": "203.0.113.1", "type": "BAN"})).await["id"].clone();
        let mute = post(&client, "create-ip", json!({"ipAddress": "203.0.113.1", "type": "MUTE"})).await["id"].clone();
        let other = post(&client, "create-ip", json!({"ipAddress": "203.0.113.2", "type": "BAN"})).await["id"].clone();
        let ban = json!({"playerUuid": STEVE, "type": "BAN", "ipBased": true});
        let of_player = post(&client, "create", ban).await["id"].clone();
        seen(&client, STEVE, "Steve", "203.0.113.1").await;
        let revoked = post(&client, "unban-ip", json!({"ipAddress": "::ffff:203.0.113.1", "reason": "appeal"})).await;
        assert_eq!(json!(ids_of(&revoked)), json!([of_player, by_ip]));
        assert_eq!(json!(ids(&client, "query?ip=203.0.113.1").await), json!([mute]));
        assert_eq!(json!(ids(&client, "query?ip=203.0.113.2").await), json!([other]));
        assert_eq!(post(&client, "unban-ip", json!({"ipAddress": "203.0.113.1"})).await, json!([]));
    }

    async fn history_is_paged_newest_first(hub: Hub) {
        let client = hub.network().await;
        for _ in 0..5 {
            create(&client, STEVE, "WARN", Some(1)).await;
            hub.advance_ms(10);
        }
        for route in [format!("player/{STEVE}/history"), "player-name/steve/history".to_owned()] {
            assert_eq!(ids(&client, &route).await, [5, 4, 3, 2, 1]);
            assert_eq!(ids(&client, &format!("{route}?limit=2")).await, [5, 4]);
            assert_eq!(ids(&client, &format!("{route}?limit=2&offset=2")).await, [3, 2]);
            assert_eq!(ids(&client, &format!("{route}?limit=2&offset=4")).await, [1]);
            assert_eq!(ids(&client, &format!("{route}?limit=999&offset=5")).await, Vec::<i64>::new());
        }
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, Vec::<i64>::new());
    }

    async fn history_is_limited_to_200(hub: Hub) {
        let client = hub.network().await;
        let all = (0..205).map(|_| create(&client, STEVE, "WARN", None));
        futures_util::future::join_all(all).await;
        assert_eq!(ids(&client, &format!("player/{STEVE}/history")).await.len(), 50);
        assert_eq!(ids(&client, &format!("player/{STEVE}/history?limit=1000")).await.len(), 200);
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await.len(), 205);
    }

    async fn expiry_follows_the_clock_and_is_published_once(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        let id = create(&client, STEVE, "BAN", Some(MINUTE)).await;
        expect_event(&mut events, "CREATED", id).await;
        hub.advance_ms(MINUTE as u64 - 1);
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, [id]);
        expect_no_event(&client, &mut events).await;
        hub.advance_ms(1);
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, Vec::<i64>::new());
        assert_eq!(ids(&client, &format!("query?playerUuid={STEVE}")).await, Vec::<i64>::new());
        loop {
            let event = events.next().await.unwrap();
            if event.name == "PING" {
                continue;
            }
            assert_eq!((event.name.as_str(), &event.data["action"]), ("PUNISHMENT", &json!("EXPIRED")));
            assert_eq!(event.data["punishment"], get(&client, &format!("player/{STEVE}/history")).await[0]);
            assert_eq!(event.data["punishment"]["active"], false);
            break;
        }
        let unchanged = post(&client, "remove", json!({"punishmentId": id})).await;
        assert_eq!(unchanged["active"], false);
        for _ in 0..5 {
            hub.advance_ms(60_000);
        }
        expect_no_event(&client, &mut events).await;
    }

    async fn an_expiry_is_published_once_across_restarts(hub: Hub) {
        let client = hub.network().await;
        let early = create(&client, STEVE, "MUTE", Some(MINUTE)).await;
        let late = create(&client, STEVE, "BAN", Some(10 * MINUTE)).await;
        // Otherwise the next hub would publish the events left by this one.
        wait_for_published(&hub, 2).await;
        let hub = hub.restart(Duration::from_mins(2)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        assert_eq!(ids(&client, &format!("player/{STEVE}")).await, [late]);
        // The one that expired in between is published as soon as the hub is back.
        wait_for_published(&hub, 1).await;
        let hub = hub.restart(Duration::ZERO).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        let mut events = client.events(None, None).await;
        hub.advance_ms(1_000);
        expect_no_event(&client, &mut events).await;
        hub.advance_ms(8 * MINUTE as u64);
        while events.next().await.unwrap().data["punishment"]["id"] != late {}
        wait_for_published(&hub, 2).await;
        // Otherwise the next hub would publish it again, like after a kill.
        Hub::eventually("nothing waits", async || {
            let (waiting,): (i64,) = hub.app.db.query("SELECT COUNT(*) FROM outbox").one().await.unwrap();
            waiting == 0
        })
        .await;
        let hub = hub.abandon(Duration::from_mins(10)).await;
        let client = hub.with_key(client.key.as_deref().unwrap());
        let mut events = client.events(None, None).await;
        hub.advance_ms(1_000);
        expect_no_event(&client, &mut events).await;
        assert_eq!(hub.app.bus.stats().published, 1);
        assert_eq!(ids(&client, &format!("player/{STEVE}/history")).await, [late, early]);
    }

    async fn many_expiries_are_published_each_to_its_own_network(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        let all = (0..600).map(|_| create(&ours, STEVE, "MUTE", Some(MINUTE)));
        futures_util::future::join_all(all).await;
        let own = create(&theirs, ALEX, "MUTE", Some(MINUTE)).await;
        wait_for_published(&hub, 601).await;
        let mut events = theirs.events(None, None).await;
        hub.advance_ms(MINUTE as u64);
        while events.next().await.unwrap().name == "PING" {}
        wait_for_published(&hub, 1_202).await;
        expect_no_event(&theirs, &mut events).await;
        assert_eq!(own, 1);
        assert_eq!(ids(&ours, &format!("player/{STEVE}")).await, Vec::<i64>::new());
    }
}
