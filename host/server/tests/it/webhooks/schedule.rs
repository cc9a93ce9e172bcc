//! Times of retries, and the end of retrying.

use std::time::Duration;

use serde_json::{Value, json};

use super::receiver::Reply;
use super::{WEBHOOKS, add, deliveries, expect_idle, expect_requests, get, publish, receiver};
use crate::people;
use crate::support::{Client, Hub, NOW, on_each};

const HOUR: i64 = 3_600_000;
/// The pauses in milliseconds, each a tenth longer or shorter.
const PAUSES: [i64; 7] = [5_000, 30_000, 120_000, 600_000, 1_800_000, HOUR, HOUR];

on_each! {
    every_event_arrives_in_order_within_the_schedule(crate::webhooks::start)
    a_dead_receiver_is_given_up_after_a_day_and_disabled_after_five(crate::webhooks::start)
    a_webhook_that_answers_gone_is_disabled(crate::webhooks::start)
}

/// Interval of the hub's checks for due deliveries.
const POLL: i64 = 1_000;

/// Moves the clock to the webhook's next attempt, and far enough for it to be made; returns the time until then.
async fn advance_to_next(hub: &Hub, owner: &Client, id: &str) -> i64 {
    let now = hub.app.clock.now();
    let next = get(owner, id).await["nextAttemptAt"].as_i64().unwrap();
    hub.advance_ms(u64::try_from(next - now + POLL).unwrap());
    next - now
}

async fn failures(owner: &Client, id: &str) -> i64 {
    get(owner, id).await["failures"].as_i64().unwrap()
}

/// A receiver that fails, hangs, redirects and answers late.
async fn every_event_arrives_in_order_within_the_schedule(hub: Hub) {
    let (owner, receiver, elsewhere) = (hub.network().await, receiver().await, receiver().await);
    receiver.will([
        Reply::Status(500),
        Reply::Hang,
        Reply::With(301, "location", elsewhere.url()),
        Reply::Late(Duration::from_millis(1_500)),
        Reply::Status(404),
        Reply::With(200, "x", "y".to_owned()),
        Reply::With(503, "retry-after", "2400".to_owned()),
        Reply::Status(204),
    ]);
    let (id, _) = add(&owner, &receiver.url(), &["CONFIG_UPDATED"]).await;
    for namespace in ["a", "b", "c", "d"] {
        publish(&owner, namespace).await;
    }
    for (attempt, pause) in PAUSES[..5].iter().enumerate() {
        Hub::eventually("it fails", async || failures(&owner, &id).await == attempt as i64 + 1).await;
        assert_eq!(receiver.count(), attempt + 1, "nothing overtakes what failed");
        // No attempt is made before its time.
        hub.advance_ms(4_000);
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(receiver.count(), attempt + 1);
        let waited = advance_to_next(&hub, &owner, &id).await + 4_000;
        assert!((pause - pause / 10..=pause + pause / 10).contains(&waited), "{attempt}: {waited}");
    }
    // `a` arrives, `b` is delayed by the receiver's request.
    Hub::eventually("the second fails", async || failures(&owner, &id).await == 1 && receiver.count() == 7).await;
    assert_eq!(advance_to_next(&hub, &owner, &id).await, 2_400_000);
    expect_idle(&owner, &id).await;
    expect_requests(&receiver, 10).await;
    let namespaces = receiver.fields("namespace");
    assert_eq!(namespaces, ["a", "a", "a", "a", "a", "a", "b", "b", "c", "d"]);
    assert_eq!(elsewhere.count(), 0);
    let received = receiver.received();
    assert!(received[..6].iter().all(|it| it.header("webhook-id") == received[0].header("webhook-id")));
    assert!(received[..6].iter().all(|it| it.text == received[0].text));
    assert_ne!(received[0].header("webhook-timestamp"), received[5].header("webhook-timestamp"));
    let log = deliveries(&owner, &id).await;
    let attempts: Vec<_> = log.iter().map(|it| it["attempts"].as_i64().unwrap()).collect();
    assert_eq!(attempts, [1, 1, 2, 6]);
    assert!(log.iter().all(|it| it["state"] == "DELIVERED"));
    assert_eq!(get(&owner, &id).await["failingSince"], Value::Null);
}

