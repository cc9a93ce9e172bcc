//! Exact changes of balances, and several that are made together.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Events, NOW, on_all};

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

async fn modify(client: &Client, owner: &str, currency: &str, amount: i64, exact: bool) -> Answer {
    let body = json!({"currency": currency, "amount": amount, "exact": exact});
    client.post(&format!("/api/plugin/economy/{owner}/currencies/modify"), body).await
}

/// An operation of a transaction on an owner of the type `guild`.
fn operation(guild: &str, currency: &str, amount: i64) -> Value {
    json!({"ownerType": "guild", "ownerKey": guild, "currency": currency, "amount": amount})
}

async fn transact(client: &Client, operations: &[Value]) -> Answer {
    client.post("/api/plugin/economy/transactions", json!({"operations": operations, "reason": "trade"})).await
}

/// The index of the operation by which a transaction was refused.
fn refused_operation(answer: &Answer, code: &str) -> u64 {
    assert_eq!(answer.expect(400)["code"], code, "{}", answer.body);
    answer.body["operation"].as_u64().unwrap()
}

async fn balance(client: &Client, owner: &str, currency: &str) -> i64 {
    let balances = client.get(&format!("/api/plugin/economy/{owner}/currencies")).await.expect(200).clone();
    let found = balances.as_array().unwrap().iter().find(|it| it["currencyName"] == currency).cloned();
    found.map_or(0, |it| it["balance"].as_i64().unwrap())
}

async fn ledger(client: &Client, owner: &str) -> Vec<Value> {
    let page = client.get(&format!("/api/manage/economy/{owner}/ledger?limit=200")).await.expect(200).clone();
    page["items"].as_array().unwrap().clone()
}

async fn stream(client: &Client, query: &str) -> Events {
    Events::open(client.request(Method::GET, &format!("/api/plugin/events?{query}"))).await
}

