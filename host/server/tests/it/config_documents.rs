//! Config documents: stored exactly, published when they change.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Client, Events, on_both};

async fn publish(client: &Client, group: &str, namespace: &str, doc: Value) -> Value {
    let body = json!({"group": group, "namespace": namespace, "doc": doc});
    client.post("/api/plugin/config/publish", body).await.expect(200).clone()
}

async fn register(client: &Client, group: &str, namespace: &str, doc: Value) -> Value {
    let body = json!({"group": group, "namespace": namespace, "defaultDoc": doc});
    client.post("/api/plugin/config/register", body).await.expect(200).clone()
}

async fn expect_update(events: &mut Events, group: &str, namespace: &str) {
    let event = events.next_named("CONFIG_UPDATED").await;
    assert_eq!((&event.data["group"], &event.data["namespace"]), (&json!(group), &json!(namespace)));
    assert_eq!(event.data["type"], "CONFIG_UPDATED");
}

on_both! {
    async fn a_document_is_registered_once_and_published_over(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(Some("lobby-1"), None).await;
        client.get("/api/plugin/config/lobby/board").await.expect_error(404, "unknown_config");
        let first = json!({"group": "lobby", "namespace": "board", "doc": {"lines": 3}});
        assert_eq!(register(&client, "lobby", "board", json!({"lines": 3})).await, first);
        expect_update(&mut events, "lobby", "board").await;
        assert_eq!(register(&client, "lobby", "board", json!({"lines": 9})).await, first);
        assert_eq!(client.get("/api/plugin/config/lobby/board").await.expect(200), &first);
        // The same again publishes nothing: the next event is another document's.
        assert_eq!(publish(&client, "lobby", "board", json!({"lines": 3})).await, first);
        let second = json!({"group": "lobby", "namespace": "board", "doc": [1, null]});
        assert_eq!(publish(&client, "other", "a b/c", json!(null)).await["doc"], json!(null));
        expect_update(&mut events, "other", "a b/c").await;
        assert_eq!(publish(&client, "lobby", "board", json!([1, null])).await, second);
        expect_update(&mut events, "lobby", "board").await;
        assert_eq!(client.get("/api/plugin/config/lobby/board").await.expect(200), &second);
        assert_eq!(client.get("/api/plugin/config/other/a%20b%2Fc").await.expect(200)["doc"], json!(null));
        assert_eq!(register(&client, "lobby", "board", json!(0)).await, second);
    }

    async fn numbers_order_and_text_are_stored_exactly(hub: Hub) {
        let client = hub.network().await;
        let body = r#"{"group": "g", "namespace": "n",
            "doc": {"b": 1.10, "a": 12345678901234567890123, "c": [ 1e400, "\u00e9 \" x " ] } }"#;
        let sent = client.send(client.request(Method::POST, "/api/plugin/config/publish").body(body)).await;
        assert_eq!(sent.status, 200);
        let read = client.request(Method::GET, "/api/plugin/config/g/n").send().await.unwrap().text().await.unwrap();
        let doc = r#"{"b":1.10,"a":12345678901234567890123,"c":[1e400,"\u00e9 \" x "]}"#;
        assert_eq!(read, format!(r#"{{"group":"g","namespace":"n","doc":{doc}}}"#));
    }

    async fn invalid_documents_are_refused(hub: Hub) {
        let client = hub.network().await;
        for (route, field) in [("publish", "doc"), ("register", "defaultDoc")] {
            let path = format!("/api/plugin/config/{route}");
            for (body, hint) in [
                (json!({"group": "g", "namespace": "n"}), field),
                (json!({"group": " ", "namespace": "n", field: 1}), "`group`"),
                (json!({"group": "g", "namespace": null, field: 1}), "`namespace`"),
                (json!({"group": 5, "namespace": "n", field: 1}), "`group`"),
                (json!(["g", "n", 1]), "invalid type"),
            ] {
                let answer = client.post(&path, body.clone()).await;
                answer.expect_error(400, "invalid_request");
                assert!(answer.body["error"].as_str().unwrap().contains(hint), "{body}: {}", answer.body);
            }
            let deep = "[".repeat(101) + &"]".repeat(101);
            let body = format!(r#"{{"group": "g", "namespace": "n", "{field}": {deep}}}"#);
            client.send(client.request(Method::POST, &path).body(body)).await.expect_error(400, "invalid_request");
            let large = |bytes: usize| json!({"group": "g", "namespace": "n", field: "x".repeat(bytes - 2)});
            client.post(&path, large(256 * 1024 + 1)).await.expect_error(413, "body_too_large");
            client.post(&path, large(256 * 1024)).await.expect(200);
        }
        client.get("/api/plugin/config/%20/n").await.expect_error(400, "invalid_request");
    }

    async fn another_network_has_its_own_documents(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        publish(&theirs, "lobby", "board", json!("theirs")).await;
        ours.get("/api/plugin/config/lobby/board").await.expect_error(404, "unknown_config");
        assert_eq!(register(&ours, "lobby", "board", json!("ours")).await["doc"], "ours");
        assert_eq!(theirs.get("/api/plugin/config/lobby/board").await.expect(200)["doc"], "theirs");
    }

    async fn concurrent_registrations_get_one_document(hub: Hub) {
        let client = hub.network().await;
        let calls: Vec<_> = (0..20)
            .map(|at| {
                let client = client.clone();
                tokio::spawn(async move { register(&client, "g", "n", json!(at)).await["doc"].clone() })
            })
            .collect();
        let mut answers = vec![];
        for call in calls {
            answers.push(call.await.unwrap());
        }
        let stored = client.get("/api/plugin/config/g/n").await.expect(200)["doc"].clone();
        assert!(answers.iter().all(|answer| *answer == stored), "{answers:?} {stored}");
    }
}
