//! Rights, limits, export and erasure.

use futures_util::future::join_all;
use hub::limits::Limit;
use reqwest::Method;
use serde_json::{Value, json};

use super::{PATH, claimed, complete, create, decide, fail, playing, send};
use crate::limits::hub_with;
use crate::people::{self, member};
use crate::servers::{register, uuid};
use crate::support::{Backend, on_both, on_each};

on_each! { open_deliveries_are_bounded }

async fn open_deliveries_are_bounded(backend: Backend) {
    let hub = hub_with(backend, &[(Limit::Deliveries, 4), (Limit::DeliveriesPerPlayer, 2)]).await;
    let client = playing(&hub).await;
    let by_name = json!({"playerName": "Alex", "kind": "kit"});
    for _ in 0..2 {
        client.post(PATH, by_name.clone()).await.expect(201);
    }
    client.post(PATH, by_name).await.expect_quota("deliveriesPerPlayer", 2);
    create(&client, 1, json!({"reference": "r"})).await;
    let second = create(&client, 1, json!({})).await;
    send(&client, 1, json!({})).await.expect_quota("deliveries", 4);
    // A repetition is no new one.
    send(&client, 1, json!({"reference": "r"})).await.expect(200);
    decide(&client, second, "cancel").await.expect(200);
    let third = create(&client, 1, json!({"kind": "x"})).await;
    let text = claimed(&client, third, "a").await;
    client.post(&format!("{PATH}/{third}/fail"), json!({"claim": text})).await.expect(200);
    create(&client, 1, json!({})).await;
    // A failed one that is tried again is open again.
    decide(&client, third, "retry").await.expect_quota("deliveries", 4);
    decide(&client, 1, "cancel").await.expect(200);
    decide(&client, third, "retry").await.expect_quota("deliveriesPerPlayer", 2);
}

