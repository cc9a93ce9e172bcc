//! Effects that leave the hub: commands, transfers and calls of webhooks.

use serde_json::json;

use super::handler::{grants, handler_calling, manifest};
use super::{TYPES, handler_of, settle, vote};
use crate::modules::{chain, upload};
use crate::servers::{beat, join, register, uuid};
use crate::support::{Client, Hub, on_both};

async fn activate(owner: &Client, webhook: &str) {
    upload(owner, "counter", handler_calling(1, &manifest("PLAYER", &TYPES), webhook)).await.expect(201);
    let link = json!({"name": "counter", "version": 1, "grants": grants()});
    chain(owner, "events", json!([link])).await.expect(200);
}

async fn reasons(owner: &Client) -> Vec<String> {
    let letters = owner.get("/api/manage/modules/counter/dead-letters").await.expect(200)["items"].clone();
    let mut reasons: Vec<_> =
        letters.as_array().unwrap().iter().map(|letter| letter["reason"].as_str().unwrap().to_owned()).collect();
    reasons.sort();
    reasons
}

on_both! {
    async fn commands_transfers_and_webhooks_are_told_once(hub: Hub) {
        let owner = hub.network().await;
        for server in ["lobby-1", "lobby-2"] {
            register(&owner, server, json!({})).await;
        }
        join(&owner, "lobby-1", 1).await;
        let mut events = owner.events(Some("lobby-1"), None).await;
        let body = json!({"url": "https://hook.invalid/x", "events": ["PUNISHMENT"]});
        let webhook = owner.post("/api/manage/webhooks", body).await.expect(201)["webhookId"].clone();
        let webhook = webhook.as_str().unwrap();
        activate(&owner, webhook).await;
        vote(&owner, "N1").await;
        let command = events.next_named("EXECUTE_COMMAND").await.data;
        assert_eq!(command["command"], "say hello");
        vote(&owner, "S1").await;
        let transfer = events.next_named("TRANSFER").await.data;
        assert_eq!((&transfer["playerUuid"], &transfer["targetServerId"]), (&json!(uuid(1)), &json!("lobby-2")));
        vote(&owner, "W1").await;
        settle(&hub, &owner).await;
        let path = format!("/api/manage/webhooks/{webhook}/deliveries");
        let called = owner.get(&path).await.expect(200)["items"].clone();
        assert_eq!((called.as_array().unwrap().len(), &called[0]["event"]), (1, &json!("MODULE_EVENT")), "{called}");
        let audit = owner.get("/api/manage/audit?action=server.commanded").await.expect(200).clone();
        assert_eq!((&audit["total"], &audit["items"][0]["actor"]["type"]), (&json!(1), &json!("MODULE")), "{audit}");
        assert_eq!((&handler_of(&owner).await["delivered"], reasons(&owner).await.len()), (&json!(3), 0));
    }

    async fn a_server_that_is_away_and_an_unknown_webhook_refuse_the_effect(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        activate(&owner, "none").await;
        for key in ["N1", "S1", "W1"] {
            vote(&owner, key).await;
        }
        Hub::eventually("they are dead letters", async || {
            hub.advance_ms(500);
            beat(&owner, "lobby-1", json!({})).await;
            reasons(&owner).await.len() == 3
        })
        .await;
        assert_eq!(reasons(&owner).await, ["not_connected", "transfer_failed", "unknown_webhook"]);
        // The first word of a command is granted, not the right to run any.
        let mut refused = grants();
        refused["commands"] = json!(["say", "list"]);
        let link = json!({"name": "counter", "version": 1, "grants": refused});
        chain(&owner, "events", json!([link])).await.expect(200);
        let link = json!({"name": "counter", "version": 1, "grants": {"scopes": grants()["scopes"], "commands": ["list"]}});
        let needed = chain(&owner, "events", json!([link])).await.expect(400)["needed"]["commands"].clone();
        assert_eq!(needed, json!(["say"]));
    }
}
