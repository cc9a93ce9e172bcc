//! Currencies: exact, bounded, booked.

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use reqwest::Method;
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::servers::uuid;
use crate::support::{Answer, Client, NOW, on_all};

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

/// Changes a balance by an amount in JSON's syntax.
async fn modify(client: &Client, owner: &str, currency: &str, amount: &str) -> Answer {
    let body = format!(r#"{{"currency": "{currency}", "amount": {amount}, "reason": "test"}}"#);
    let path = format!("/api/plugin/economy/{owner}/currencies/modify");
    client.send(client.request(Method::POST, &path).body(body)).await
}

/// The digits of a number.
#[derive(Deserialize)]
#[serde(transparent)]
struct Exact(Box<RawValue>);

impl Exact {
    fn decimal(&self) -> Decimal {
        self.0.get().parse().unwrap()
    }
}

/// An exact balance.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExactBalance {
    currency_name: String,
    balance: Exact,
}

/// An exact ledger entry.
#[derive(Deserialize)]
struct ExactEntry {
    asked: Exact,
    applied: Exact,
    balance: Exact,
}

/// One page of the ledger, exact.
#[derive(Deserialize)]
struct ExactLedger {
    items: Vec<ExactEntry>,
    total: usize,
}

async fn exact<T: serde::de::DeserializeOwned>(client: &Client, path: &str) -> T {
    let text = client.request(Method::GET, path).send().await.unwrap().text().await.unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The digits of the balance after a change.
async fn balance_after(client: &Client, owner: &str, currency: &str, amount: &str) -> String {
    let body = format!(r#"{{"currency": "{currency}", "amount": {amount}}}"#);
    let path = format!("/api/plugin/economy/{owner}/currencies/modify");
    let response = client.request(Method::POST, &path).body(body).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let text = response.text().await.unwrap();
    serde_json::from_str::<ExactBalance>(&text).unwrap().balance.0.get().to_owned()
}

async fn define(client: &Client, name: &str, bounds: Value) -> Value {
    let answer = client.put(&format!("/api/manage/economy/currencies/{name}"), bounds).await;
    let mut defined = answer.expect(200).clone();
    assert!(defined.as_object_mut().unwrap().remove("revision").is_some());
    defined
}

async fn balances(client: &Client, owner: &str) -> Value {
    client.get(&format!("/api/plugin/economy/{owner}/currencies")).await.expect(200).clone()
}

async fn ledger(client: &Client, owner: &str, query: &str) -> Value {
    client.get(&format!("/api/manage/economy/{owner}/ledger?{query}")).await.expect(200).clone()
}

/// The ranks of a leaderboard, as `rank owner value`.
async fn top(client: &Client, query: &str) -> Vec<String> {
    let board = client.get(&format!("/api/plugin/economy/currencies/leaderboard?{query}")).await.expect(200).clone();
    let entries = board["entries"].as_array().unwrap().iter();
    entries.map(|it| format!("{} {} {}", it["rank"], it["ownerKey"].as_str().unwrap(), it["value"])).collect()
}

fn decimal(value: &Value) -> Decimal {
    value.to_string().parse().unwrap()
}

on_all! {
    async fn a_balance_change_is_in_the_ledger(hub: Hub) {
        let client = hub.network().await;
        let owner = format!("player/{STEVE}");
        assert_eq!(balances(&client, &owner).await, json!([]));
        let changed = modify(&client, "player/069A79F444E94726A5BEFCA90E38AAF5", "coins", "12.5").await;
        let id = changed.expect(200)["ledgerId"].clone();
        assert_eq!(changed.body,
            json!({"currencyName": "coins", "balance": 12.5, "asked": 12.5, "applied": 12.5, "ledgerId": id}));
        hub.advance_ms(10);
        assert_eq!(modify(&client, &owner, "coins", "-20").await.expect(200)["balance"], 0);
        assert_eq!(modify(&client, &owner, "gems", "3").await.expect(200)["balance"], 3);
        let both = json!([{"currencyName": "coins", "balance": 0}, {"currencyName": "gems", "balance": 3}]);
        assert_eq!(balances(&client, &owner).await, both);
        assert_eq!(balances(&client, "player/069A79F444E94726A5BEFCA90E38AAF5").await, both);

        let key = client.get("/api/manage/keys").await.expect(200)["items"][0]["keyId"].clone();
        let booked = ledger(&client, &owner, "").await;
        assert_eq!(booked["total"], 3);
        let mut items = booked["items"].clone();
        assert_eq!(items[2]["id"], id);
        let ids: Vec<_> = items.as_array_mut().unwrap().iter_mut().map(|it| it["id"].take().as_i64().unwrap()).collect();
        assert!(ids.windows(2).all(|pair| pair[0] > pair[1]), "{ids:?}");
        assert_eq!(items, json!([
            {"id": null, "currencyName": "gems", "asked": 3, "applied": 3, "balance": 3, "reason": "test", "keyId": key,
             "at": NOW + 10, "transactionId": null},
            {"id": null, "currencyName": "coins", "asked": -20, "applied": -12.5, "balance": 0, "reason": "test",
             "keyId": key, "at": NOW + 10, "transactionId": null},
            {"id": null, "currencyName": "coins", "asked": 12.5, "applied": 12.5, "balance": 12.5, "reason": "test",
             "keyId": key, "at": NOW, "transactionId": null},
        ]));
        let coins = ledger(&client, &owner, "currency=coins&limit=1&page=1").await;
        assert_eq!((&coins["items"][0]["at"], &coins["total"]), (&json!(NOW), &json!(2)));
        assert_eq!(ledger(&client, &owner, "currency=none").await["total"], 0);
        assert_eq!(ledger(&client, "guild/1", "").await["total"], 0);
    }

    async fn amounts_are_exact(hub: Hub) {
        let client = hub.network().await;
        for (amount, balance) in [
            ("0.1", "0.1"), ("0.2", "0.3"), ("1e3", "1000.3"), ("1.5E-1", "1000.45"), ("-0.0001", "1000.4499"),
            ("-1000.4499", "0"), ("899999999999999.9999", "899999999999999.9999"),
            ("0.0001", "900000000000000"), ("0.0001", "900000000000000"), ("900000000000000", "900000000000000"),
            ("-9e14", "0"), ("-900000000000000", "0"), ("0.00010000", "0.0001"), ("0", "0.0001"), ("-0.0", "0.0001"),
        ] {
            assert_eq!(balance_after(&client, "guild/1", "coins", amount).await, balance, "{amount}");
        }
        for (amount, hint) in [
            ("0.00001", "4 decimal places"), ("1e-5", "4 decimal places"), ("900000000000000.0001", "900 trillion"),
            ("1e300", "900 trillion"), ("1e400", "900 trillion"), ("\"5\"", "must be a number"),
            ("null", "must be a number"), ("true", "must be a number"), ("[1]", "must be a number"), ("NaN", "body"),
        ] {
            let answer = modify(&client, "guild/1", "coins", amount).await;
            answer.expect_error(400, "invalid_request");
            let error = answer.body["error"].as_str().unwrap();
            assert!(error.contains(hint) || error.contains("amount"), "{amount}: {error}");
        }
        let without = client.post("/api/plugin/economy/guild/1/currencies/modify", json!({"currency": "coins"})).await;
        without.expect_error(400, "invalid_request");
        for currency in ["", " ", &"x".repeat(256)] {
            modify(&client, "guild/1", currency, "1").await.expect_error(400, "invalid_request");
        }
        modify(&client, "player/Steve", "coins", "1").await.expect_error(400, "invalid_request");
        client.get("/api/plugin/economy/player/Steve/currencies").await.expect_error(400, "invalid_request");
        client.get("/api/manage/economy/player/Steve/ledger").await.expect_error(400, "invalid_request");
        let reason = json!({"currency": "coins", "amount": 1, "reason": "x".repeat(1025)});
        client.post("/api/plugin/economy/guild/1/currencies/modify", reason).await.expect_error(400, "invalid_request");
    }

    async fn bounds_limit_changes(hub: Hub) {
        let client = hub.network().await;
        let bounds = json!({"minimum": -10, "maximum": 100.5, "startingBalance": 5});
        let defined = json!({"currencyName": "coins", "minimum": -10, "maximum": 100.5, "startingBalance": 5});
        assert_eq!(define(&client, "coins", bounds).await, defined);
        assert_eq!(balance_after(&client, "guild/1", "coins", "1").await, "6");
        assert_eq!(balance_after(&client, "guild/1", "coins", "900000000000000").await, "100.5");
        assert_eq!(balance_after(&client, "guild/1", "coins", "-900000000000000").await, "-10");
        let applied: Vec<_> = ledger(&client, "guild/1", "").await["items"].as_array().unwrap().iter()
            .map(|entry| entry["applied"].clone()).collect();
        assert_eq!(applied, [json!(-110.5), json!(94.5), json!(1)]);

        // No bounds at all.
        let free = define(&client, "debt", json!({"minimum": null})).await;
        assert_eq!(free, json!({"currencyName": "debt", "minimum": null, "maximum": null, "startingBalance": null}));
        assert_eq!(balance_after(&client, "guild/1", "debt", "-900000000000000").await, "-900000000000000");
        assert_eq!(balance_after(&client, "guild/1", "debt", "-1").await, "-900000000000000");
        // A balance outside new bounds stays until it is changed, which brings it inside.
        define(&client, "debt", json!({"minimum": 899_999_999_999_999_i64})).await;
        assert_eq!(balances(&client, "guild/1").await[1]["balance"], -900_000_000_000_000_i64);
        assert_eq!(balance_after(&client, "guild/1", "debt", "0").await, "899999999999999");
        assert_eq!(ledger(&client, "guild/1", "currency=debt&limit=1").await["items"][0]["applied"],
            1_799_999_999_999_999_i64);
        // Without a starting balance, a balance opens at the allowed value nearest to 0.
        define(&client, "above", json!({"minimum": 7})).await;
        define(&client, "below", json!({"maximum": -7})).await;
        assert_eq!(balance_after(&client, "guild/2", "above", "1").await, "8");
        assert_eq!(balance_after(&client, "guild/2", "below", "-1").await, "-8");

        for (wrong, hint) in [
            (json!({"minimum": 2, "maximum": 1}), "`maximum`"),
            (json!({"minimum": 2, "startingBalance": 1}), "`startingBalance`"),
            (json!({"maximum": 2, "startingBalance": 3}), "`startingBalance`"),
            (json!({"minimum": 0.00001}), "4 decimal places"),
            (json!({"minimum": "0"}), "must be a number"),
            (json!({"maximum": 1e15}), "900 trillion"),
        ] {
            let answer = client.put("/api/manage/economy/currencies/x", wrong.clone()).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(hint), "{wrong}: {}", answer.body);
        }
        client.put("/api/manage/economy/currencies/%20", json!({})).await.expect_error(400, "invalid_request");
    }

    async fn currencies_are_listed_and_balances_opened(hub: Hub) {
        let client = hub.network().await;
        define(&client, "coins", json!({"minimum": 0, "startingBalance": 100})).await;
        define(&client, "a%20b", json!({})).await;
        modify(&client, "guild/1", "used", "1").await.expect(200);
        let mut page = client.get("/api/manage/economy/currencies").await.expect(200).clone();
        for item in page["items"].as_array_mut().unwrap() {
            assert!(item.as_object_mut().unwrap().remove("revision").is_some());
        }
        assert_eq!(page, json!({
            "items": [
                {"currencyName": "a b", "minimum": null, "maximum": null, "startingBalance": null},
                {"currencyName": "coins", "minimum": 0, "maximum": null, "startingBalance": 100},
                {"currencyName": "used", "minimum": 0, "maximum": null, "startingBalance": null},
            ],
            "page": 0, "limit": 50, "total": 3,
        }));
        let page = client.get("/api/manage/economy/currencies?limit=1&page=1").await.expect(200).clone();
        assert_eq!((&page["items"][0]["currencyName"], &page["total"]), (&json!("coins"), &json!(3)));
        // Owners without transactions are listed with the starting balance, and not ranked.
        assert_eq!(balances(&client, "guild/1").await, json!([
            {"currencyName": "coins", "balance": 100}, {"currencyName": "used", "balance": 1},
        ]));
        assert_eq!(top(&client, "currency=coins&ownerType=guild").await, [""; 0]);
        assert_eq!(balance_after(&client, "guild/1", "coins", "-1").await, "99");
        assert_eq!(balances(&client, "guild/1").await[0]["balance"], 99);
        assert_eq!(top(&client, "currency=coins&ownerType=guild").await, ["1 1 99"]);
        // Another network has its own.
        let other = hub.network().await;
        assert_eq!(other.get("/api/manage/economy/currencies").await.expect(200)["total"], 0);
        assert_eq!(balances(&other, "guild/1").await, json!([]));
        assert_eq!(ledger(&other, "guild/1", "").await["total"], 0);
        assert_eq!(top(&other, "currency=coins&ownerType=guild").await, [""; 0]);
        assert_eq!(balance_after(&other, "guild/1", "coins", "1").await, "1");
    }

    async fn equal_balances_rank_in_the_order_they_were_reached(hub: Hub) {
        let client = hub.network().await;
        for (owner, amount) in [("c", "5"), ("a", "7"), ("b", "5"), ("d", "-0"), ("a", "-2"), ("e", "6.5")] {
            modify(&client, &format!("guild/{owner}"), "coins", amount).await.expect(200);
        }
        assert_eq!(top(&client, "currency=coins&ownerType=guild").await,
            ["1 e 6.5", "2 c 5", "3 b 5", "4 a 5", "5 d 0"]);
        // A change by 0 keeps the rank; one there and back loses it.
        modify(&client, "guild/c", "coins", "0").await.expect(200);
        assert_eq!(top(&client, "currency=coins&ownerType=guild&limit=3").await, ["1 e 6.5", "2 c 5", "3 b 5"]);
        modify(&client, "guild/c", "coins", "1").await.expect(200);
        modify(&client, "guild/c", "coins", "-1").await.expect(200);
        assert_eq!(top(&client, "currency=coins&ownerType=guild&limit=4").await,
            ["1 e 6.5", "2 b 5", "3 a 5", "4 c 5"]);

        for player in 1..=12 {
            modify(&client, &format!("player/{}", uuid(player)), "coins", &player.to_string()).await.expect(200);
        }
        let board = client.get("/api/plugin/economy/currencies/leaderboard?currency=coins").await.expect(200).clone();
        assert_eq!((&board["ownerType"], &board["currencyName"]), (&json!("player"), &json!("coins")));
        assert_eq!(board["entries"].as_array().unwrap().len(), 10);
        assert_eq!(board["entries"][0], json!({"rank": 1, "ownerKey": uuid(12), "value": 12}));
        assert_eq!(top(&client, "currency=coins&limit=1000").await.len(), 12);
        assert_eq!(top(&client, "currency=none").await, [""; 0]);
        for wrong in ["", "currency=", "currency=coins&limit=0", "currency=coins&limit=x"] {
            let path = format!("/api/plugin/economy/currencies/leaderboard?{wrong}");
            client.get(&path).await.expect_error(400, "invalid_request");
        }
    }

    async fn concurrent_changes_lose_nothing(hub: Hub) {
        let client = hub.network().await;
        // Including the first, which creates the currency and opens the balance.
        let changes = (0..40).map(|at| {
            let client = client.clone();
            tokio::spawn(async move { modify(&client, "guild/1", "coins", if at % 4 == 0 { "-0.5" } else { "1" }).await })
        });
        for change in changes.collect::<Vec<_>>() {
            change.await.unwrap().expect(200);
        }
        let booked = ledger(&client, "guild/1", "limit=200").await;
        assert_eq!(booked["total"], 40);
        let sum: Decimal = booked["items"].as_array().unwrap().iter().map(|it| decimal(&it["applied"])).sum();
        assert_eq!(decimal(&balances(&client, "guild/1").await[0]["balance"]), sum);
        // Of concurrent withdrawals only those that find a balance of 0 are cut.
        assert!(sum >= Decimal::from(25) && sum <= Decimal::from(30), "{sum}");
    }

    async fn a_retried_change_is_made_once(hub: Hub) {
        let client = hub.network().await;
        for _ in 0..3 {
            let body = json!({"currency": "coins", "amount": 5});
            let request = client.request(Method::POST, "/api/plugin/economy/guild/1/currencies/modify");
            let changed = client.send(request.header("Idempotency-Key", "sale-1").json(&body)).await;
            let id = changed.expect(200)["ledgerId"].clone();
            assert_eq!(changed.body,
                json!({"currencyName": "coins", "balance": 5, "asked": 5, "applied": 5, "ledgerId": id}));
        }
        assert_eq!(ledger(&client, "guild/1", "").await["total"], 1);
    }

    async fn the_ledger_always_adds_up(hub: Hub) {
        let client = hub.network().await;
        let mut runner = TestRunner::deterministic();
        let amount = || prop_oneof![
            -2_000_000_i64..2_000_000,
            Just(9_000_000_000_000_000_000), Just(-9_000_000_000_000_000_000), Just(0),
        ];
        let case = (
            prop::option::of(-1_000_000_i64..1_000_000),
            prop::option::of(0_i64..2_000_000),
            prop::collection::vec(amount(), 1..16),
        );
        for number in 0..12 {
            let (minimum, room, amounts) = case.new_tree(&mut runner).unwrap().current();
            let maximum = room.map(|room| minimum.unwrap_or(-5) + room);
            let exact_of = |it: i64| Decimal::new(it, 4);
            let written = |it: Option<i64>| it.map(|it| {
                serde_json::from_str::<Value>(&exact_of(it).normalize().to_string()).unwrap()
            });
            let currency = format!("c{number}");
            define(&client, &currency, json!({"minimum": written(minimum), "maximum": written(maximum)})).await;
            let least = exact_of(minimum.unwrap_or(-9_000_000_000_000_000_000));
            let most = exact_of(maximum.unwrap_or(9_000_000_000_000_000_000));
            let changes = amounts.iter().map(|amount| {
                let (client, currency, amount) = (client.clone(), currency.clone(), exact_of(*amount).to_string());
                tokio::spawn(async move { balance_after(&client, "guild/1", &currency, &amount).await })
            });
            for change in changes.collect::<Vec<_>>() {
                let balance: Decimal = change.await.unwrap().parse().unwrap();
                assert!(least <= balance && balance <= most, "{balance} is not from {least} to {most}");
            }
            let path = format!("/api/manage/economy/guild/1/ledger?currency={currency}&limit=200");
            let booked: ExactLedger = exact(&client, &path).await;
            assert_eq!((booked.items.len(), booked.total), (amounts.len(), amounts.len()));
            let mut balance = Decimal::ZERO.clamp(least, most);
            for entry in booked.items.iter().rev() {
                let expected = (balance + entry.asked.decimal()).clamp(least, most);
                assert_eq!(entry.balance.decimal(), expected);
                assert_eq!(entry.applied.decimal(), expected - balance);
                balance = expected;
            }
            let now: Vec<ExactBalance> = exact(&client, "/api/plugin/economy/guild/1/currencies").await;
            let now = now.iter().find(|it| it.currency_name == currency).unwrap();
            assert_eq!(now.balance.decimal(), balance);
        }
    }
}