on_both! {
    async fn a_plan_bounds_the_open_deliveries_of_a_network(hub: Hub) {
        let (client, operator) = (playing(&hub).await, hub.operator().await);
        operator.post("/api/admin/plans", json!({"name": "small", "limits": {"deliveries": 1}})).await.expect(201);
        let network = client.network.unwrap();
        operator.patch(&format!("/api/admin/networks/{network}"), json!({"plan": "small"})).await.expect(200);
        hub.advance_ms(1_000);
        create(&client, 1, json!({})).await;
        send(&client, 2, json!({})).await.expect_quota("deliveries", 1);
        // A failed one that is tried again is one more.
        decide(&client, 1, "cancel").await.expect(200);
        let failed = create(&client, 1, json!({})).await;
        let claim = claimed(&client, failed, "a").await;
        fail(&client, failed, &claim, false).await.expect(200);
        create(&client, 2, json!({})).await;
        decide(&client, failed, "retry").await.expect_quota("deliveries", 1);
    }

    async fn deliveries_at_once_keep_within_the_plan(hub: Hub) {
        let (client, operator) = (hub.network().await, hub.operator().await);
        operator.post("/api/admin/plans", json!({"name": "small", "limits": {"deliveries": 5}})).await.expect(201);
        let network = client.network.unwrap();
        operator.patch(&format!("/api/admin/networks/{network}"), json!({"plan": "small"})).await.expect(200);
        hub.advance_ms(1_000);
        // Each that is refused counts again, while others are not committed yet.
        let answers = join_all((1..=30).map(|player| send(&client, player, json!({})))).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 5);
        assert_eq!(client.get("/api/manage/deliveries").await.expect(200)["total"], 5);
    }

    async fn keys_and_people_have_their_rights(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({})).await;
        let writer = client.key_with(&["deliveries:write"]).await;
        let text = claimed(&writer, id, "a").await;
        complete(&writer, id, &text).await.expect(200);
        writer.get("/api/manage/deliveries").await.expect_error(403, "forbidden_scope");
        let manager = client.key_with(&["deliveries:manage"]).await;
        manager.get("/api/manage/deliveries").await.expect(200);
        manager.post(PATH, json!({"playerUuid": uuid(1), "kind": "kit"})).await.expect_error(403, "forbidden_scope");
        let players = client.key_with(&["players:write"]).await;
        players.get("/api/manage/deliveries").await.expect_error(403, "forbidden_scope");
        // A moderator reads, an admin decides.
        let other = create(&client, 1, json!({})).await;
        let cancel = format!("/api/manage/deliveries/{other}/cancel");
        for (role, reads, decides) in [("VIEWER", false, false), ("MODERATOR", true, false), ("ADMIN", true, true)] {
            let person = member(&hub, &client, &format!("{}@example.org", role.to_lowercase()), role).await;
            let read = people::send(&hub, &person.token, Method::GET, "/api/manage/deliveries", Value::Null).await;
            assert_eq!(read.status == 200, reads, "{role}: {}", read.body);
            let decided = people::send(&hub, &person.token, Method::POST, &cancel, Value::Null).await;
            assert_eq!(decided.status == 200, decides, "{role}: {}", decided.body);
        }
    }

    async fn a_bound_key_acts_at_its_server(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({})).await;
        let body = json!({"name": "bound", "scopes": ["deliveries:write"], "servers": ["b"]});
        let bound = client.with_key(client.post("/api/manage/keys", body).await.expect(201)["apiKey"].as_str().unwrap());
        bound.get(&format!("{PATH}?serverId=b")).await.expect(200);
        bound.get(&format!("{PATH}?serverId=a")).await.expect_error(403, "forbidden_origin");
        super::claim(&bound, id, "a").await.expect_error(403, "forbidden_origin");
        // Nor does it settle what another server has claimed.
        let claim = super::claimed(&client, id, "a").await;
        super::complete(&bound, id, &claim).await.expect_error(403, "forbidden_origin");
        super::fail(&bound, id, &claim, true).await.expect_error(403, "forbidden_origin");
        super::complete(&client, id, &claim).await.expect(200);
        super::join(&client, "b", 1).await;
        let own = create(&client, 1, json!({})).await;
        let claim = super::claimed(&bound, own, "b").await;
        super::complete(&bound, own, &claim).await.expect(200);
    }

    async fn an_erased_player_leaves_only_a_hash(hub: Hub) {
        let client = playing(&hub).await;
        register(&client, "c", json!({})).await;
        let order = json!({"reference": "order of Alexandra", "payload": {"for": "Alexandra"}});
        create(&client, 7, order.clone()).await;
        let load = format!("/api/plugin/players/{}/load?username=Alexandra", uuid(7));
        client.post(&load, Value::Null).await.expect(200);
        let named = json!({"playerName": "Alexandra", "kind": "kit", "reference": "by name"});
        client.post(PATH, named.clone()).await.expect(201);
        let other = create(&client, 8, json!({"payload": {"friend": "Alexandra", "id": uuid(7)}})).await;
        let export = client.get(&format!("/api/manage/players/{}/export", uuid(7))).await.expect(200).clone();
        assert_eq!(export["tables"]["deliveries"].as_array().unwrap().len(), 2, "{export}");
        assert_eq!(export["tables"]["deliveryReferences"].as_array().unwrap().len(), 2, "{export}");
        client.delete(&format!("/api/manage/players/{}", uuid(7))).await.expect(204);
        let left = client.get("/api/manage/deliveries").await.expect(200).clone();
        assert_eq!((&left["total"], &left["items"][0]["deliveryId"]), (&json!(1), &json!(other)));
        let text = left.to_string();
        assert!(!text.contains("Alexandra") && !text.contains(&uuid(7)), "{text}");
        // The same for any body.
        let answer = send(&client, 7, order).await.expect(200).clone();
        assert_eq!((&answer["state"], &answer["deliveryId"]), (&json!("CANCELLED"), &json!(1)));
        for field in ["playerUuid", "playerName", "payload", "reason", "claimedBy"] {
            assert_eq!(answer[field], Value::Null, "{field}");
        }
        send(&client, 9, json!({"reference": "order of Alexandra", "kind": "else", "expiresAt": 1})).await.expect(200);
        assert_eq!(client.post(PATH, named).await.expect(200)["state"], "CANCELLED");
        assert_eq!(client.get("/api/manage/deliveries").await.expect(200)["total"], 1);
    }
}
