//! The starter modules, from upload to their effect.

use std::path::Path;

use serde_json::{Value, json};

use super::{chain, point, upload};
use crate::servers::{join, register, uuid};
use crate::support::{Client, on_both};

const DAY: u64 = 24 * 60 * 60 * 1000;

/// Uploads a starter module and makes it the chain of its point.
pub async fn install(owner: &Client, name: &str, at: &str, config: Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../plugins/{name}/{name}.wasm"));
    let module = upload(owner, name, std::fs::read(file).unwrap()).await;
    assert_eq!(module.body["points"], json!([at]), "{}", module.body);
    let link = json!({"name": name, "version": module.body["version"], "config": config, "onFailure": "REFUSE"});
    chain(owner, at, json!([link])).await.expect(200);
}

async fn matched(client: &Client, body: Value) -> Value {
    client.post("/api/plugin/matchmaking/find", body).await.expect(200).clone()
}

/// Server to which a player is sent.
async fn server_for(client: &Client, player: u64, more: Value) -> Value {
    let mut body = json!({
        "playerUuid": uuid(player), "playerName": "p", "serverType": "lobby", "region": "EUROPE",
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    matched(client, body).await["matchedServer"]["serverId"].clone()
}

/// Gives a player a permission node.
async fn grant(client: &Client, player: u64, node: &str) {
    let path = format!("/api/plugin/permissions/users/{}/permissions", uuid(player));
    client.post(&path, json!({"node": node})).await.expect(204);
}

async fn chat(client: &Client, message: &str) -> crate::support::Answer {
    let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": message, "serverId": "lobby-1"});
    client.post("/api/plugin/chat", line).await
}

on_both! {
    async fn region_first_sends_a_player_to_a_neighbouring_region(hub: Hub) {
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

    async fn fill_waiting_starts_the_match_that_needs_one(hub: Hub) {
        let owner = hub.network().await;
        let game = |region: &str, to_start: u32| json!({
            "region": region, "gameState": "WAITING", "playersToStart": to_start,
        });
        register(&owner, "near", game("EUROPE", 3)).await;
        register(&owner, "far", game("ASIA", 1)).await;
        assert_eq!(server_for(&owner, 1, json!({})).await, "near");
        install(&owner, "fill-waiting", "matchmaking", json!({})).await;
        assert_eq!(server_for(&owner, 2, json!({})).await, "far");
        install(&owner, "fill-waiting", "matchmaking", json!({"ownRegionFirst": true})).await;
        assert_eq!(server_for(&owner, 3, json!({})).await, "near");
    }

    async fn skill_balance_sends_players_to_their_equals(hub: Hub) {
        let owner = hub.network().await;
        for (server, player, elo) in [("a", 10, 2000), ("b", 11, 1000)] {
            register(&owner, server, json!({"region": "EUROPE"})).await;
            join(&owner, server, player).await;
            let path = format!("/api/plugin/players/{}/statistics/increment", uuid(player));
            owner.post(&path, json!({"name": "elo", "gameMode": "duels", "amount": elo})).await.expect(200);
        }
        assert_eq!(server_for(&owner, 1, json!({})).await, "a");
        let elo = json!({"statistic": "elo", "gameMode": "duels", "unranked": 1100});
        install(&owner, "skill-balance", "matchmaking", elo).await;
        assert_eq!(server_for(&owner, 2, json!({})).await, "b");
        assert_eq!(point(&owner, "matchmaking").await["modules"][0]["failures"], 0);
    }

    async fn party_together_keeps_a_party_on_one_server(hub: Hub) {
        let owner = hub.network().await;
        for (server, slots) in [("a", 2), ("b", 10), ("c", 10)] {
            register(&owner, server, json!({"region": "EUROPE", "maxPlayers": slots})).await;
        }
        let party = json!({"affinityGameId": "party", "affinityOwnerScope": "PARTY", "affinityOwnerId": "7"});
        install(&owner, "party-together", "matchmaking", json!({})).await;
        assert_eq!(server_for(&owner, 1, party.clone()).await, "b");
        // By itself the hub would now take an emptier one.
        assert_eq!(server_for(&owner, 2, json!({})).await, "a");
        assert_eq!(server_for(&owner, 3, party.clone()).await, "b");
        assert_eq!(server_for(&owner, 4, party).await, "b");
        assert_eq!(point(&owner, "matchmaking").await["modules"][0]["failures"], 0);
    }

    async fn slow_mode_lets_one_line_through_and_reports_the_wait(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, "slow-mode", "chat", json!({"everyMs": 5000, "bypassPermission": "chat.fast"})).await;
        chat(&owner, "one").await.expect(204);
        hub.advance_ms(1_500);
        let early = chat(&owner, "two").await;
        early.expect_error(400, "chat_rejected");
        assert_eq!(early.body["error"], "Slow mode: you can write again in 4 s.");
        hub.advance_ms(3_500);
        chat(&owner, "three").await.expect(204);
        chat(&owner, "four").await.expect_error(400, "chat_rejected");
        grant(&owner, 1, "chat.fast").await;
        chat(&owner, "five").await.expect(204);
        assert_eq!(point(&owner, "chat").await["modules"][0]["failures"], 0);
    }

    async fn link_filter_refuses_and_masks(hub: Hub) {
        let owner = hub.network().await;
        let mut events = owner.events(None, None).await;
        install(&owner, "link-filter", "chat", json!({"allow": ["example.net"], "bypassPermission": "links"})).await;
        let refused = chat(&owner, "come to example [dot] com").await;
        refused.expect_error(400, "chat_rejected");
        assert_eq!(refused.body["error"], "Links are not allowed here.");
        chat(&owner, "shop.example.net runs 1.20.4").await.expect(204);
        assert_eq!(events.next_named("CHAT").await.data["message"], "shop.example.net runs 1.20.4");
        install(&owner, "link-filter", "chat", json!({"action": "MASK", "bypassPermission": "links"})).await;
        chat(&owner, "at exa§lmple.com!").await.expect(204);
        assert_eq!(events.next_named("CHAT").await.data["message"], "at *************!");
        grant(&owner, 1, "links").await;
        chat(&owner, "at example.com!").await.expect(204);
        assert_eq!(events.next_named("CHAT").await.data["message"], "at example.com!");
    }

    async fn caps_and_repeat_lowers_and_refuses(hub: Hub) {
        let owner = hub.network().await;
        let mut events = owner.events(None, None).await;
        install(&owner, "caps-and-repeat", "chat", json!({})).await;
        chat(&owner, "BUY MY THINGS").await.expect(204);
        assert_eq!(events.next_named("CHAT").await.data["message"], "buy my things");
        chat(&owner, "buy... my thiiings!").await.expect_error(400, "chat_rejected");
        hub.advance_ms(30_000);
        chat(&owner, "buy my things").await.expect(204);
        assert_eq!(point(&owner, "chat").await["modules"][0]["failures"], 0);
    }

    async fn appeal_shield_protects_staff_from_all_but_higher_staff(hub: Hub) {
        let owner = hub.network().await;
        grant(&owner, 1, "staff.helper").await;
        grant(&owner, 2, "staff.admin").await;
        let shield = json!({"ranks": ["staff.admin", "staff.helper"]});
        install(&owner, "appeal-shield", "punishment", shield).await;
        let ban = async |player: u64, issuer: Value| {
            let mut body = json!({"playerUuid": uuid(player), "playerName": "p", "type": "BAN", "reason": "cheating"});
            body.as_object_mut().unwrap().extend(issuer.as_object().unwrap().clone());
            owner.post("/api/plugin/punishments/create", body).await
        };
        let refused = ban(1, json!({"issuerName": "AntiCheat"})).await;
        refused.expect_error(400, "punishment_rejected");
        assert_eq!(refused.body["error"], "This player is staff; only higher staff may do that.");
        ban(1, json!({"issuerUuid": uuid(1), "issuerName": "p1"})).await.expect_error(400, "punishment_rejected");
        ban(2, json!({"issuerUuid": uuid(1), "issuerName": "p1"})).await.expect_error(400, "punishment_rejected");
        assert_eq!(ban(3, json!({"issuerName": "AntiCheat"})).await.expect(200)["type"], "BAN");
        assert_eq!(ban(1, json!({"issuerUuid": uuid(2), "issuerName": "p2"})).await.expect(200)["type"], "BAN");
        assert_eq!(point(&owner, "punishment").await["modules"][0]["failures"], 0);
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
        hub.advance_ms(5_000);
        chat(&owner, "patient").await.expect(204);
        chat(&owner, "at").await.expect(204);
        chat(&owner, "first").await.expect_error(400, "chat_rejected");
        // Repeated floods mute the player, and the mute is recorded.
        let muted = events.next_named("PUNISHMENT").await.data["punishment"].clone();
        assert_eq!((&muted["type"], &muted["durationMs"]), (&json!("MUTE"), &json!(60_000)));
        assert_eq!(muted["playerUuid"], uuid(1));
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

    async fn double_coins_doubles_what_players_earn(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, "double-coins", "economy", json!({"reasons": ["quest"]})).await;
        let modify = async |amount: f64, reason: &str| {
            let path = format!("/api/plugin/economy/player/{}/currencies/modify", uuid(1));
            let body = json!({"currency": "coins", "amount": amount, "reason": reason});
            owner.post(&path, body).await.expect(200)["balance"].clone()
        };
        assert_eq!(modify(2.5, "quest").await, 5);
        assert_eq!(modify(2.5, "vote").await, 7.5);
        assert_eq!(modify(-1.5, "quest").await, 6);
        assert_eq!(point(&owner, "economy").await["modules"][0]["failures"], 0);
    }

    async fn vip_queue_puts_ranks_first(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        install(&owner, "vip-queue", "queue", json!({})).await;
        grant(&owner, 2, "queue.vip").await;
        for player in 1..=2 {
            join(&owner, "lobby-1", player).await;
            let body = json!({"playerUuid": uuid(player), "serverType": "arena"});
            owner.post("/api/plugin/matchmaking/tickets", body).await.expect(200);
        }
        let line = owner.get("/api/manage/matchmaking/lines/type:arena/tickets").await.expect(200).clone();
        let priorities = [&line["items"][0]["priority"], &line["items"][1]["priority"]];
        assert_eq!((&line["items"][0]["playerUuid"], priorities), (&json!(uuid(2)), [&json!(300), &json!(0)]));
        assert_eq!(point(&owner, "queue").await["modules"][0]["failures"], 0);
    }
}
