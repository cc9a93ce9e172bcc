//! Decisions of people: retry, cancel, confirm.

use reqwest::Method;
use serde_json::{Value, json};

use super::{claim, claimed, complete, create, decide, fail, playing, reaches, read, wait};
use crate::servers::uuid;
use crate::support::{Client, Hub, NOW, on_both};

/// Creates a held delivery.
async fn held(hub: &Hub, client: &Client, more: Value) -> i64 {
    let id = create(client, 1, more).await;
    claimed(client, id, "a").await;
    wait(hub, client, 60_000).await;
    reaches(client, id, "HELD").await;
    id
}

async fn failed(client: &Client) -> i64 {
    let id = create(client, 1, json!({"kind": "failing"})).await;
    let text = claimed(client, id, "a").await;
    fail(client, id, &text, false).await.expect(200);
    id
}

on_both! {
    async fn a_person_decides_about_held_and_failed_ones(hub: Hub) {
        let client = playing(&hub).await;
        let id = held(&hub, &client, json!({})).await;
        let again = decide(&client, id, "retry").await.expect(200).clone();
        assert_eq!((&again["state"], &again["attempts"], &again["claimedBy"]), (&json!("PENDING"), &json!(0), &Value::Null));
        let text = claimed(&client, id, "a").await;
        complete(&client, id, &text).await.expect(200);
        let id = failed(&client).await;
        let again = decide(&client, id, "retry").await.expect(200).clone();
        assert_eq!((&again["state"], &again["attempts"], &again["settledAt"], &again["reason"]),
            (&json!("PENDING"), &json!(0), &Value::Null, &Value::Null));
        claim(&client, id, "a").await.expect(200);
        let id = held(&hub, &client, json!({"kind": "two"})).await;
        let confirmed = decide(&client, id, "confirm").await.expect(200).clone();
        assert_eq!((&confirmed["state"], &confirmed["settledAt"]), (&json!("DELIVERED"), &read(&client, id).await["settledAt"]));
        assert!(confirmed["settledAt"].is_i64());
        let id = held(&hub, &client, json!({"kind": "three"})).await;
        assert_eq!(decide(&client, id, "cancel").await.expect(200)["state"], "CANCELLED");
        let id = create(&client, 2, json!({})).await;
        assert_eq!(decide(&client, id, "cancel").await.expect(200)["state"], "CANCELLED");
        claim(&client, id, "a").await.expect_error(409, "settled");
    }

    async fn other_decisions_are_not_possible(hub: Hub) {
        let client = playing(&hub).await;
        let pending = create(&client, 2, json!({})).await;
        let being_claimed = create(&client, 1, json!({"kind": "claimed"})).await;
        claimed(&client, being_claimed, "a").await;
        let done = create(&client, 1, json!({"kind": "done"})).await;
        let text = claimed(&client, done, "a").await;
        complete(&client, done, &text).await.expect(200);
        let failed = failed(&client).await;
        for (id, decisions) in [
            (pending, &["retry", "confirm"][..]),
            (being_claimed, &["retry", "cancel", "confirm"][..]),
            (done, &["retry", "cancel", "confirm"][..]),
            (failed, &["cancel", "confirm"][..]),
        ] {
            for decision in decisions {
                decide(&client, id, decision).await.expect_error(409, "not_possible");
            }
        }
        decide(&client, pending, "cancel").await.expect(200);
        for decision in ["retry", "cancel", "confirm"] {
            decide(&client, pending, decision).await.expect_error(409, "not_possible");
            decide(&client, 99, decision).await.expect_error(404, "unknown_delivery");
            decide(&hub.network().await, pending, decision).await.expect_error(404, "unknown_delivery");
        }
        // Its time is over.
        let late = held(&hub, &client, json!({"kind": "late", "expiresAt": NOW + 1_000})).await;
        decide(&client, late, "retry").await.expect_error(409, "not_possible");
        decide(&client, late, "confirm").await.expect(200);
    }

    async fn a_late_completion_of_a_held_one_is_stale(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({})).await;
        let text = claimed(&client, id, "a").await;
        hub.advance_ms(60_000);
        reaches(&client, id, "HELD").await;
        complete(&client, id, &text).await.expect_error(409, "stale_claim");
        decide(&client, id, "confirm").await.expect(200);
        complete(&client, id, &text).await.expect_error(409, "stale_claim");
    }

    async fn deliveries_are_listed_by_state_player_and_kind(hub: Hub) {
        let client = playing(&hub).await;
        for (player, kind) in [(1, "kit"), (1, "rank"), (2, "kit"), (3, "kit")] {
            create(&client, player, json!({"kind": kind})).await;
        }
        decide(&client, 3, "cancel").await.expect(200);
        let list = async |query: &str| {
            let page = client.get(&format!("/api/manage/deliveries{query}")).await.expect(200).clone();
            let ids: Vec<_> = page["items"].as_array().unwrap().iter().map(|it| it["deliveryId"].as_i64().unwrap()).collect();
            (ids, page["total"].as_i64().unwrap())
        };
        assert_eq!(list("").await, (vec![4, 3, 2, 1], 4));
        assert_eq!(list("?limit=2&page=1").await, (vec![2, 1], 4));
        assert_eq!(list("?state=PENDING").await, (vec![4, 2, 1], 3));
        assert_eq!(list("?kind=kit").await, (vec![4, 3, 1], 3));
        assert_eq!(list(&format!("?playerUuid={}", uuid(1))).await, (vec![2, 1], 2));
        assert_eq!(list(&format!("?playerUuid={}&kind=kit&state=PENDING", uuid(1))).await, (vec![1], 1));
        assert_eq!(list(&format!("?playerUuid={}&state=CANCELLED", uuid(2))).await, (vec![3], 1));
        assert_eq!(list("?state=&kind=").await.1, 4);
        for wrong in ["state=OPEN", "playerUuid=x", "limit=0", "page=-1"] {
            client.get(&format!("/api/manage/deliveries?{wrong}")).await.expect_error(400, "invalid_request");
        }
    }

    async fn decisions_are_in_the_audit_log(hub: Hub) {
        let client = playing(&hub).await;
        let id = held(&hub, &client, json!({})).await;
        let key = client.request(Method::POST, &format!("/api/manage/deliveries/{id}/confirm")).header("Idempotency-Key", "c");
        client.send(key).await.expect(200);
        let again = client.request(Method::POST, &format!("/api/manage/deliveries/{id}/confirm")).header("Idempotency-Key", "c");
        client.send(again).await.expect(200);
        let log = client.get("/api/manage/audit?action=delivery.confirmed").await.expect(200).clone();
        assert_eq!(log["total"], 1);
        let entry = &log["items"][0];
        assert_eq!((&entry["target"], &entry["before"], &entry["after"]),
            (&json!(id.to_string()), &json!({"state": "HELD"}), &json!({"state": "DELIVERED"})));
    }
}

