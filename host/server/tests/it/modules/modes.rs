//! Canaries and shadows.

use hub::modules::service;
use hub_sandbox::FilterChat;
use hub_sandbox::contract::PlayerRef;
use hub_sandbox::contract::chat::{Decision, Line, Verdict};
use serde_json::{Value, json};

use super::{chain, point, refused, say, upload, wasm};
use crate::support::{Client, Hub, on_both};

/// A line of the player of this number.
async fn say_as(hub: &Hub, owner: &Client, player: u32, message: &str) -> Verdict {
    let line = Line {
        player: PlayerRef { uuid: format!("00000000-0000-4000-8000-{player:012}"), name: format!("p{player}") },
        message: message.into(),
        server_id: "lobby-1".into(),
        server_type: "lobby".into(),
        world: None,
        rank: None,
    };
    service::call::<FilterChat>(&hub.app, owner.network.unwrap(), line).await
}

/// The counts of the last module of the chat's chain, once they add up to this many calls.
async fn shadow(owner: &Client, calls: u64) -> Value {
    loop {
        let shown = point(owner, "chat").await;
        let shadow = shown["modules"].as_array().unwrap().last().unwrap()["shadow"].clone();
        let count = |field: &str| shadow[field].as_u64().unwrap();
        if ["same", "different", "failed", "skipped"].map(count).iter().sum::<u64>() >= calls {
            return shadow;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

on_both! {
    async fn a_canary_serves_its_share_of_the_players(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "guard", wasm::moody(1)).await.expect(201);
        upload(&owner, "guard", wasm::rude()).await.expect(201);
        let with = |percent: u32| json!([
            {"name": "guard", "version": 1},
            {"name": "guard", "version": 2, "mode": "CANARY", "percent": percent},
        ]);
        // Version 1 refuses with `rude`, version 2 with another reason.
        let chosen = async || {
            let mut chosen = vec![];
            for player in 0..40 {
                match refused(&say_as(&hub, &owner, player, "R").await) {
                    "rude" => {}
                    _ => chosen.push(player),
                }
            }
            chosen
        };
        chain(&owner, "chat", with(30)).await.expect(200);
        let few = chosen().await;
        assert!(!few.is_empty() && few.len() < 30, "{few:?}");
        let shown = point(&owner, "chat").await;
        let calls = |at: usize| shown["modules"][at]["calls"].as_u64().unwrap();
        assert_eq!((calls(0), calls(1)), (40 - few.len() as u64, few.len() as u64));
        chain(&owner, "chat", with(70)).await.expect(200);
        let more = chosen().await;
        assert!(more.len() > few.len() && few.iter().all(|player| more.contains(player)), "{few:?} {more:?}");
        // The same players after a restart.
        let hub = hub.restart(std::time::Duration::ZERO).await;
        assert_ne!(refused(&say_as(&hub, &owner, few[0], "R").await), "rude");
        let owner = hub.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
        chain(&owner, "chat", with(100)).await.expect(200);
        assert_ne!(refused(&say_as(&hub, &owner, 41, "R").await), "rude");
    }

    async fn a_shadow_is_counted_and_changes_nothing(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "guard", wasm::moody(1)).await.expect(201);
        upload(&owner, "guard", wasm::rude()).await.expect(201);
        chain(&owner, "chat", json!([
            {"name": "guard", "version": 1}, {"name": "guard", "version": 2, "mode": "SHADOW", "onFailure": "REFUSE"},
        ])).await.expect(200);
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");
        shadow(&owner, 1).await;
        assert_eq!(say(&hub, &owner, "hello").await.decision, Decision::Allow);
        shadow(&owner, 2).await;
        assert_eq!(say(&hub, &owner, "T").await.decision, Decision::Allow);
        let counted = shadow(&owner, 3).await;
        // It refuses everything, and traps as version 1 does.
        assert_eq!((&counted["same"], &counted["different"], &counted["failed"]), (&json!(0), &json!(2), &json!(1)));
        let newest = &counted["examples"][0];
        assert_eq!((&newest["expected"], &newest["actual"]), (&json!({"failure": "trap"}), &json!({"failure": "trap"})));
        assert_eq!(counted["examples"][1]["expected"]["decision"], "allow");
        assert!(counted["examples"][1]["actual"]["decision"]["refuse"].is_string(), "{counted}");
        assert_eq!(counted["examples"].as_array().unwrap().len(), 3);
        // Its log has its lines, and its failure.
        let logs = owner.get("/api/manage/modules/guard/logs").await.expect(200).clone();
        let versions: Vec<_> = logs["items"].as_array().unwrap().iter().map(|line| line["version"].clone()).collect();
        assert!(versions.contains(&json!(2)), "{logs}");
        assert!(point(&owner, "chat").await["modules"][0].get("shadow").is_none());
    }

    async fn instances_are_reused_where_that_is_configured(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "forgetful", wasm::forgetful()).await.expect(201);
        let with = |instances: &str| json!([{"name": "forgetful", "version": 1, "instances": instances}]);
        let allowed = async |messages: &[&str]| {
            let mut allowed = vec![];
            for message in messages {
                allowed.push(say(&hub, &owner, message).await.decision == Decision::Allow);
            }
            allowed
        };
        chain(&owner, "chat", with("FRESH")).await.expect(200);
        assert_eq!(allowed(&["a", "a", "a"]).await, [true; 3]);
        let put = chain(&owner, "chat", with("REUSED")).await.expect(200).clone();
        assert_eq!(put["modules"][0]["instances"], "REUSED");
        assert_eq!(allowed(&["a", "a", "a"]).await, [true, false, false]);
        // An instance that trapped is dropped, and the next call begins with a fresh one.
        assert_eq!(allowed(&["T", "a", "a"]).await, [true, true, false]);
        // Another network's is another.
        let other = hub.network().await;
        upload(&other, "forgetful", wasm::forgetful()).await.expect(201);
        chain(&other, "chat", with("REUSED")).await.expect(200);
        assert_eq!(say(&hub, &other, "a").await.decision, Decision::Allow);
        assert_eq!(allowed(&["a"]).await, [false]);
    }

    async fn writes_of_a_shadow_are_visible_to_itself_only(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "counting", wasm::counting()).await.expect(201);
        let link = json!({"name": "counting", "version": 1, "mode": "SHADOW"});
        chain(&owner, "chat", json!([link])).await.expect(200);
        for number in 1..=4 {
            assert_eq!(say(&hub, &owner, "hello").await.decision, Decision::Allow);
            shadow(&owner, number).await;
        }
        // On its own it counts on, and would have refused the third line and the fourth.
        let counted = shadow(&owner, 4).await;
        assert_eq!((&counted["same"], &counted["different"]), (&json!(2), &json!(2)), "{counted}");
        hub.advance_ms(60_000);
        say(&hub, &owner, "a minute later").await;
        assert_eq!(shadow(&owner, 5).await["same"], 3);
        // The store itself has not changed.
        chain(&owner, "chat", json!([{"name": "counting", "version": 1}])).await.expect(200);
        assert_eq!(say(&hub, &owner, "one").await.decision, Decision::Allow);
        assert_eq!(say(&hub, &owner, "two").await.decision, Decision::Allow);
        assert_eq!(refused(&say(&hub, &owner, "three").await), "slow down");
    }
}
