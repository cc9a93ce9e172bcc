//! No money is created or lost, and one idempotency key has one effect.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::task::JoinSet;

use crate::fleet::Fleet;

const PAYERS: usize = 12;
const PAYMENTS: usize = 40;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_payment_is_made_once_while_nodes_are_killed_and_paused() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("bank");
    let mut payers = JoinSet::new();
    for payer in 0..PAYERS {
        let owner = owner.clone();
        payers.spawn(async move {
            let mut acknowledged = vec![];
            for payment in 0..PAYMENTS {
                let body = json!({"currency": "coins", "amount": 1});
                let path = "/api/plugin/economy/team/red/currencies/modify";
                let key = format!("{payer}-{payment}");
                let answer = owner.send_retrying(Method::POST, path, Some(body.clone()), Some(&key)).await;
                // Some are repeated although they were answered.
                if payment % 5 == 0 {
                    let repeated = owner.send_retrying(Method::POST, path, Some(body), Some(&key)).await;
                    assert_eq!(repeated.expect(200), answer.expect(200), "{key}");
                }
                acknowledged.push(answer.expect(200)["balance"].clone());
            }
            acknowledged
        });
    }
    for node in 0..3 {
        tokio::time::sleep(Duration::from_millis(400)).await;
        if node == 1 {
            fleet.pause(node);
            tokio::time::sleep(Duration::from_secs(6)).await;
            fleet.resume(node);
        } else {
            fleet.kill(node);
            tokio::time::sleep(Duration::from_millis(400)).await;
            fleet.start_node(node);
        }
    }
    let mut acknowledged: Vec<_> =
        payers.join_all().await.concat().iter().map(|balance| balance.as_f64().unwrap()).collect();
    acknowledged.sort_unstable_by(f64::total_cmp);
    let expected: Vec<_> = (1..=PAYERS * PAYMENTS).map(|balance| balance as f64).collect();
    assert_eq!(acknowledged, expected, "each payment returned another balance");
    let paid = PAYERS * PAYMENTS;
    let balances = owner.get("/api/plugin/economy/team/red/currencies").await;
    assert_eq!(balances.expect(200), &json!([{"currencyName": "coins", "balance": paid}]));
    assert_eq!(owner.get("/api/manage/economy/team/red/ledger").await.expect(200)["total"], paid);
}
