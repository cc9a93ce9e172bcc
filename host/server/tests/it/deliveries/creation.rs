//! Creation, once for each reference.

use reqwest::Method;
use serde_json::{Value, json};

use super::{PATH, claimed, complete, create, decide, playing, send, with};
use crate::servers::uuid;
use crate::support::{Client, Hub, NOW, on_both};

async fn refuse(client: &Client, body: Value, hint: &str) {
    let answer = client.post(PATH, body.clone()).await;
    answer.expect_error(400, "invalid_request");
    assert!(answer.body["error"].as_str().unwrap().contains(hint), "{body}: {}", answer.body);
}

on_both! {
    async fn a_delivery_is_created_with_its_values(hub: Hub) {
        let client = hub.network().await;
        let body = json!({
            "playerUuid": uuid(1).replace('-', "").to_uppercase(), "playerName": "Steve", "kind": "kit",
            "payload": {"kit": "starter", "n": 1}, "serverType": "survival", "serverId": "a", "notBefore": NOW + 5,
            "expiresAt": NOW + 10, "reference": "order 1", "onLost": "RETRY", "unknown": true,
        });
        let expected = json!({
            "deliveryId": 1, "playerUuid": uuid(1), "playerName": "Steve", "kind": "kit",
            "payload": {"kit": "starter", "n": 1}, "serverType": "survival", "serverId": "a", "state": "PENDING",
            "attempts": 0, "onLost": "RETRY", "reference": "order 1", "reason": null, "claimedBy": null,
            "claimedUntil": null, "createdAt": NOW, "notBefore": NOW + 5, "expiresAt": NOW + 10, "settledAt": null,
        });
        assert_eq!(client.post(PATH, body).await.expect(201), &expected);
        let least = client.post(PATH, json!({"playerName": "Nobody", "kind": "x"})).await.expect(201).clone();
        let expected = json!({
            "deliveryId": 2, "playerUuid": null, "playerName": "Nobody", "kind": "x", "payload": null,
            "serverType": null, "serverId": null, "state": "PENDING", "attempts": 0, "onLost": "HOLD",
            "reference": null, "reason": null, "claimedBy": null, "claimedUntil": null, "createdAt": NOW,
            "notBefore": null, "expiresAt": null, "settledAt": null,
        });
        assert_eq!(least, expected);
        // Each network counts its own.
        assert_eq!(create(&hub.network().await, 1, json!({})).await, 1);
    }

    async fn impossible_values_are_refused(hub: Hub) {
        let client = hub.network().await;
        let good = json!({"playerUuid": uuid(1), "kind": "kit"});
        refuse(&client, json!({"kind": "kit"}), "`playerUuid` or `playerName`").await;
        refuse(&client, json!({"playerUuid": uuid(1)}), "kind").await;
        for (more, hint) in [
            (json!({"playerUuid": "Steve"}), "playerUuid"),
            (json!({"kind": ""}), "kind"),
            (json!({"kind": "k".repeat(65)}), "at most 64"),
            (json!({"reference": "r".repeat(129)}), "at most 128"),
            (json!({"reference": " "}), "blank"),
            (json!({"onLost": "LATER"}), "onLost"),
            (json!({"notBefore": "soon"}), "notBefore"),
            (json!({"expiresAt": NOW}), "past"),
            (json!({"expiresAt": NOW + 5, "notBefore": NOW + 6}), "`notBefore`"),
            (json!({"serverId": 5}), "serverId"),
        ] {
            refuse(&client, with(good.clone(), &more), hint).await;
        }
        let payload = |bytes: usize| json!({"payload": "x".repeat(bytes - 2)});
        send(&client, 1, payload(16 * 1_024)).await.expect(201);
        send(&client, 1, payload(16 * 1_024 + 1)).await.expect_error(413, "body_too_large");
    }

    /// Programs that read one fail, and with it all that are offered beside it.
    async fn payloads_that_programs_cannot_read_are_refused(hub: Hub) {
        let client = hub.network().await;
        let send = async |payload: &str| {
            let body = format!(r#"{{"playerUuid": "{}", "kind": "kit", "reference": "r", "payload": {payload}}}"#, uuid(1));
            client.send(client.request(Method::POST, PATH).body(body)).await
        };
        for payload in [r#"{"x": "\ud800"}"#, r#"["\udfff\ud800"]"#, r#"{"x": 1e400}"#, "[-5e999]"] {
            send(payload).await.expect_error(400, "invalid_request");
        }
        send(r#"{"x": "\ud83d\ude00", "n": 12345678901234567890123}"#).await.expect(201);
        send(r#"{"n":12345678901234567890123,"x":"\ud83d\ude00"}"#).await.expect_error(409, "reference_used");
        send(r#"{"x":"\ud83d\ude00","n":12345678901234567890999}"#).await.expect_error(409, "reference_used");
        send(r#"{"x":"\ud83d\ude00","n":12345678901234567890123}"#).await.expect(200);
    }

    async fn a_reference_stands_for_one_delivery(hub: Hub) {
        let client = playing(&hub).await;
        let order = json!({"reference": "order-1", "payload": {"a": 1, "b": [1.5, null]}, "expiresAt": NOW + 1_000});
        let first = send(&client, 1, order.clone()).await.expect(201).clone();
        // Ids, names and JSON are compared as the hub reads them.
        let again = with(order.clone(), &json!({
            "playerUuid": uuid(1).to_uppercase(), "payload": {"b": [1.5, null], "a": 1}, "onLost": "HOLD",
            "serverId": null,
        }));
        assert_eq!(send(&client, 1, again).await.expect(200), &first);
        for other in [json!({"kind": "rank"}), json!({"payload": null}), json!({"onLost": "RETRY"}), json!({"serverId": "a"}),
            json!({"expiresAt": NOW + 1_001}), json!({"playerName": "Steve"}), json!({"playerUuid": uuid(2)})] {
            send(&client, 1, with(order.clone(), &other)).await.expect_error(409, "reference_used");
        }
        let id = first["deliveryId"].as_i64().unwrap();
        let claim = claimed(&client, id, "a").await;
        complete(&client, id, &claim).await.expect(200);
        // However it ended, and though its time is over by now.
        hub.advance_ms(5_000);
        let answer = send(&client, 1, order.clone()).await;
        assert_eq!((&answer.expect(200)["state"], &answer.body["deliveryId"]), (&json!("DELIVERED"), &json!(id)));
        // Another network has its own references.
        assert_eq!(send(&hub.network().await, 1, json!({"reference": "order-1"})).await.expect(201)["state"], "PENDING");
    }

    async fn one_of_many_requests_with_a_reference_creates_it(hub: Hub) {
        let client = hub.network().await;
        let order = json!({"reference": "vote", "payload": 5});
        let requests = (0..20).map(|_| send(&client, 1, order.clone()));
        let answers = futures_util::future::join_all(requests).await;
        let created = answers.iter().filter(|answer| answer.status == 201).count();
        assert_eq!(created, 1, "{:?}", answers.iter().map(|answer| answer.status).collect::<Vec<_>>());
        let id = &answers[0].body["deliveryId"];
        assert!(answers.iter().all(|answer| answer.status.is_success() && answer.body["deliveryId"] == *id));
        assert_eq!(client.get("/api/manage/deliveries").await.expect(200)["total"], 1);
    }

    async fn an_idempotency_key_makes_a_retry_safe(hub: Hub) {
        let client = playing(&hub).await;
        let body = json!({"playerUuid": uuid(1), "kind": "kit"});
        let post = async |path: &str, body: &Value, key: &str| {
            client.send(client.request(Method::POST, path).header("Idempotency-Key", key).json(body)).await
        };
        let first = post(PATH, &body, "k").await.expect(201).clone();
        assert_eq!(post(PATH, &body, "k").await.expect(201), &first);
        // A claim is a secret: its holder gets it again, and no other key does.
        let (path, server) = (format!("{PATH}/1/claim"), json!({"serverId": "a"}));
        let claim = post(&path, &server, "c").await.expect(200).clone();
        assert_eq!(post(&path, &server, "c").await.expect(200), &claim);
        let other = client.key_with(&["deliveries:write"]).await;
        let stolen = other.request(Method::POST, &path).header("Idempotency-Key", "c").json(&server);
        other.send(stolen).await.expect_error(409, "answer_not_kept");
        post(&path, &server, "d").await.expect_error(409, "claimed");
    }

    async fn old_deliveries_are_deleted_and_their_references_stay(hub: Hub) {
        let client = playing(&hub).await;
        let order = json!({"reference": "order-1", "payload": {"a": 1}});
        let id = create(&client, 1, order.clone()).await;
        let claim = claimed(&client, id, "a").await;
        let ended = complete(&client, id, &claim).await.expect(200).clone();
        let open = create(&client, 2, json!({})).await;
        let total = async || client.get("/api/manage/deliveries").await.expect(200)["total"].as_i64().unwrap();
        hub.advance_ms(399 * 86_400_000);
        hub.advance_ms(3_600_000);
        assert_eq!(total().await, 2);
        hub.advance_ms(86_400_000);
        Hub::eventually("the settled one is deleted", async || {
            hub.advance_ms(3_600_000);
            total().await == 1
        }).await;
        assert_eq!(super::state(&client, open).await, "PENDING");
        let kept = send(&client, 1, order.clone()).await.expect(200).clone();
        let known = json!({"claimedBy": null, "reason": null});
        assert_eq!(kept, with(ended, &known));
        send(&client, 1, json!({"reference": "order-1"})).await.expect_error(409, "reference_used");
        decide(&client, id, "retry").await.expect_error(404, "unknown_delivery");
    }
}
