//! Payments: with an `Idempotency-Key` each is made once, without one as often as acknowledged.

use std::collections::HashMap;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{At, Client, Effect, Reply};
use super::report::{Check, Checked, Violation};
use super::run::Stop;

pub const LOAD: &str = "money";
/// Account of payments with keys, by a client that repeats until it is answered.
const KEYED: &str = "/economy/team/keyed";
/// Account of payments without keys.
const PLAIN: &str = "/economy/team/plain";

#[derive(Debug)]
struct Payment {
    reason: String,
    sent: At,
    answered: At,
    effect: Effect,
    /// Balance in the answer.
    balance: Option<f64>,
}

/// A row of the ledger.
#[derive(Clone, Debug)]
struct Row {
    id: i64,
    reason: String,
    applied: f64,
    balance: f64,
}

/// Pays until it is stopped, then checks both accounts.
pub async fn run(client: Client, stop: Stop) -> Check {
    let (keyed, plain) = tokio::join!(pay(&client, KEYED, true, &stop), pay(&client, PLAIN, false, &stop));
    Box::pin(async move {
        let mut checked = Checked::default();
        for (account, mut payments) in [(KEYED, keyed), (PLAIN, plain)] {
            let (rows, balance) = (ledger(&client, account).await, balance(&client, account).await);
            checked.size += payments.len();
            let done = payments.iter().filter(|payment| payment.effect == Effect::Done);
            checked.done.extend(done.map(|payment| payment.sent));
            for payment in &mut payments {
                payment.effect = payment.effect.unless(client.recorder.is_lost(payment.sent, payment.answered));
            }
            checked.violations.extend(check(client.network, &payments, &rows, balance));
        }
        checked
    })
}

async fn pay(client: &Client, account: &str, with_key: bool, stop: &Stop) -> Vec<Payment> {
    let path = format!("/api/plugin{account}/currencies/modify");
    let mut payments = vec![];
    while !stop.is_set() {
        let number = payments.len();
        let reason = format!("{}-{number}", if with_key { "keyed" } else { "plain" });
        let body = json!({"currency": "coins", "amount": 1 + number % 3, "reason": reason});
        let reply = if with_key {
            client.send_until_answered(Method::POST, &path, Some(&body), Some(&reason)).await
        } else {
            client.post(&path, &body).await
        };
        let balance = reply.body["balance"].as_f64().filter(|_| reply.is_success());
        let Reply { sent, answered, .. } = reply;
        payments.push(Payment { reason, sent, answered, effect: reply.effect(), balance });
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    payments
}

async fn ledger(client: &Client, account: &str) -> Vec<Row> {
    let (mut rows, mut page) = (vec![], 0);
    loop {
        let path = format!("/api/manage{account}/ledger?limit=200&page={page}");
        let reply = client.send_until_answered(Method::GET, &path, None, None).await;
        let items = reply.body["items"].as_array().cloned().unwrap_or_default();
        if items.is_empty() {
            rows.sort_by_key(|row: &Row| row.id);
            return rows;
        }
        let number = |item: &Value, name: &str| item[name].as_f64().unwrap();
        rows.extend(items.iter().map(|item| Row {
            id: item["id"].as_i64().unwrap(),
            reason: item["reason"].as_str().unwrap().to_owned(),
            applied: number(item, "applied"),
            balance: number(item, "balance"),
        }));
        page += 1;
    }
}

async fn balance(client: &Client, account: &str) -> f64 {
    let path = format!("/api/plugin{account}/currencies");
    let reply = client.send_until_answered(Method::GET, &path, None, None).await;
    reply.body[0]["balance"].as_f64().unwrap_or_default()
}

fn check(network: usize, payments: &[Payment], rows: &[Row], balance: f64) -> Vec<Violation> {
    let mut violations = vec![];
    let mut violate = |at: At, what: String| violations.push(Violation { network, load: LOAD, at, what });
    let mut booked = HashMap::<_, Vec<&Row>>::new();
    for row in rows {
        booked.entry(row.reason.as_str()).or_default().push(row);
    }
    for payment in payments {
        let Payment { reason, sent, effect, .. } = payment;
        let rows = booked.get(reason.as_str()).map(Vec::as_slice).unwrap_or_default();
        match (effect, rows) {
            (Effect::Done, []) => violate(*sent, format!("An acknowledged payment is lost: {reason}")),
            (_, [_, _, ..]) => violate(*sent, format!("A payment was made {} times: {reason}", rows.len())),
            (Effect::None, [_]) => violate(*sent, format!("A refused payment was made: {reason}")),
            (Effect::Done, [row]) if payment.balance.is_some_and(|balance| balance != row.balance) => {
                violate(*sent, format!("The answer and the ledger differ: {payment:?}, {row:?}"));
            }
            _ => {}
        }
    }
    let end = payments.last().map(|payment| payment.sent).unwrap_or_default();
    let mut sum = 0.0;
    for row in rows {
        sum += row.applied;
        if row.balance != sum {
            violate(end, format!("The ledger does not add up: {row:?}, the sum is {sum}"));
            sum = row.balance;
        }
    }
    if balance != sum {
        violate(end, format!("The balance is not that of the ledger: {balance}, {sum}"));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payment(reason: &str, effect: Effect) -> Payment {
        Payment { reason: reason.to_owned(), sent: At::ZERO, answered: At::ZERO, effect, balance: None }
    }

    fn row(id: i64, reason: &str, balance: f64) -> Row {
        Row { id, reason: reason.to_owned(), applied: 1.0, balance }
    }

    #[test]
    fn wrong_books_are_noticed() {
        let found = |payments: &[Payment], rows: &[Row], balance| {
            let violations = check(0, payments, rows, balance).into_iter();
            violations.map(|violation| violation.what.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let done = [payment("a", Effect::Done), payment("b", Effect::Unknown), payment("c", Effect::None)];
        assert!(found(&done, &[row(1, "a", 1.0)], 1.0).is_empty());
        assert!(found(&done, &[row(1, "b", 1.0), row(2, "a", 2.0)], 2.0).is_empty());
        assert_eq!(found(&done, &[row(1, "b", 1.0)], 1.0), ["An acknowledged payment is lost"]);
        assert_eq!(found(&done, &[row(1, "a", 1.0), row(2, "a", 2.0)], 2.0), ["A payment was made 2 times"]);
        assert_eq!(found(&done, &[row(1, "a", 1.0), row(2, "c", 2.0)], 2.0), ["A refused payment was made"]);
        assert_eq!(found(&done, &[row(1, "a", 1.0), row(2, "b", 1.0)], 1.0), ["The ledger does not add up"]);
        assert_eq!(found(&done, &[row(1, "a", 1.0)], 2.0), ["The balance is not that of the ledger"]);
        let answered = [Payment { balance: Some(5.0), ..payment("a", Effect::Done) }];
        assert_eq!(found(&answered, &[row(1, "a", 1.0)], 1.0), ["The answer and the ledger differ"]);
    }
}
