//! Fences on single writes, and networks that require them.

use serde_json::{Value, json};

use super::{open, path, save};
use crate::servers::{register, uuid};
use crate::support::on_both;

on_both! {
    async fn single_writes_are_held_to_the_open_session(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let place = format!("/api/plugin/players/{}/data/global/n", uuid(1));
        let modify = format!("/api/plugin/economy/player/{}/currencies/modify", uuid(1));
        let operation = |owner_type: &str, key: &str| {
            json!({"ownerType": owner_type, "ownerKey": key, "currency": "coins", "amount": 1})
        };
        let transactions = "/api/plugin/economy/transactions";
        // Players who never had a session have no fence either.
        client.put(&place, json!({"data": "1", "fence": 1})).await.expect_error(409, "stale_session");
        let fence = open(&client, 1, "a").await;
        let other = open(&client, 2, "a").await;
        client.put(&place, json!({"data": "1", "fence": fence})).await.expect(200);
        client.post(&modify, json!({"currency": "coins", "amount": 1, "fence": fence})).await.expect(200);
        let both = json!([operation("player", &uuid(1)), operation("shop", "s"), operation("player", &uuid(1))]);
        client.post(transactions, json!({"operations": both, "fence": fence})).await.expect(200);
        client.delete(&format!("{place}?fence={fence}")).await.expect(204);
        for stale in [other, fence - 1, fence + 100] {
            client.put(&place, json!({"data": "2", "fence": stale})).await.expect_error(409, "stale_session");
            client.delete(&format!("{place}?fence={stale}")).await.expect_error(409, "stale_session");
            let change = json!({"currency": "coins", "amount": 1, "fence": stale});
            client.post(&modify, change).await.expect_error(409, "stale_session");
            let body = json!({"operations": [operation("player", &uuid(1))], "fence": stale});
            client.post(transactions, body).await.expect_error(409, "stale_session");
        }
        let body = json!({"operations": [operation("player", &uuid(1)), operation("player", &uuid(2))], "fence": fence});
        client.post(transactions, body).await.expect_error(409, "stale_session");
        let body = json!({"operations": [operation("shop", "s")], "fence": fence});
        client.post(transactions, body).await.expect_error(400, "invalid_request");
        let change = json!({"currency": "coins", "amount": 1, "fence": fence});
        client.post("/api/plugin/economy/shop/s/currencies/modify", change).await.expect_error(400, "invalid_request");
        client.put(&place, json!({"data": "1", "fence": "x"})).await.expect_error(400, "invalid_request");
        client.delete(&format!("{place}?fence=x")).await.expect_error(400, "invalid_request");
        let balance = client.get(&format!("/api/plugin/economy/player/{}/currencies", uuid(1))).await.expect(200).clone();
        assert_eq!(balance[0]["balance"], 3);
        client.get(&place).await.expect_error(404, "unknown_namespace");

        save(&client, 1, fence, json!({"close": true})).await.expect(200);
        client.put(&place, json!({"data": "3", "fence": fence})).await.expect_error(409, "stale_session");
    }

    async fn a_network_may_require_fences(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let place = format!("/api/plugin/players/{}/data/global/n", uuid(1));
        let modify = format!("/api/plugin/economy/player/{}/currencies/modify", uuid(1));
        let fence = open(&client, 1, "a").await;
        client.put(&place, json!({"data": "1"})).await.expect(200);
        client.patch("/api/manage/network", json!({"sessionsRequired": true})).await.expect(200);
        client.put(&place, json!({"data": "2"})).await.expect_error(409, "session_required");
        client.delete(&place).await.expect_error(409, "session_required");
        client.put(&place, json!({"data": "2", "fence": fence})).await.expect(200);
        // It is about data alone, and about players with an open session.
        client.post(&modify, json!({"currency": "coins", "amount": 1})).await.expect(200);
        let other = format!("/api/plugin/players/{}/data/global/n", uuid(2));
        client.put(&other, json!({"data": "1"})).await.expect(200);
        save(&client, 1, fence, json!({"close": true})).await.expect(200);
        client.put(&place, json!({"data": "3"})).await.expect(200);
        client.delete(&place).await.expect(204);
    }

    /// A write without a fence is refused, or the session that opens meanwhile has it.
    async fn no_write_without_a_fence_comes_after_a_session_opened(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        client.patch("/api/manage/network", json!({"sessionsRequired": true})).await.expect(200);
        for player in 1..=40 {
            let place = format!("/api/plugin/players/{}/data/global/n", uuid(player));
            let writes = futures_util::future::join_all((0..4).map(|at| {
                client.put(&place, json!({"data": format!("{at}")}))
            }));
            let (at, server) = (path(player), json!({"serverId": "a"}));
            let (writes, opened) = tokio::join!(writes, client.post(&at, server));
            let profile = opened.expect(200)["profile"].clone();
            let written = writes.iter().filter(|answer| answer.status == 200).count() as u64;
            for refused in writes.iter().filter(|answer| answer.status != 200) {
                refused.expect_error(409, "session_required");
            }
            let now = client.get(&place).await;
            let version = if now.status == 200 { now.body["version"].as_u64().unwrap() } else { 0 };
            assert_eq!(version, written);
            let seen = profile["namespaces"].as_array().map_or(0, Vec::len);
            assert_eq!(seen > 0, written > 0, "{profile}");
        }
    }

    async fn a_network_has_settings(hub: Hub) {
        let owner = hub.network().await;
        let settings = owner.get("/api/manage/network").await.expect(200).clone();
        let name = settings["name"].clone();
        let expected = json!({
            "networkId": owner.network.unwrap().to_string(), "name": name, "stage": "LIVE", "sessionsRequired": false,
            "chatHistoryDays": 7, "requireSecondFactor": false,
        });
        assert_eq!(settings, expected);
        let body = json!({"stage": "TEST", "requireSecondFactor": true, "sessionsRequired": null, "networkId": "ignored"});
        let changed = owner.patch("/api/manage/network", body).await.expect(200).clone();
        let audit = owner.get("/api/manage/audit?action=network.changed").await.expect(200).clone();
        assert_eq!((&changed["stage"], &changed["sessionsRequired"]), (&json!("TEST"), &json!(false)));
        assert_eq!((&changed["requireSecondFactor"], &changed["name"]), (&json!(true), &name));
        assert_eq!(owner.get("/api/manage/network").await.expect(200), &changed);
        assert_eq!((&audit["items"][0]["after"], &audit["total"]), (&changed, &json!(1)));
        for wrong in [json!({"stage": "live"}), json!({"sessionsRequired": "yes"}), json!([])] {
            owner.patch("/api/manage/network", wrong).await.expect_error(400, "invalid_request");
        }
        let plugin = owner.key_with(&["plugin"]).await;
        plugin.get("/api/manage/network").await.expect_error(403, "forbidden_scope");
        assert_eq!(hub.network().await.get("/api/manage/network").await.expect(200)["stage"], "LIVE");
        assert_eq!(plugin.get(&path(1)).await.expect(404)["code"], Value::from("unknown_session"));
    }
}
