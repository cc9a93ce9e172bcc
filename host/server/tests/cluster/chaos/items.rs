//! Purchases that a player session saves with the items: however calls are lost and repeated, the player has as many
//! items as deliveries were delivered, and fences rise.

use std::collections::HashMap;
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::client::{At, Client, Effect, uuid};
use super::report::{Check, Checked, Violation};
use super::run::Stop;
use super::worlds;

pub const LOAD: &str = "items";
const PLAYER: usize = 777;
/// Maximum time of a request.
const LATEST: Duration = Duration::from_secs(20);

/// A purchase, by its reference.
#[derive(Clone, Debug)]
struct Purchase {
    reference: String,
    sent: At,
    effect: Effect,
}

#[derive(Default)]
struct History {
    purchases: Vec<Purchase>,
    /// Fences of sessions, in the order of their openings.
    fences: Vec<(At, i64)>,
    /// Times of acknowledged saves.
    saved: Vec<At>,
}

/// Buys and delivers until it is stopped, then counts.
pub async fn run(client: Client, stop: Stop) -> Check {
    let mut history = History::default();
    while !stop.is_set() {
        let number = history.purchases.len();
        let reference = format!("order-{number}");
        let body = json!({"playerUuid": uuid(PLAYER), "kind": "item", "reference": reference, "onLost": "RETRY"});
        let reply = client.post("/api/plugin/deliveries", &body).await;
        let effect = reply.effect().unless(client.recorder.is_lost(reply.sent, reply.answered));
        history.purchases.push(Purchase { reference, sent: reply.sent, effect });
        deliver(&client, number, &mut history).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    Box::pin(async move {
        for purchase in &mut history.purchases {
            // The database may have gone back since.
            purchase.effect = purchase.effect.unless(client.recorder.is_lost(purchase.sent, purchase.sent + LATEST));
        }
        let path = format!("/api/plugin/players/{}/data/global/items", uuid(PLAYER));
        let items = read(&client.send_until_answered(Method::GET, &path, None, None).await.body["data"]);
        let stored = deliveries(&client).await;
        let (size, violations) = (history.purchases.len(), check(client.network, &history, &stored, items));
        Checked { size, done: history.saved, violations, ..Checked::default() }
    })
}

/// Opens a session, claims a delivery and saves the player's items with it; some calls may fail.
async fn deliver(client: &Client, number: usize, history: &mut History) -> Option<()> {
    let join = json!({"serverId": worlds::NODE, "playerUuid": uuid(PLAYER), "playerName": "buyer"});
    client.post("/api/plugin/servers/players", &join).await;
    let session = format!("/api/plugin/players/{}/session", uuid(PLAYER));
    let opened = client.post(&session, &json!({"serverId": worlds::NODE, "waitMs": 2_000})).await;
    let fence = opened.body["fence"].as_i64()?;
    history.fences.push((opened.sent, fence));
    let namespaces = opened.body["profile"]["namespaces"].as_array().cloned().unwrap_or_default();
    let items = namespaces.iter().find(|it| it["namespace"] == "items").map_or(0, |it| read(&it["data"]));
    let list = format!("/api/plugin/deliveries?serverId={}&playerUuid={}", worlds::NODE, uuid(PLAYER));
    let id = client.get(&list).await.body["items"][0]["deliveryId"].as_i64()?;
    let path = format!("/api/plugin/deliveries/{id}/claim");
    let key = format!("claim-{number}-{id}");
    let body = json!({"serverId": worlds::NODE});
    let claimed = client.send_until_answered(Method::POST, &path, Some(&body), Some(&key)).await;
    let claim = claimed.body["claim"].as_str()?.to_owned();
    let save = json!({"data": [{"namespace": "items", "data": (items + 1).to_string()}], "complete": [claim]});
    let path = format!("{session}/{fence}");
    // The same body again has no second effect.
    let saved = client.send_until_answered(Method::PUT, &path, Some(&save), None).await;
    history.saved.extend(saved.is_success().then_some(saved.answered));
    Some(())
}

fn read(data: &Value) -> i64 {
    data.as_str().and_then(|data| data.parse().ok()).unwrap_or_default()
}

/// Reference and state of each of the player's deliveries.
async fn deliveries(client: &Client) -> Vec<(String, String)> {
    let mut all = vec![];
    for page in 0.. {
        let path = format!("/api/manage/deliveries?playerUuid={}&limit=200&page={page}", uuid(PLAYER));
        let reply = client.send_until_answered(Method::GET, &path, None, None).await;
        let items = reply.body["items"].as_array().cloned().unwrap_or_default();
        if items.is_empty() {
            break;
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        all.extend(items.iter().map(|item| (text(&item["reference"]), text(&item["state"]))));
    }
    all
}

fn check(network: usize, history: &History, stored: &[(String, String)], items: i64) -> Vec<Violation> {
    let mut violations = vec![];
    let mut violate = |at: At, what: String| violations.push(Violation { network, load: LOAD, at, what });
    let mut times = HashMap::<&str, usize>::new();
    for (reference, _) in stored {
        *times.entry(reference).or_default() += 1;
    }
    for Purchase { reference, sent, effect } in &history.purchases {
        match (effect, times.get(reference.as_str()).copied().unwrap_or_default()) {
            (Effect::Done, 0) => violate(*sent, format!("An acknowledged purchase is lost: {reference}")),
            (Effect::None, 1..) => violate(*sent, format!("A refused purchase was made: {reference}")),
            (_, 2..) => violate(*sent, format!("A purchase was made twice: {reference}")),
            _ => {}
        }
    }
    for pair in history.fences.windows(2).filter(|pair| pair[1].1 <= pair[0].1) {
        violate(pair[1].0, format!("A fence of a session does not rise: {} after {}", pair[1].1, pair[0].1));
    }
    let delivered = stored.iter().filter(|(_, state)| state == "DELIVERED").count();
    if items != delivered as i64 {
        let end = history.purchases.last().map(|purchase| purchase.sent).unwrap_or_default();
        violate(end, format!("Items and deliveries differ: {items} items of {delivered}"));
    }
    violations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_and_doubled_purchases_are_noticed() {
        let found = |effect, stored: &[&str], fences: &[i64], items| {
            let purchases = vec![Purchase { reference: "order-0".to_owned(), sent: At::ZERO, effect }];
            let fences = fences.iter().map(|fence| (At::ZERO, *fence)).collect();
            let history = History { purchases, fences, saved: vec![] };
            let stored: Vec<_> = stored.iter().map(|state| ("order-0".to_owned(), (*state).to_owned())).collect();
            let violations = check(0, &history, &stored, items).into_iter();
            violations.map(|violation| violation.what.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(found(Effect::Done, &["DELIVERED"], &[1, 2, 5], 1).is_empty());
        assert!(found(Effect::Unknown, &[], &[], 0).is_empty());
        assert_eq!(found(Effect::Done, &[], &[], 0), ["An acknowledged purchase is lost"]);
        assert_eq!(found(Effect::None, &["PENDING"], &[], 0), ["A refused purchase was made"]);
        assert_eq!(found(Effect::Done, &["PENDING", "HELD"], &[], 0), ["A purchase was made twice"]);
        assert_eq!(found(Effect::Done, &["PENDING"], &[2, 2], 0), ["A fence of a session does not rise"]);
        assert_eq!(found(Effect::Done, &["DELIVERED"], &[], 2), ["Items and deliveries differ"]);
    }
}
