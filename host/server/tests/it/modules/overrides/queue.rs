//! New tickets that modules place or refuse.

use serde_json::json;

use super::super::recorded_calls::{call, calls};
use super::super::{chain, point, upload};
use super::{answer, module, on, text};
use crate::lines::{take, wait_in_line};
use crate::servers::{join, register, uuid};
use crate::support::{Client, on_both};

/// By the first letter of the player's name: a priority of 500 (`V`), a refusal (`R`), a trap (`X`); else -5.
fn placing() -> Vec<u8> {
    let admit = |priority: i32| format!("(i32.store (i32.const 68) (i32.const {priority})) {}", answer(0));
    let body = [
        "(local.set $first (i32.load8_u (i32.load offset=104 (local.get $in))))".to_owned(),
        on('V', &admit(500)),
        on('R', &[text(68, 512, 2), answer(1)].concat()),
        on('X', "unreachable"),
        admit(-5),
    ];
    module("queue", "place", &body.concat())
}

async fn activate(owner: &Client, on_failure: &str) {
    upload(owner, "placing", placing()).await;
    let link = json!([{"name": "placing", "version": 1, "onFailure": on_failure}]);
    chain(owner, "queue", link).await.expect(200);
}

/// The waiting players and their priorities, in the order of the line.
async fn line(owner: &Client) -> Vec<(String, i64)> {
    let tickets = owner.get("/api/manage/matchmaking/lines/type:arena/tickets").await.expect(200).clone();
    let of = |ticket: &serde_json::Value| {
        (ticket["playerUuid"].as_str().unwrap().to_owned(), ticket["priority"].as_i64().unwrap())
    };
    tickets["items"].as_array().unwrap().iter().map(of).collect()
}

on_both! {
    async fn modules_decide_the_priority_of_a_new_ticket(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        for player in 1..=3 {
            join(&owner, "lobby-1", player).await;
        }
        wait_in_line(&owner, 1, json!({"priority": 7})).await;
        activate(&owner, "SKIP").await;
        wait_in_line(&owner, 2, json!({"playerName": "Somebody", "priority": 900})).await;
        wait_in_line(&owner, 3, json!({"playerName": "Vip"})).await;
        assert_eq!(line(&owner).await, [(uuid(3), 500), (uuid(1), 7), (uuid(2), -5)]);
        // The same body again keeps the ticket, and asks nobody.
        wait_in_line(&owner, 3, json!({"playerName": "Vip"})).await;
        assert_eq!(point(&owner, "queue").await["modules"][0]["calls"], 2);
        assert_eq!(line(&owner).await.len(), 3);
    }

    async fn a_refused_ticket_ends_at_once(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        join(&owner, "lobby-1", 1).await;
        activate(&owner, "SKIP").await;
        let ticket = take(&owner, 1, json!({"playerName": "Rude"})).await;
        assert_eq!((&ticket["state"], &ticket["match"]["result"]), (&json!("EXPIRED"), &json!("POLICY_REJECTED")));
        assert_eq!(ticket["match"]["reason"], "no");
        assert_eq!(line(&owner).await, []);
    }

    async fn a_failing_module_is_skipped_or_refuses(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        join(&owner, "lobby-1", 1).await;
        activate(&owner, "SKIP").await;
        wait_in_line(&owner, 1, json!({"playerName": "Xaver", "priority": 3})).await;
        assert_eq!(line(&owner).await, [(uuid(1), 3)]);
        activate(&owner, "REFUSE").await;
        let ticket = take(&owner, 1, json!({"playerName": "Xenia"})).await;
        assert_eq!((&ticket["state"], &ticket["match"]["result"]), (&json!("EXPIRED"), &json!("POLICY_REJECTED")));
    }

    async fn a_party_is_asked_about_once(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        for player in 1..=3 {
            join(&owner, "lobby-1", player).await;
        }
        activate(&owner, "SKIP").await;
        wait_in_line(&owner, 1, json!({"playerName": "Vip", "party": [uuid(2), uuid(3)], "region": "EUROPE"})).await;
        let listed = calls(&owner, "queue", "").await;
        assert_eq!(listed["total"], 1);
        let whole = call(&owner, "queue", &listed["items"][0]).await;
        assert_eq!(whole["input"], json!({
            "player": {"uuid": uuid(1), "name": "Vip"}, "serverType": "arena", "worldType": null, "region": whole["input"]["region"],
            "members": [{"uuid": uuid(2), "name": "p2"}, {"uuid": uuid(3), "name": "p3"}],
        }));
        assert_eq!(whole["ruling"], json!({"decision": {"admit": 500}}));
        assert_eq!(line(&owner).await, [(uuid(1), 500)]);
    }
}
