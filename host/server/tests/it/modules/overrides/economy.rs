//! Changes of balances that modules amend or refuse.

use reqwest::Method;
use serde_json::{Value, json};

use super::super::recorded_calls::{call, calls};
use super::super::{chain, point, upload};
use super::{answer, module, on, text};
use crate::servers::{join, register, uuid};
use crate::support::{Answer, Client, on_both};

/// Doubles single changes. By the currency's first letter: refuses (`g`), traps (`x`), turns the sign (`n`).
fn doubling() -> Vec<u8> {
    let operation = "(i32.load offset=100 (local.get $in))";
    let amount = format!("(i64.load offset=24 {operation})");
    let amend = |amount: &str| format!("(i64.store (i32.const 72) {amount}) {}", answer(1));
    let body = [
        format!("(local.set $first (i32.load8_u (i32.load offset=16 {operation})))"),
        on('g', &[text(72, 512, 2), answer(2)].concat()),
        on('x', "unreachable"),
        on('n', &amend(&format!("(i64.sub (i64.const 0) {amount})"))),
        format!(
            "(if (i32.eqz (i32.load8_u offset=96 (local.get $in))) (then {}))",
            amend(&format!("(i64.mul {amount} (i64.const 2))"))
        ),
        answer(0),
    ];
    module("economy", "review", &body.concat())
}

async fn activate(owner: &Client, more: Value) {
    upload(owner, "double", doubling()).await;
    let mut link = json!({"name": "double", "version": 1});
    link.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    chain(owner, "economy", json!([link])).await.expect(200);
}

async fn modify(client: &Client, currency: &str, amount: i64, exact: bool) -> Answer {
    let path = format!("/api/plugin/economy/player/{}/currencies/modify", uuid(1));
    client.post(&path, json!({"currency": currency, "amount": amount, "exact": exact, "reason": "quest"})).await
}

async fn pay(client: &Client, currency: &str) -> Answer {
    let operation = |owner: &str, key: &str, amount| json!({"ownerType": owner, "ownerKey": key, "currency": currency, "amount": amount});
    let operations = [operation("player", &uuid(1), 5), operation("farm", "f1", 7)];
    client.post("/api/plugin/economy/transactions", json!({"operations": operations, "reason": "rent"})).await
}

async fn ledger(owner: &Client) -> Value {
    owner.get(&format!("/api/manage/economy/player/{}/ledger", uuid(1))).await.expect(200).clone()
}

async fn number_of_calls(owner: &Client) -> Value {
    point(owner, "economy").await["modules"][0]["calls"].clone()
}

on_both! {
    async fn an_amended_change_is_made_and_told(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, json!({})).await;
        let made = modify(&owner, "coins", 10, false).await.expect(200).clone();
        let id = &made["ledgerId"];
        assert_eq!(made, json!({"currencyName": "coins", "balance": 20, "asked": 10, "amended": 20, "applied": 20, "ledgerId": id}));
        let entry = &ledger(&owner).await["items"][0];
        assert_eq!((&entry["asked"], &entry["amended"], &entry["applied"]), (&json!(10), &json!(20), &json!(20)));
        // Transactions are not amended.
        let paid = pay(&owner, "coins").await.expect(200).clone();
        assert_eq!(paid["balances"][0]["balance"], 25);
        let entries = ledger(&owner).await;
        assert_eq!((&entries["items"][0]["asked"], entries["items"][0].get("amended")), (&json!(5), None));
        // Without the module nothing is amended.
        chain(&owner, "economy", json!([])).await.expect(200);
        let plain = modify(&owner, "coins", 1, false).await.expect(200).clone();
        assert_eq!((&plain["balance"], plain.get("amended")), (&json!(26), None));
    }

    async fn bounds_are_those_of_the_amended_amount(hub: Hub) {
        let owner = hub.network().await;
        owner.put("/api/manage/economy/currencies/coins", json!({"minimum": 0, "maximum": 15})).await.expect(200);
        activate(&owner, json!({})).await;
        modify(&owner, "coins", 10, true).await.expect_error(400, "over_maximum");
        assert_eq!(ledger(&owner).await["total"], 0);
        let cut = modify(&owner, "coins", 10, false).await.expect(200).clone();
        assert_eq!((&cut["asked"], &cut["amended"], &cut["applied"]), (&json!(10), &json!(20), &json!(15)));
        modify(&owner, "coins", -8, true).await.expect_error(400, "insufficient_funds");
    }

    async fn a_refused_change_is_not_made(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, json!({})).await;
        let refused = modify(&owner, "gems", 10, false).await.expect(400).clone();
        assert_eq!((&refused["code"], &refused["error"]), (&json!("change_rejected"), &json!("no")));
        assert_eq!(pay(&owner, "gems").await.expect(400)["code"], "change_rejected");
        assert_eq!(ledger(&owner).await["total"], 0);
    }

    async fn a_failing_module_is_skipped_or_refuses(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, json!({})).await;
        for currency in ["xp", "nuggets"] {
            let made = modify(&owner, currency, 10, false).await.expect(200).clone();
            assert_eq!((&made["balance"], made.get("amended")), (&json!(10), None), "{currency}");
        }
        activate(&owner, json!({"onFailure": "REFUSE"})).await;
        for currency in ["xp", "nuggets"] {
            modify(&owner, currency, 10, false).await.expect_error(400, "change_rejected");
        }
        pay(&owner, "xp").await.expect_error(400, "change_rejected");
        assert_eq!(modify(&owner, "coins", 1, false).await.expect(200)["balance"], 2);
    }

    async fn a_module_is_asked_once_for_a_request_with_a_key(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, json!({})).await;
        let path = format!("/api/plugin/economy/player/{}/currencies/modify", uuid(1));
        let send = async || {
            let request = owner.request(Method::POST, &path).header("Idempotency-Key", "k1");
            owner.send(request.json(&json!({"currency": "coins", "amount": 3}))).await.expect(200).clone()
        };
        let first = send().await;
        assert_eq!(first["balance"], 6);
        assert_eq!(send().await, first);
        assert_eq!((number_of_calls(&owner).await, &ledger(&owner).await["total"]), (json!(1), &json!(1)));
    }

    async fn a_call_is_recorded_with_the_change_and_replayed(hub: Hub) {
        let owner = hub.network().await;
        register(&owner, "lobby-1", json!({})).await;
        join(&owner, "lobby-1", 1).await;
        activate(&owner, json!({})).await;
        modify(&owner, "coins", 10, false).await.expect(200);
        modify(&owner, "xp", 10, false).await.expect(200);
        let listed = calls(&owner, "economy", "?failed=false").await;
        let whole = call(&owner, "economy", &listed["items"][0]).await;
        assert_eq!(whole["input"], json!({
            "kind": "MODIFY", "reason": "quest", "serverId": "lobby-1",
            "operations": [{"ownerType": "player", "ownerKey": uuid(1), "currency": "coins", "amount": 10}],
        }));
        assert_eq!(whole["ruling"], json!({"decision": {"amend": 20}}));
        let body = json!({"point": "economy", "last": 9});
        let replayed = owner.post("/api/manage/modules/double/1/replay", body).await.expect(200).clone();
        assert_eq!((&replayed["calls"], &replayed["same"]), (&json!(2), &json!(1)), "{replayed}");
        let body = json!({"point": "economy", "input": whole["input"]});
        let dry = owner.post("/api/manage/modules/double/1/dry-run", body).await.expect(200).clone();
        assert_eq!(dry["output"], json!({"decision": {"amend": 20}}), "{dry}");
        assert_eq!(number_of_calls(&owner).await, 2);
    }
}
