//! Messages in Discord.

use serde_json::{Value, json};

use super::receiver::Reply;
use super::{WEBHOOKS, deliveries, expect_idle, expect_requests, get, publish, receiver};
use crate::servers::uuid;
use crate::support::{Client, Hub, on_each};

on_each! { messages_follow_templates_and_ping_no_one(crate::webhooks::start) discords_own_answers_are_understood(crate::webhooks::start) }

async fn add(owner: &Client, url: &str, events: &[&str], templates: Value) -> String {
    let body = json!({"kind": "DISCORD", "url": url, "events": events, "templates": templates});
    let made = owner.post(WEBHOOKS, body).await.expect(201).clone();
    made["webhookId"].as_str().unwrap().to_owned()
}

async fn messages_follow_templates_and_ping_no_one(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    let url = format!("http://{}/api/webhooks/123/secret-token?thread_id=7", receiver.address());
    let embed =
        json!({"title": "{group}/{namespace}", "color": 255, "fields": [{"name": "When", "value": "{at:time}"}]});
    let templates = json!({"CONFIG_UPDATED": {"content": "", "embeds": [embed]}});
    let id = add(&owner, &url, &["CHAT", "CONFIG_UPDATED"], templates).await;
    publish(&owner, "board").await;
    expect_requests(&receiver, 1).await;
    let line = json!({"playerUuid": uuid(1), "playerName": "_p_", "message": "@everyone **hi** <@1>", "serverId": "s"});
    owner.post("/api/plugin/chat", line).await.expect(204);
    expect_requests(&receiver, 2).await;
    let received = receiver.received();
    assert_eq!(received[0].uri, "/api/webhooks/123/secret-token?thread_id=7&wait=true");
    assert_eq!(
        received[0].body,
        json!({"allowed_mentions": {"parse": []}, "embeds": [{"title": "g/board", "color": 255,
            "fields": [{"name": "When", "value": "<t:1804680000:f>", "inline": false}]}]})
    );
    assert_eq!(
        received[1].body,
        json!({"allowed_mentions": {"parse": []}, "content": "**\\_p\\_** (s): \\@everyone \\*\\*hi\\*\\* \\<\\@1\\>"})
    );
    assert!(received[1].headers.get("webhook-signature").is_none());
    // Its token is a secret.
    let shown = get(&owner, &id).await;
    assert_eq!(shown["url"], format!("http://{}/api/webhooks/123/***", receiver.address()));
    let audit = owner.get("/api/manage/audit").await.expect(200).to_string();
    assert!(audit.contains("webhook.created") && !audit.contains("secret-token"), "{audit}");
    let wrong = [
        json!({"CHAT": {"content": "{"}}),
        json!({"CHAT": {}}),
        json!({"TRANSFER": {"content": "x"}}),
        json!({"CHAT": {"content": "x".repeat(40_000)}}),
    ];
    for templates in wrong {
        let body = json!({"kind": "DISCORD", "url": url, "events": ["CHAT"], "templates": templates});
        owner.post(WEBHOOKS, body).await.expect_error(400, "invalid_request");
    }
    let body = json!({"url": url, "events": ["CHAT"], "templates": {"CHAT": {"content": "x"}}});
    owner.post(WEBHOOKS, body).await.expect_error(400, "invalid_request");
}

async fn discords_own_answers_are_understood(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    let id = add(&owner, &receiver.url(), &["CONFIG_UPDATED"], json!({})).await;
    receiver.will([
        Reply::With(429, "retry-after", "40.5".to_owned()),
        Reply::Status(200),
        Reply::Status(400),
        Reply::Status(200),
    ]);
    for namespace in ["a", "b", "c"] {
        publish(&owner, namespace).await;
    }
    Hub::eventually("it is asked to wait", async || get(&owner, &id).await["failures"] == 1).await;
    let next = get(&owner, &id).await["nextAttemptAt"].as_i64().unwrap();
    assert_eq!(next - hub.app.clock.now(), 40_500);
    hub.advance_ms(40_499);
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    assert_eq!(receiver.count(), 1, "not before it was asked to");
    hub.advance_ms(1_001);
    expect_idle(&owner, &id).await;
    expect_requests(&receiver, 4).await;
    // A refused message is not sent again, and delays no other.
    let states: Vec<_> =
        deliveries(&owner, &id).await.iter().map(|it| it["state"].as_str().unwrap().to_owned()).collect();
    assert_eq!(states, ["DELIVERED", "FAILED", "DELIVERED"]);
    let error = deliveries(&owner, &id).await[1]["error"].as_str().unwrap().to_owned();
    assert!(error.starts_with("400"), "{error}");
    // A webhook whose messages are all refused is disabled in the end.
    let (delivered_at, refused_at) = (get(&owner, &id).await["lastSuccessAt"].clone(), hub.app.clock.now() + 1_000);
    hub.advance_ms(1_000);
    receiver.always(Reply::Status(400));
    publish(&owner, "refused").await;
    Hub::eventually("it is refused", async || get(&owner, &id).await["failingSince"] == refused_at).await;
    let webhook = get(&owner, &id).await;
    assert_eq!((&webhook["lastSuccessAt"], &webhook["enabled"]), (&delivered_at, &json!(true)));
    hub.advance_ms(5 * 24 * 3_600_000);
    publish(&owner, "refused still").await;
    Hub::eventually("it is disabled", async || get(&owner, &id).await["disabledReason"] == "FAILING").await;
    owner.patch(&format!("{WEBHOOKS}/{id}"), json!({"enabled": true})).await.expect(200);
    receiver.always(Reply::Status(404));
    publish(&owner, "d").await;
    Hub::eventually("it is disabled", async || get(&owner, &id).await["disabledReason"] == "GONE").await;
}