async fn a_dead_receiver_is_given_up_after_a_day_and_disabled_after_five(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    owner.post("/api/manage/people", json!({"email": "alex@example.org", "role": "OWNER"})).await.expect(201);
    people::accept(&hub, "alex@example.org").await;
    receiver.always(Reply::Status(500));
    let (id, _) = add(&owner, &receiver.url(), &["CONFIG_UPDATED"]).await;
    publish(&owner, "first").await;
    let mut attempts = 0;
    while get(&owner, &id).await["waiting"] != 0 || attempts == 0 {
        attempts += 1;
        Hub::eventually("it is tried", async || failures(&owner, &id).await == attempts).await;
        if get(&owner, &id).await["waiting"] == 1 {
            advance_to_next(&hub, &owner, &id).await;
        }
    }
    let log = deliveries(&owner, &id).await;
    assert_eq!(
        (&log[0]["state"], &log[0]["attempts"], &log[0]["status"]),
        (&json!("FAILED"), &json!(attempts), &json!(500))
    );
    let took = hub.app.clock.now() - NOW;
    assert!((24 * HOUR..26 * HOUR).contains(&took), "{took}");
    assert!((25..35).contains(&attempts), "{attempts}");
    for day in 2..=5 {
        assert_eq!(get(&owner, &id).await["enabled"], true, "day {day}");
        publish(&owner, &format!("day {day}")).await;
        hub.advance_ms(24 * HOUR.unsigned_abs() + 1_000);
        Hub::eventually("it is tried", async || {
            let webhook = get(&owner, &id).await;
            webhook["disabledReason"].is_string() || webhook["failures"].as_i64().unwrap() > attempts
        })
        .await;
        attempts = failures(&owner, &id).await;
    }
    Hub::eventually("it is disabled", async || get(&owner, &id).await["enabled"] == false).await;
    let disabled = get(&owner, &id).await;
    assert_eq!((&disabled["disabledReason"], &disabled["waiting"]), (&json!("FAILING"), &json!(0)));
    let audit = owner.get("/api/manage/audit?action=webhook.disabled").await.expect(200).clone();
    assert_eq!((&audit["total"], &audit["items"][0]["target"]), (&json!(1), &json!(id)));
    assert_eq!(audit["items"][0]["actor"]["type"], "SYSTEM");
    let mail = hub.app.settings.data.join("outbox");
    Hub::eventually("its owner gets the event", async || {
        let mails = std::fs::read_dir(&mail).unwrap().filter_map(|it| std::fs::read_to_string(it.unwrap().path()).ok());
        mails.filter(|mail| mail.contains("To: alex@example.org") && mail.contains("A webhook is disabled")).count()
            == 1
    })
    .await;
    // A disabled webhook gets nothing, and nothing is queued for it.
    let (count, kept) = (receiver.count(), deliveries(&owner, &id).await.len());
    publish(&owner, "unheard").await;
    let waiting = "SELECT COUNT(*) FROM outbox";
    Hub::eventually("it is announced", async || hub.app.db.query(waiting).one::<(i64,)>().await.unwrap() == (0,)).await;
    owner.post(&format!("{WEBHOOKS}/{id}/test"), json!({})).await.expect_error(409, "webhook_disabled");
    assert_eq!(deliveries(&owner, &id).await.len(), kept);
    // It is repaired, enabled and sent the missed events.
    receiver.always(Reply::Status(200));
    let enabled = owner.patch(&format!("{WEBHOOKS}/{id}"), json!({"enabled": true})).await.expect(200).clone();
    assert_eq!(
        (&enabled["enabled"], &enabled["failures"], &enabled["disabledReason"]),
        (&json!(true), &json!(0), &Value::Null)
    );
    let log = deliveries(&owner, &id).await;
    let first = log.iter().find(|it| it["state"] == "FAILED").unwrap().clone();
    let path = format!("{WEBHOOKS}/{id}/deliveries/{}/resend", first["deliveryId"]);
    let again = owner.post(&path, json!({})).await.expect(201).clone();
    assert_eq!(again["messageId"], first["messageId"]);
    expect_requests(&receiver, count + 1).await;
    assert_eq!(receiver.received().pop().unwrap().header("webhook-id"), first["messageId"].as_str().unwrap());
}

async fn a_webhook_that_answers_gone_is_disabled(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    let (id, _) = add(&owner, &receiver.url(), &["CONFIG_UPDATED"]).await;
    receiver.always(Reply::Status(410));
    for namespace in ["a", "b", "c"] {
        publish(&owner, namespace).await;
    }
    Hub::eventually("it is disabled", async || get(&owner, &id).await["disabledReason"] == "GONE").await;
    assert_eq!(receiver.count(), 1);
    Hub::eventually("nothing waits", async || deliveries(&owner, &id).await.iter().all(|it| it["state"] == "FAILED"))
        .await;
}
