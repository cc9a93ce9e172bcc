//! The starter modules at work, from upload to what players notice.

use std::path::Path;

use serde_json::{Value, json};

use super::{chain, point, upload};
use crate::servers::{register, uuid};
use crate::support::{Client, on_both};

/// Uploads a starter module and makes it the one of its point.
async fn install(owner: &Client, name: &str, at: &str, config: Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../plugins/{name}/{name}.wasm"));
    let module = upload(owner, name, std::fs::read(file).unwrap()).await;
    assert_eq!(module.body["points"], json!([at]), "{}", module.body);
    let link = json!({"name": name, "version": module.body["version"], "config": config, "onFailure": "REFUSE"});
    chain(owner, at, json!([link])).await.expect(200);
}

async fn matched(client: &Client, body: Value) -> Value {
    client.post("/api/plugin/matchmaking/find", body).await.expect(200).clone()
}

async fn chat(client: &Client, message: &str) -> crate::support::Answer {
    let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": message, "serverId": "lobby-1"});
    client.post("/api/plugin/chat", line).await
}

on_both! {
    async fn region_first_sends_a_player_to_the_neighbours(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "asia", json!({"region": "ASIA"})).await;
        register(&owner, "europe", json!({"region": "EUROPE"})).await;
        let africa = |player: u64| json!({
            "playerUuid": uuid(player), "playerName": "p", "serverType": "lobby", "region": "AFRICA",
        });
        // Neither is the player's region: the built-in order ends at the id.
        assert_eq!(matched(&owner, africa(1)).await["matchedServer"]["serverId"], "asia");
        install(&owner, "region-first", "matchmaking", json!({"neighbours": {"AFRICA": ["EUROPE"]}})).await;
        assert_eq!(matched(&owner, africa(2)).await["matchedServer"]["serverId"], "europe");
        let only = json!({"neighbours": {"AFRICA": ["OCEANIA"]}, "neighboursOnly": true});
        install(&owner, "region-first", "matchmaking", only).await;
        let nobody = matched(&owner, africa(3)).await;
        assert_eq!((&nobody["success"], &nobody["result"]), (&json!(false), &json!("POLICY_REJECTED")));
        assert!(nobody["errorMessage"].as_str().unwrap().contains("region"), "{nobody}");
        chain(&owner, "matchmaking", json!([])).await.expect(200);
        assert_eq!(matched(&owner, africa(4)).await["matchedServer"]["serverId"], "asia");
        assert_eq!(point(&owner, "matchmaking").await["modules"], json!([]));
    }

    async fn chat_guard_masks_refuses_and_stops_floods(hub: Hub) {
        let owner = hub.network().await;
        let mut events = owner.events(None, None).await;
        let flood = json!({"messages": 2, "perMs": 5000, "mute": {"afterFloods": 2, "durationMs": 60_000}});
        install(&owner, "chat-guard", "chat", json!({"words": ["heck"], "flood": flood})).await;
        chat(&owner, "what the HECK").await.expect(204);
        assert_eq!(events.next_named("CHAT").await.data["message"], "what the ****");
        chat(&owner, "hello").await.expect(204);
        assert_eq!(events.next_named("CHAT").await.data["message"], "hello");
        chat(&owner, "too").await.expect_error(400, "chat_rejected");
        chat(&owner, "much").await.expect_error(400, "chat_rejected");
        // Who keeps flooding is muted, and the mute is on the record.
        let muted = events.next_named("PUNISHMENT").await.data["punishment"].clone();
        assert_eq!((&muted["type"], &muted["durationMs"]), (&json!("MUTE"), &json!(60_000)));
        assert_eq!(muted["playerUuid"], uuid(1));
        hub.advance_ms(5_000);
        chat(&owner, "patient").await.expect(204);
        assert_eq!(point(&owner, "chat").await["modules"][0]["failures"], 0);

        install(&owner, "chat-guard", "chat", json!({"words": ["heck"], "action": "REFUSE"})).await;
        chat(&owner, "heck").await.expect_error(400, "chat_rejected");
    }

    async fn escalation_makes_the_third_mute_a_ban(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, "escalation", "punishment", json!({})).await;
        let mute = async |player: u64| {
            let body = json!({
                "playerUuid": uuid(player), "playerName": "p", "type": "MUTE", "reason": "spam", "durationMs": 1000,
            });
            owner.post("/api/plugin/punishments/create", body).await.expect(200)["type"].clone()
        };
        const DAY: u64 = 24 * 60 * 60 * 1000;
        assert_eq!(mute(1).await, "MUTE");
        hub.advance_ms(20 * DAY);
        assert_eq!(mute(1).await, "MUTE");
        // Another player's record is their own.
        assert_eq!(mute(2).await, "MUTE");
        // The first is no longer within 30 days.
        hub.advance_ms(11 * DAY);
        assert_eq!(mute(1).await, "MUTE");
        assert_eq!(mute(1).await, "BAN");
        assert_eq!(point(&owner, "punishment").await["modules"][0]["failures"], 0);
    }
}
