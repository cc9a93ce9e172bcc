//! Hubs that are killed while they send to webhooks.

use hub_db::Db;
use reqwest::Method;
use serde_json::json;
use tokio::task::JoinHandle;

use super::receiver::{Received, Reply};
use super::{add, receiver};
use crate::cli::Installation;
use crate::support::{Backend, Client, Hub, on_each};

/// Deliveries that are awaited before a kill, so that others still wait.
const DELIVERED: usize = 5;

fn number_of(request: &Received) -> u64 {
    request.body["data"]["namespace"].as_str().unwrap().parse().unwrap()
}

/// Changes configuration; returns true if the hub acknowledged it.
async fn publish(owner: &Client, number: u64) -> bool {
    let body = json!({"group": "g", "namespace": number.to_string(), "doc": 1});
    let request = owner.request(Method::POST, "/api/plugin/config/publish").json(&body);
    request.send().await.is_ok_and(|answer| answer.status() == 200)
}

/// Makes changes from `first` on until the hub is gone; returns the number of the first unacknowledged one.
fn publish_until_killed(owner: Client, first: u64) -> JoinHandle<u64> {
    tokio::spawn(async move {
        let mut number = first;
        while publish(&owner, number).await {
            number += 1;
        }
        number
    })
}

/// Every event of an acknowledged change arrives at least once and in order, at whatever point the hub was killed.
async fn kills_lose_and_reorder_no_event(backend: Backend) {
    const KILLS: usize = 2;

    let installation = Installation::new(backend);
    let key =
        installation.json(&["admin", "network", "create", "mine", "--json"])["apiKey"].as_str().unwrap().to_owned();
    let serve = || installation.serve_with_options(&["--webhook-networks", "127.0.0.2/32"]);
    let receiver = receiver().await;
    // Slower than changes are made, so that each kill finds queued events, and one on its way.
    receiver.always(Reply::Late(std::time::Duration::from_millis(20)));
    let newest = || receiver.answered().last().map(number_of);
    let mut hub = serve();
    let (_, secret) = add(&hub.client(&key), &receiver.url(), &["CONFIG_UPDATED"]).await;
    let (mut next, mut unacknowledged) = (0, vec![]);
    for kill in 0..=KILLS {
        let before = receiver.count();
        assert!(publish(&hub.client(&key), next).await);
        Hub::eventually("it goes on", async || receiver.count() > before).await;
        Hub::eventually("all arrive", async || newest() == Some(next)).await;
        next += 1;
        if kill == KILLS {
            break;
        }
        let before = receiver.count();
        let publishing = publish_until_killed(hub.client(&key), next);
        Hub::eventually("some arrive", async || receiver.count() >= before + DELIVERED).await;
        installation.kill(&mut hub).await;
        let last = publishing.await.unwrap();
        assert!(newest() < Some(last - 1), "nothing waited");
        // It may be committed or not.
        unacknowledged.push(last);
        next = last + 1;
        // The webhook is not tried before the claim of the killed process has ended, for which the last one waits.
        if kill + 1 < KILLS {
            let db = Db::connect(&installation.settings.database()).await.unwrap();
            db.write("UPDATE webhooks SET next_attempt_at = 0").execute().await.unwrap();
            db.close().await;
        }
        hub = serve();
    }
    // A receiver may have ignored requests that it did not answer.
    let numbers: Vec<_> = receiver.answered().iter().map(number_of).collect();
    assert!(numbers.is_sorted(), "out of order: {numbers:?}");
    let received = receiver.received();
    assert!(received.is_sorted_by_key(number_of));
    let is_missing = |number: &u64| !unacknowledged.contains(number) && numbers.binary_search(number).is_err();
    let missing: Vec<_> = (0..next).filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:?} never arrived");
    // Deliveries under way arrive twice, under one id.
    let repeated: Vec<_> = received.windows(2).filter(|pair| number_of(&pair[0]) == number_of(&pair[1])).collect();
    assert!(repeated.len() <= KILLS, "{numbers:?}");
    assert!(repeated.iter().all(|pair| pair[0].header("webhook-id") == pair[1].header("webhook-id")));
    assert!(received.iter().all(|request| request.signatures_of(&secret) == 1));
}

on_each! { kills_lose_and_reorder_no_event }
