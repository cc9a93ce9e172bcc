//! The routes and commands of webhooks.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::process::Command;

use super::receiver::Reply;
use super::{WEBHOOKS, add, deliveries, expect_idle, expect_requests, get, publish, receiver};
use crate::support::{Client, Hub, on_each};

on_each! { webhooks_are_one_networks_own(crate::webhooks::start) invalid_webhooks_are_refused(crate::webhooks::start) the_commands_match_the_routes(crate::webhooks::start) }

async fn webhooks_are_one_networks_own(hub: Hub) {
    let (owner, other, receiver) = (hub.network().await, hub.network().await, receiver().await);
    let (id, secret) = add(&owner, &receiver.url(), &["CONFIG_UPDATED"]).await;
    publish(&owner, "a").await;
    expect_requests(&receiver, 1).await;
    expect_idle(&owner, &id).await;
    let path = format!("{WEBHOOKS}/{id}");
    other.get(&path).await.expect_error(404, "unknown_webhook");
    other.patch(&path, json!({"enabled": false})).await.expect_error(404, "unknown_webhook");
    other.delete(&path).await.expect_error(404, "unknown_webhook");
    for route in ["rotate-secret", "test", "deliveries/1/resend", "deliveries/1/preview"] {
        other.post(&format!("{path}/{route}"), json!({})).await.expect_error(404, "unknown_webhook");
    }
    other.get(&format!("{path}/deliveries")).await.expect_error(404, "unknown_webhook");
    other.get(&format!("{path}/deliveries/1")).await.expect_error(404, "unknown_webhook");
    assert_eq!(other.get(WEBHOOKS).await.expect(200)["total"], 0);
    owner
        .key_with(&["plugin", "modules:write", "servers:control"])
        .await
        .get(WEBHOOKS)
        .await
        .expect_error(403, "forbidden_scope");
    let list = owner.get(WEBHOOKS).await.expect(200).clone();
    assert_eq!((&list["total"], &list["items"][0]["webhookId"]), (&json!(1), &json!(id)));
    // The secret is only in the answer to its creation.
    for text in [list, owner.get("/api/manage/audit").await.body, get(&owner, &id).await] {
        assert!(!text.to_string().contains(&secret[10..]), "{text}");
    }
    let one = owner.get(&format!("{path}/deliveries/1")).await.expect(200).clone();
    assert_eq!((&one["data"]["namespace"], &one["state"]), (&json!("a"), &json!("DELIVERED")));
    let preview = owner.post(&format!("{path}/deliveries/1/preview"), json!({})).await.expect(200)["body"].clone();
    assert_eq!((&preview["type"], &preview["data"]["namespace"]), (&json!("CONFIG_UPDATED"), &json!("a")));
    let templates = json!({"templates": {"CONFIG_UPDATED": {"content": "x"}}});
    owner.post(&format!("{path}/deliveries/1/preview"), templates).await.expect_error(400, "invalid_request");
    owner.post(&format!("{path}/deliveries/9/preview"), json!({})).await.expect_error(404, "unknown_delivery");
    assert_eq!(deliveries(&owner, &id).await.len(), 1, "nothing is sent");
    // A creation that is repeated under its key makes one webhook.
    let body = json!({"url": receiver.url(), "events": ["CHAT"], "name": "twice"});
    let create = || owner.request(Method::POST, WEBHOOKS).header("Idempotency-Key", "hook").json(&body);
    let (first, second) = (owner.send(create()).await.expect(201).clone(), owner.send(create()).await);
    assert_eq!(second.expect(201), &first);
    assert_eq!(owner.get(WEBHOOKS).await.expect(200)["total"], 2);
}