on_all! {
    async fn an_exact_change_is_made_whole_or_refused(hub: Hub) {
        let client = hub.network().await;
        client.put("/api/manage/economy/currencies/coins", json!({"minimum": 0, "maximum": 100})).await.expect(200);
        let paid = modify(&client, "guild/1", "coins", 30, true).await.expect(200).clone();
        assert_eq!((&paid["balance"], &paid["asked"], &paid["applied"]), (&json!(30), &json!(30), &json!(30)));
        modify(&client, "guild/1", "coins", -31, true).await.expect_error(400, "insufficient_funds");
        modify(&client, "guild/1", "coins", 71, true).await.expect_error(400, "over_maximum");
        assert_eq!(balance(&client, "guild/1", "coins").await, 30);
        assert_eq!(ledger(&client, "guild/1").await.len(), 1);
        modify(&client, "guild/1", "coins", -30, true).await.expect(200);
        modify(&client, "guild/1", "coins", 100, true).await.expect(200);
        // Cut, unless it is exact.
        let cut = modify(&client, "guild/1", "coins", 50, false).await.expect(200).clone();
        assert_eq!((&cut["balance"], &cut["asked"], &cut["applied"]), (&json!(100), &json!(50), &json!(0)));
        // A refused change creates nothing: neither a balance nor a currency.
        modify(&client, "guild/2", "gems", -1, true).await.expect_error(400, "insufficient_funds");
        let currencies = client.get("/api/manage/economy/currencies").await.expect(200).clone();
        assert_eq!((&currencies["total"], &currencies["items"][0]["currencyName"]), (&json!(1), &json!("coins")));
        // More than any currency can hold, either way.
        client.put("/api/manage/economy/currencies/debt", json!({})).await.expect(200);
        modify(&client, "guild/1", "debt", -900_000_000_000_000, true).await.expect(200);
        modify(&client, "guild/1", "debt", -1, true).await.expect_error(400, "insufficient_funds");
        let wrong = json!({"currency": "coins", "amount": 1, "exact": "yes"});
        client.post("/api/plugin/economy/guild/1/currencies/modify", wrong).await.expect_error(400, "invalid_request");
    }

    async fn a_transaction_is_made_whole_or_not_at_all(hub: Hub) {
        let client = hub.network().await;
        modify(&client, "guild/a", "coins", 100, false).await.expect(200);
        let player = json!({"ownerType": "player", "ownerKey": STEVE.to_uppercase(), "currency": "gems", "amount": 2});
        let operations = [operation("b", "coins", 60), operation("a", "coins", -60), player, operation("b", "coins", -10)];
        let made = transact(&client, &operations).await.expect(200).clone();
        let ids: Vec<_> = made["balances"].as_array().unwrap().iter().map(|it| it["ledgerId"].clone()).collect();
        assert_eq!(made["balances"], json!([
            {"ownerType": "guild", "ownerKey": "b", "currencyName": "coins", "balance": 60, "applied": 60, "ledgerId": ids[0]},
            {"ownerType": "guild", "ownerKey": "a", "currencyName": "coins", "balance": 40, "applied": -60, "ledgerId": ids[1]},
            {"ownerType": "player", "ownerKey": STEVE, "currencyName": "gems", "balance": 2, "applied": 2, "ledgerId": ids[2]},
            {"ownerType": "guild", "ownerKey": "b", "currencyName": "coins", "balance": 50, "applied": -10, "ledgerId": ids[3]},
        ]));
        let booked = ledger(&client, "guild/b").await;
        let shown: Vec<_> = booked.iter().map(|it| (&it["id"], &it["transactionId"], &it["reason"])).collect();
        let (id, reason) = (&made["transactionId"], &json!("trade"));
        assert_eq!(shown, [(&ids[3], id, reason), (&ids[0], id, reason)]);

        // The index is that of the first failure, in the request's order, wherever others fail.
        for (operations, code, failed) in [
            // The effect of a later one does not help an earlier one.
            (vec![operation("c", "coins", -1), operation("c", "coins", 5)], "insufficient_funds", 0),
            (vec![operation("a", "coins", -30), operation("b", "coins", -50), operation("a", "coins", -11)],
                "insufficient_funds", 2),
            (vec![operation("b", "coins", -51), operation("a", "coins", -41)], "insufficient_funds", 0),
            (vec![operation("a", "coins", -1), operation("z", "zinc", -1), operation("a", "coins", -99)],
                "insufficient_funds", 1),
            (vec![operation("a", "coins", 1), operation("b", "coins", 900_000_000_000_000)], "over_maximum", 1),
        ] {
            let refused = transact(&client, &operations).await;
            assert_eq!(refused_operation(&refused, code), failed, "{operations:?}");
        }
        assert_eq!(balance(&client, "guild/a", "coins").await, 40);
        assert_eq!(balance(&client, "guild/b", "coins").await, 50);
        assert_eq!((ledger(&client, "guild/a").await.len(), ledger(&client, "guild/c").await.len()), (2, 0));

        // A repeated request gets the same answer, even a refusal.
        for amount in [-20, -21] {
            let mut answers = vec![];
            for _ in 0..2 {
                let body = json!({"operations": [operation("a", "coins", amount), operation("b", "coins", -amount)]});
                let request = client.request(Method::POST, "/api/plugin/economy/transactions").json(&body);
                let mut answer = client.send(request.header("Idempotency-Key", format!("trade{amount}"))).await;
                answer.body.as_object_mut().unwrap().remove("requestId");
                answers.push((answer.status, answer.body));
            }
            assert_eq!(answers[0], answers[1]);
            assert_eq!(answers[0].1["operation"], if amount == -20 { Value::Null } else { json!(0) });
        }
        assert_eq!(balance(&client, "guild/a", "coins").await, 20);

        let many: Vec<_> = (0..17).map(|_| operation("a", "coins", 0)).collect();
        transact(&client, &many[1..]).await.expect(200);
        let nobody = json!({"ownerType": "player", "ownerKey": "Steve", "currency": "coins", "amount": 1});
        for (operations, hint) in [
            (vec![], "1 to 16"),
            (many, "1 to 16"),
            (vec![nobody], "UUID"),
            (vec![operation("", "coins", 1)], "blank"),
            (vec![json!({"ownerType": "guild", "ownerKey": "a", "currency": "coins"})], "amount"),
        ] {
            let refused = transact(&client, &operations).await;
            refused.expect_error(400, "invalid_request");
            assert!(refused.body["error"].as_str().unwrap().contains(hint), "{}", refused.body);
        }
        client.post("/api/plugin/economy/transactions", json!({})).await.expect_error(400, "invalid_request");

        // Another network has its own money.
        let other = hub.network().await;
        let refused = transact(&other, &[operation("a", "coins", -1)]).await;
        assert_eq!(refused_operation(&refused, "insufficient_funds"), 0);
        client.key_with(&["players:write"]).await.post("/api/plugin/economy/transactions", json!({})).await
            .expect_error(403, "forbidden_scope");
    }

    async fn concurrent_exact_spends_take_only_the_available_balance(hub: Hub) {
        let client = hub.network().await;
        modify(&client, "guild/1", "coins", 30, false).await.expect(200);
        let spends = (0..60).map(|at| {
            let client = client.clone();
            tokio::spawn(async move {
                if at % 2 == 0 {
                    modify(&client, "guild/1", "coins", -1, true).await
                } else {
                    transact(&client, &[operation("1", "coins", -1), operation("shop", "coins", 1)]).await
                }
            })
        });
        let mut spent = 0;
        for spend in spends.collect::<Vec<_>>() {
            let answer = spend.await.unwrap();
            if answer.status == 200 {
                spent += 1;
            } else {
                assert_eq!(answer.expect(400)["code"], "insufficient_funds");
            }
        }
        assert_eq!((spent, balance(&client, "guild/1", "coins").await), (30, 0));
    }

    async fn opposite_transfers_neither_make_nor_lose_money(hub: Hub) {
        let client = hub.network().await;
        let mut runner = TestRunner::deterministic();
        for guild in ["a", "b", "c"] {
            modify(&client, &format!("guild/{guild}"), "coins", 100, false).await.expect(200);
            modify(&client, &format!("guild/{guild}"), "gems", 100, false).await.expect(200);
        }
        // Each pays from one to the other, and takes the other currency the other way, so that every order of locks comes up. The
        // fourth owner, and a third currency, begin with nothing.
        let pair = (0_usize..4, 0_usize..4, 1_i64..60, 0_i64..60, any::<bool>());
        let case = prop::collection::vec(pair, 80).new_tree(&mut runner).unwrap().current();
        let guilds = ["a", "b", "c", "d"];
        let trades = case.into_iter().map(|(from, to, price, goods, swap)| {
            let client = client.clone();
            let (paid, given) = if swap { ("gems", "coins") } else { ("coins", "gems") };
            let (from, to) = (guilds[from], guilds[to]);
            let operations = [
                operation(from, paid, -price), operation(to, paid, price),
                operation(to, given, -goods), operation(from, given, goods), operation(from, "trades", 1),
            ];
            tokio::spawn(async move { transact(&client, &operations).await })
        });
        let mut made = 0;
        for trade in trades.collect::<Vec<_>>() {
            let answer = trade.await.unwrap();
            if answer.status == 200 {
                made += 1;
            } else {
                assert_eq!(answer.expect(400)["code"], "insufficient_funds");
            }
        }
        assert!((1..80).contains(&made), "{made}");
        for (currency, total) in [("coins", 300), ("gems", 300), ("trades", made)] {
            let mut sum = 0;
            for guild in guilds {
                let owner = format!("guild/{guild}");
                let entries = ledger(&client, &owner).await;
                let booked: i64 = entries.iter().filter(|it| it["currencyName"] == currency)
                    .map(|it| it["applied"].as_i64().unwrap()).sum();
                assert!(booked >= 0, "{owner} {currency} {booked}");
                assert_eq!(balance(&client, &owner, currency).await, booked, "{owner} {currency}");
                sum += booked;
            }
            assert_eq!(sum, total, "{currency}");
        }
    }

    async fn changes_are_sent_to_subscribed_streams(hub: Hub) {
        let client = hub.network().await;
        // There are no subscribers yet.
        modify(&client, "guild/a", "coins", 5, false).await.expect(200);
        let mut all = stream(&client, "").await;
        let mut asked = stream(&client, "types=BALANCE_CHANGED").await;
        let changed = modify(&client, "guild/a", "coins", -12, false).await.expect(200).clone();
        let first = asked.next_named("BALANCE_CHANGED").await;
        assert!(first.id.is_some());
        assert_eq!(first.data, json!({"type": "BALANCE_CHANGED", "at": NOW, "ownerType": "guild", "ownerKey": "a",
            "currencyName": "coins", "balance": 0, "applied": -5, "ledgerId": changed["ledgerId"]}));
        let refused = transact(&client, &[operation("b", "coins", 7), operation("b", "coins", -8)]).await;
        assert_eq!(refused_operation(&refused, "insufficient_funds"), 1);
        let made = transact(&client, &[operation("b", "coins", 7), operation("b", "coins", -3)]).await.expect(200).clone();
        for balance in made["balances"].as_array().unwrap() {
            let mut told = asked.next_named("BALANCE_CHANGED").await.data;
            told.as_object_mut().unwrap().retain(|name, _| name != "type" && name != "at");
            assert_eq!(&told, balance);
        }
        // A stream that ended still counts as subscribed: it may be resumed.
        drop(asked);
        modify(&client, "guild/a", "coins", 1, false).await.expect(200);
        let request = client.request(Method::GET, "/api/plugin/events?types=BALANCE_CHANGED");
        let mut resumed = Events::open(request.header("Last-Event-ID", first.id.unwrap())).await;
        let rest: Vec<_> = [resumed.next().await, resumed.next().await, resumed.next().await].into_iter()
            .map(|event| event.unwrap().data["applied"].as_i64().unwrap()).collect();
        assert_eq!(rest, [7, -3, 1]);
        // Other streams get nothing, and neither do other networks' streams.
        let other = hub.network().await;
        modify(&other, "guild/a", "coins", 77, false).await.expect(200);
        client.post("/api/plugin/localization/defaults",
            json!({"namespace": "n", "locale": "en", "entries": {"k": "v"}})).await.expect(200);
        assert_eq!(all.next().await.unwrap().name, "LOCALIZATION_UPDATED");
        modify(&client, "guild/a", "coins", 2, false).await.expect(200);
        assert_eq!(resumed.next().await.unwrap().data["applied"], 2);
    }

    async fn balance_events_are_exact(hub: Hub) {
        let client = hub.network().await;
        client.put("/api/manage/economy/currencies/debt", json!({"minimum": -1_000})).await.expect(200);
        modify(&client, "guild/a", "debt", 0, false).await.expect(200);
        let mut asked = stream(&client, "types=BALANCE_CHANGED").await;
        let amounts = ["0.0001", "-0.5", "-3.4999", "-16.03", "20.0298", "0", "7", "30000000000.0625", "800000000000000"];
        for (at, amount) in amounts.iter().enumerate() {
            let body = format!(r#"{{"currency": "debt", "amount": {amount}, "reason": "exact"}}"#);
            let request = client.request(Method::POST, "/api/plugin/economy/guild/a/currencies/modify").body(body);
            // Half of them are part of a transaction with their key.
            let request =
                if at % 2 == 0 { request } else { request.header("Idempotency-Key", format!("change{at}")) };
            let changed = client.send(request).await.expect(200).clone();
            let told = asked.next_named("BALANCE_CHANGED").await.data;
            for field in ["balance", "applied", "ledgerId", "currencyName"] {
                assert_eq!(told[field], changed[field], "{field} after {amount}");
            }
            assert_eq!(told["ownerType"], "guild");
        }
        let entries = ledger(&client, "guild/a").await;
        assert_eq!(entries.len(), 1 + amounts.len());
        let newest = &entries[0];
        assert_eq!((&newest["asked"], &newest["reason"]), (&json!(800_000_000_000_000_i64), &json!("exact")));
    }
}
