//! Reviews of punishments and chat filters, seen by servers.

use serde_json::{Value, json};

use super::{chain, upload, wasm};
use crate::servers::uuid;
use crate::support::{Client, on_both};

on_both! {
    async fn a_module_checks_a_players_permissions(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "speakers", wasm::only_speakers()).await.expect(201);
        chain(&owner, "chat", json!([{"name": "speakers", "version": 1}])).await.expect(200);
        let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": "hello", "serverId": "lobby-1"});
        let refused = owner.post("/api/plugin/chat", line.clone()).await;
        refused.expect_error(400, "chat_rejected");
        let nodes = format!("/api/plugin/permissions/users/{}/permissions", uuid(1));
        owner.post(&nodes, json!({"node": "group.vip"})).await.expect(204);
        let group = json!({"permissions": [{"node": "chat.*", "context": "server=lobby"}]});
        owner.put("/api/plugin/permissions/groups/vip", group).await.expect(204);
        // In effect at once: nothing caches permissions for modules.
        owner.post("/api/plugin/chat", line.clone()).await.expect(204);
        owner.post(&nodes, json!({"node": "chat.speak", "value": false})).await.expect(204);
        owner.post("/api/plugin/chat", line).await.expect_error(400, "chat_rejected");
    }

    async fn a_refused_punishment_is_not_made(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "strict", wasm::strict()).await.expect(201);
        chain(&owner, "punishment", json!([{"name": "strict", "version": 1}])).await.expect(200);
        let mut events = owner.events(None, None).await;
        let kick = json!({"playerUuid": uuid(1), "type": "KICK"});
        let answer = owner.post("/api/plugin/punishments/create", kick).await;
        let refused = answer.expect(400);
        assert_eq!((&refused["code"], &refused["error"]), (&json!("punishment_rejected"), &json!("too harsh")));
        let history = owner.get(&format!("/api/plugin/punishments/player/{}/history", uuid(1))).await;
        assert_eq!(history.expect(200), &json!([]));
        // It takes neither an event nor an id.
        let mute = json!({"playerUuid": uuid(1), "type": "MUTE"});
        assert_eq!(owner.post("/api/plugin/punishments/create", mute).await.expect(200)["id"], 1);
        assert_eq!(events.next().await.unwrap().data["punishment"]["id"], 1);
    }

    async fn follow_ups_are_made_with_their_punishment(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "strict", wasm::strict()).await.expect(201);
        chain(&owner, "punishment", json!([{"name": "strict", "version": 1}])).await.expect(200);
        let mut events = owner.events(None, None).await;
        let warn = json!({
            "playerUuid": uuid(1), "playerName": "p1", "type": "WARN", "reason": "spam", "issuerName": "Alex",
        });
        let made = owner.post("/api/plugin/punishments/create", warn).await.expect(200).clone();
        assert_eq!((&made["id"], &made["type"], &made["reason"]), (&json!(1), &json!("WARN"), &json!("spam")));
        let mut received = vec![];
        for id in 1..=3 {
            let event = events.next().await.unwrap();
            assert_eq!(event.data["action"], "CREATED");
            let punishment = &event.data["punishment"];
            assert_eq!((&punishment["id"], &punishment["playerName"]), (&json!(id), &json!("p1")));
            assert_eq!(punishment["issuerName"], "Alex");
            received.push(json!([punishment["type"], punishment["durationMs"], punishment["reason"]]));
        }
        assert_eq!(json!(received), json!([
            ["WARN", null, "spam"], ["MUTE", 60_000, "be quiet"], ["BAN", null, null],
        ]));
        let active = owner.get(&format!("/api/plugin/punishments/player/{}", uuid(1))).await;
        let ids: Vec<_> = active.expect(200).as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
        assert_eq!(ids, [3, 2, 1].map(|id: i64| json!(id)));
    }

    async fn a_preview_asks_the_modules_and_makes_nothing(hub: Hub) {
        let owner = hub.network().await;
        let preview = async |body: Value| owner.post("/api/plugin/punishments/preview", body).await.expect(200).clone();
        let warn = json!({"playerName": "p1", "type": "warn", "reason": "spam", "durationMs": 5});
        let plain = preview(warn.clone()).await;
        assert_eq!(plain, json!({"decision": "ACCEPT", "reason": null, "modules": [],
            "punishments": [{"type": "WARN", "reason": "spam", "durationMs": 5}]}));
        upload(&owner, "strict", wasm::strict()).await.expect(201);
        chain(&owner, "punishment", json!([{"name": "strict", "version": 1}])).await.expect(200);
        let asked = json!([{"name": "strict", "version": 1, "failed": false}]);
        let kick = preview(json!({"playerUuid": uuid(1), "type": "KICK"})).await;
        assert_eq!(kick, json!({"decision": "REJECT", "reason": "too harsh", "punishments": [], "modules": asked}));
        let seen = preview(json!({"playerUuid": uuid(1), "type": "WARN", "reason": "spam"})).await;
        assert_eq!((&seen["modules"], &seen["punishments"]), (&asked, &json!([
            {"type": "WARN", "reason": "spam", "durationMs": null},
            {"type": "MUTE", "reason": "be quiet", "durationMs": 60_000},
            {"type": "BAN", "reason": null, "durationMs": null},
        ])));
        // Nothing came of it: no punishment, no count, no record.
        assert_eq!(owner.get("/api/manage/punishments").await.expect(200)["total"], 0);
        let point = owner.get("/api/manage/extension-points/punishment").await.expect(200).clone();
        assert_eq!(point["modules"][0]["calls"], 0);
        let calls = owner.get("/api/manage/extension-points/punishment/calls").await.expect(200).clone();
        assert_eq!(calls["items"], json!([]));
        let mute = json!({"playerUuid": uuid(1), "type": "MUTE"});
        assert_eq!(owner.post("/api/plugin/punishments/create", mute).await.expect(200)["id"], 1);
        owner.post("/api/plugin/punishments/preview", json!({"type": "MUTE"})).await.expect_error(400, "invalid_request");
    }

    async fn a_rewritten_line_is_sent_rewritten_and_a_refused_one_is_not_sent(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "moody", wasm::moody(1)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "moody", "version": 1}])).await.expect(200);
        let mut events = owner.events(Some("lobby-1"), None).await;
        let line = |message: &str| {
            json!({"playerUuid": uuid(1), "playerName": "p1", "message": message, "serverId": "lobby-1", "rank": "VIP"})
        };
        owner.post("/api/plugin/chat", line("What a line")).await.expect(204);
        let rewritten = events.next().await.unwrap();
        assert_eq!((&rewritten.data["message"], &rewritten.data["rank"]), (&json!("polite"), &json!("VIP")));
        // The second mutes its sender, too.
        for refused in ["Refuse it", "Unmannerly"] {
            let answer = owner.post("/api/plugin/chat", line(refused)).await.expect(400).clone();
            assert_eq!((&answer["code"], &answer["error"]), (&json!("chat_rejected"), &json!("rude")));
        }
        let mute = events.next().await.unwrap();
        assert_eq!((mute.name.as_str(), &mute.data["action"]), ("PUNISHMENT", &json!("CREATED")));
        let mute = &mute.data["punishment"];
        assert_eq!((&mute["type"], &mute["durationMs"]), (&json!("MUTE"), &json!(60_000)));
        assert_eq!((&mute["reason"], &mute["issuerName"]), (&json!("rude"), &json!("chat filter")));
        assert_eq!((&mute["playerUuid"], &mute["issuerUuid"]), (&json!(uuid(1)), &Value::Null));
        // Mutes are enforced by the servers, not by the hub.
        owner.post("/api/plugin/chat", line("another")).await.expect(204);
        assert_eq!(events.next().await.unwrap().data["message"], "another");
    }

    async fn modules_see_balances_and_statistics_of_players(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "rich-and-busy", wasm::rich_and_busy()).await.expect(201);
        let link = json!([{"name": "rich-and-busy", "version": 1, "onFailure": "REFUSE"}]);
        chain(&owner, "chat", link).await.expect(200);
        let path = format!("/api/plugin/economy/player/{}", uuid(1));
        let refusal = async |client: &Client| {
            let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": "hi", "serverId": "a"});
            client.post("/api/plugin/chat", line).await.body["error"].clone()
        };
        assert_eq!(refusal(&owner).await, "poor");
        let coins = json!({"currency": "coins", "amount": 99.9999});
        owner.post(&format!("{path}/currencies/modify"), coins).await.expect(200);
        assert_eq!(refusal(&owner).await, "poor");
        let coin = json!({"currency": "coins", "amount": 0.0001});
        owner.post(&format!("{path}/currencies/modify"), coin).await.expect(200);
        assert_eq!(refusal(&owner).await, "idle");
        for (kills, answer) in [(2.5, json!("idle")), (0.5, Value::Null)] {
            let kills = json!({"name": "kills", "amount": kills});
            owner.post(&format!("{path}/statistics/increment"), kills).await.expect(200);
            assert_eq!(refusal(&owner).await, answer);
        }
        // The next day has its own kills, and another network its own players.
        hub.advance_ms(24 * 60 * 60 * 1_000);
        assert_eq!(refusal(&owner).await, "idle");
        let other = hub.network().await;
        upload(&other, "rich-and-busy", wasm::rich_and_busy()).await.expect(201);
        chain(&other, "chat", json!([{"name": "rich-and-busy", "version": 1}])).await.expect(200);
        assert_eq!(refusal(&other).await, "poor");
        let start = json!({"startingBalance": 100});
        other.put("/api/manage/economy/currencies/coins", start).await.expect(200);
        assert_eq!(refusal(&other).await, "idle");
    }
}