async fn invalid_webhooks_are_refused(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    let url = receiver.url();
    for (field, value) in [
        ("events", json!([])),
        ("events", json!(["NONSENSE"])),
        ("events", json!(["TRANSFER"])),
        ("events", json!(["SIGNING_SECRET_ROTATED"])),
        ("events", json!(["SESSION_REQUESTED"])),
        ("events", json!(["TICKET_UPDATED"])),
        ("events", json!("CHAT")),
        ("kind", json!("SLACK")),
        ("name", json!(" ")),
    ] {
        let mut body = json!({"url": url, "events": ["CHAT"]});
        body[field] = value;
        owner.post(WEBHOOKS, body).await.expect_error(400, "invalid_request");
    }
    let newer = ["SESSION_ENDED", "DELIVERY_READY", "DELIVERY_SETTLED", "TICKET_MATCHED", "REPORT_CREATED"];
    let newer = [&newer[..], &["APPEAL_CREATED", "CHAT_VERDICT"]].concat();
    let (id, _) = add(&owner, &url, &newer).await;
    assert_eq!(get(&owner, &id).await["events"].as_array().unwrap().len(), newer.len());
    let (id, _) = add(&owner, &url, &["CHAT", "CHAT"]).await;
    assert_eq!(get(&owner, &id).await["events"], json!(["CHAT"]));
    let path = format!("{WEBHOOKS}/{id}");
    owner.patch(&path, json!({"events": []})).await.expect_error(400, "invalid_request");
    owner.patch(&path, json!({"url": "https://10.0.0.1"})).await.expect_error(400, "invalid_request");
    owner.post(&format!("{path}/rotate-secret"), json!({"overlapMs": -1})).await.expect_error(400, "invalid_request");
    owner.get(&format!("{path}/deliveries?state=LOST")).await.expect_error(400, "invalid_request");
    owner.get(&format!("{path}/deliveries/7")).await.expect_error(404, "unknown_delivery");
    owner.post(&format!("{path}/deliveries/7/resend"), json!({})).await.expect_error(404, "unknown_delivery");
    receiver.always(Reply::Status(500));
    owner.post(&format!("{path}/test"), json!({})).await.expect(201);
    Hub::eventually("it fails", async || get(&owner, &id).await["failures"] == 1).await;
    owner.post(&format!("{path}/deliveries/1/resend"), json!({})).await.expect_error(409, "delivery_waiting");
    assert_eq!(owner.get(&format!("{path}/deliveries?state=WAITING")).await.expect(200)["total"], 1);
    assert_eq!(owner.get(&format!("{path}/deliveries?state=FAILED")).await.expect(200)["total"], 0);
}

/// Runs `hub webhook …` with the owner's key; returns its success and output.
async fn command(hub: &Hub, owner: &Client, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
    command.arg("webhook").args(arguments).env("HUB_URL", hub.url()).env("HUB_KEY", owner.key.as_deref().unwrap());
    let output = command.output().await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.success(), text(&output.stdout) + &text(&output.stderr))
}

async fn the_commands_match_the_routes(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    let run = async |arguments: &[&str]| {
        let (succeeded, text) = command(&hub, &owner, arguments).await;
        assert!(succeeded, "{arguments:?}: {text}");
        text
    };
    let url = receiver.url();
    let made = run(&["add", &url, "--events", "CONFIG_UPDATED,CHAT", "--name", "feed", "--json"]).await;
    let made: Value = serde_json::from_str(&made).unwrap();
    let id = made["webhookId"].as_str().unwrap();
    assert!(made["secret"].as_str().unwrap().starts_with("whsec_"));
    assert!(run(&["list"]).await.contains("feed"));
    assert!(run(&["test", id]).await.contains("delivered"));
    assert_eq!(receiver.received()[0].body["type"], "TEST");
    assert!(run(&["deliveries", id, "--state", "delivered"]).await.contains("TEST"));
    run(&["resend", id, "1"]).await;
    expect_requests(&receiver, 2).await;
    assert!(run(&["rotate", id, "--overlap", "0"]).await.contains("whsec_"));
    let shown = run(&["set", id, "--disable", "--events", "CHAT"]).await;
    assert!(shown.contains("disabled (requested)") && !shown.contains("CONFIG_UPDATED"), "{shown}");
    assert!(run(&["set", id, "--enable"]).await.contains("enabled"));
    receiver.always(Reply::Status(418));
    let (succeeded, text) = command(&hub, &owner, &["test", id]).await;
    assert!(!succeeded && text.contains("418"), "{text}");
    assert_eq!(deliveries(&owner, id).await.len(), 3);
    assert!(run(&["show", id]).await.contains("failing"));
    run(&["delete", id]).await;
    let (succeeded, text) = command(&hub, &owner, &["show", id]).await;
    assert!(!succeeded && text.contains("no such webhook"), "{text}");
}