/// Runs `hub delivery …` with the owner's key; returns its output.
async fn run(hub: &Hub, owner: &Client, arguments: &[&str]) -> String {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_hub"));
    command.arg("delivery").args(arguments).env("HUB_URL", hub.url()).env("HUB_KEY", owner.key.as_deref().unwrap());
    let output = command.output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {text}");
    text
}

on_both! {
    async fn the_commands_match_the_routes(hub: Hub) {
        let client = playing(&hub).await;
        let add = ["add", "Alex Smith", "kit", "--payload", r#"{"kit": "starter"}"#, "--reference", "order 1", "--retry", "--json"];
        let made: Value = serde_json::from_str(&run(&hub, &client, &add).await).unwrap();
        assert_eq!((&made["playerName"], &made["payload"], &made["onLost"]), (&json!("Alex Smith"), &json!({"kit": "starter"}), &json!("RETRY")));
        let again: Value = serde_json::from_str(&run(&hub, &client, &add).await).unwrap();
        assert_eq!(again, made);
        run(&hub, &client, &["add", &uuid(1), "vote & more", "--server-type", "survival", "--server", "a"]).await;
        let list = run(&hub, &client, &["list", "--state", "pending", "--kind", "vote & more"]).await;
        assert!(list.starts_with("id  player") && list.lines().count() == 2 && list.contains("vote & more"), "{list}");
        let cancelled = run(&hub, &client, &["cancel", "1"]).await;
        assert!(cancelled.contains("cancelled") && cancelled.contains("order 1"), "{cancelled}");
        let list: Value = serde_json::from_str(&run(&hub, &client, &["list", "--json", "--player", &uuid(1)]).await).unwrap();
        assert_eq!((&list["total"], &list["items"][0]["serverId"]), (&json!(1), &json!("a")));
        let id = held(&hub, &client, json!({"kind": "rank"})).await.to_string();
        assert!(run(&hub, &client, &["retry", &id]).await.contains("pending"));
        let id = held(&hub, &client, json!({"kind": "items"})).await.to_string();
        assert!(run(&hub, &client, &["confirm", &id]).await.contains("delivered"));
    }
}
