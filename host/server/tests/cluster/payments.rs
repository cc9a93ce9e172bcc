//! No money is created or lost, and one idempotency key has one effect.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::task::JoinSet;

use crate::fleet::Fleet;

const PAYERS: usize = 12;
const PAYMENTS: usize = 40;

/// Kills the first and the last node and pauses the one between.
async fn disturb(fleet: &mut Fleet) {
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
}

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
    disturb(&mut fleet).await;
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

/// Result of one trader: the gold it spent for good, and the number of its trades.
#[derive(Default)]
struct Trades {
    spent: i64,
    made: i64,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn trades_make_and_lose_no_money_while_nodes_are_killed_and_paused() {
    const TEAMS: [&str; 3] = ["red", "green", "blue"];
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("market");
    for team in TEAMS {
        let path = format!("/api/plugin/economy/team/{team}/currencies/modify");
        owner.expect_success(Method::POST, &path, json!({"currency": "gold", "amount": 60}), Some(team)).await;
    }
    let mut traders = JoinSet::new();
    for trader in 0..PAYERS {
        let owner = owner.clone();
        traders.spawn(async move {
            let mut trades = Trades::default();
            for trade in 0..PAYMENTS {
                // To and fro between all of them, so that two trades want the same balances in either order.
                let (from, to) = (TEAMS[(trader + trade) % 3], TEAMS[(trader + trade * 2 + 1) % 3]);
                let of = |team: &str, amount: i64| {
                    json!({"ownerType": "team", "ownerKey": team, "currency": "gold", "amount": amount})
                };
                let key = format!("{trader}-{trade}");
                let (path, body) = if trade % 8 == 0 {
                    let path = format!("/api/plugin/economy/team/{from}/currencies/modify");
                    (path, json!({"currency": "gold", "amount": -1, "exact": true}))
                } else {
                    let operations = json!([of(from, -7), of(to, 7)]);
                    ("/api/plugin/economy/transactions".to_owned(), json!({"operations": operations}))
                };
                let answer = owner.send_retrying(Method::POST, &path, Some(body.clone()), Some(&key)).await;
                let repeated = owner.send_retrying(Method::POST, &path, Some(body), Some(&key)).await;
                assert_eq!(repeated.status, answer.status, "{key}");
                if answer.status == 200 {
                    assert_eq!(repeated.body, answer.body, "{key}");
                    trades.made += 1;
                    trades.spent += i64::from(trade % 8 == 0);
                } else {
                    assert_eq!(answer.expect(400)["code"], "insufficient_funds", "{key}");
                }
            }
            trades
        });
    }
    disturb(&mut fleet).await;
    let trades = traders.join_all().await;
    let spent: i64 = trades.iter().map(|it| it.spent).sum();
    let made: i64 = trades.iter().map(|it| it.made).sum();
    assert!(spent > 0 && made > spent, "{spent} {made}");
    let mut total = 0;
    for team in TEAMS {
        let balances = owner.get(&format!("/api/plugin/economy/team/{team}/currencies")).await.expect(200).clone();
        let balance = balances[0]["balance"].as_i64().unwrap();
        assert!(balance >= 0, "{team} {balance}");
        total += balance;
    }
    assert_eq!(total, 180 - spent);
    // No operation without its counterpart is in the ledger.
    let halves = "SELECT SUM(balance - balance_before) FROM currency_ledger WHERE transaction_id IS NOT NULL";
    let of_transactions = format!("SELECT CAST(COALESCE(({halves}), 0) AS BIGINT)").leak();
    assert_eq!(fleet.numbers(of_transactions).await, [0]);
}
