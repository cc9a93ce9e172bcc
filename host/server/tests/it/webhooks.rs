//! Webhooks: deliveries, retries, and forbidden targets.

mod addresses;
mod discord;
mod kills;
mod listen;
mod manage;
pub mod receiver;
mod samples;
mod schedule;
mod subjects;

use hub::limits::Limit;
use serde_json::{Value, json};

use crate::support::{Backend, Client, Hub, NOW, on_each};
use receiver::{Receiver, Reply};

const WEBHOOKS: &str = "/api/manage/webhooks";

/// A hub that may send to 127.0.0.2, and gives up a request after a second.
pub async fn start(backend: Backend) -> Hub {
    start_with(backend, &[]).await
}

async fn start_with(backend: Backend, bounds: &[(Limit, i64)]) -> Hub {
    Hub::start_with(backend, |settings| {
        settings.webhook_networks = vec!["127.0.0.2/32".parse().unwrap()];
        settings.webhooks.timeout = std::time::Duration::from_secs(1);
        settings.limits = bounds.iter().fold(settings.limits.clone(), |all, (limit, bound)| all.with(*limit, *bound));
    })
    .await
}

pub async fn receiver() -> Receiver {
    Receiver::start("127.0.0.2:0").await
}

/// Creates a webhook; returns its id and secret.
pub async fn add(owner: &Client, url: &str, events: &[&str]) -> (String, String) {
    let made = owner.post(WEBHOOKS, json!({"url": url, "events": events})).await.expect(201).clone();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("webhookId"), text("secret"))
}

/// Makes a change that an event `CONFIG_UPDATED` reports.
pub async fn publish(owner: &Client, namespace: &str) {
    let doc = json!({"group": "g", "namespace": namespace, "doc": 1});
    owner.post("/api/plugin/config/publish", doc).await.expect(200);
}

async fn get(owner: &Client, id: &str) -> Value {
    owner.get(&format!("{WEBHOOKS}/{id}")).await.expect(200).clone()
}

async fn deliveries(owner: &Client, id: &str) -> Vec<Value> {
    let list = owner.get(&format!("{WEBHOOKS}/{id}/deliveries?limit=200")).await.expect(200).clone();
    list["items"].as_array().unwrap().clone()
}

/// Waits until the receiver has got that many requests.
async fn expect_requests(receiver: &Receiver, count: usize) {
    Hub::eventually("the requests arrive", async || receiver.count() >= count).await;
    assert_eq!(receiver.count(), count);
}

/// Waits until the webhook has no queued events.
async fn expect_idle(owner: &Client, id: &str) {
    Hub::eventually("nothing waits", async || get(owner, id).await["waiting"] == 0).await;
}

on_each! {
    events_arrive_signed_and_in_order(crate::webhooks::start)
    only_subscribed_events_arrive(crate::webhooks::start)
    subscriptions_apply_from_the_next_line_of_chat(crate::webhooks::start)
    events_left_by_a_stopped_hub_are_sent_by_the_next(crate::webhooks::start)
}

on_each! { hanging_receiver_does_not_delay_others queued_and_stored_deliveries_are_bounded }

async fn events_arrive_signed_and_in_order(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    let (id, secret) = add(&owner, &receiver.url(), &["CONFIG_UPDATED", "PUNISHMENT"]).await;
    assert!(secret.starts_with("whsec_"));
    for number in 0..60 {
        publish(&owner, &number.to_string()).await;
    }
    let ban = json!({"playerName": "Alex", "type": "BAN"});
    owner.post("/api/plugin/punishments/create-by-name", ban).await.expect(200);
    expect_requests(&receiver, 61).await;
    // The ban is about someone else, and may overtake them.
    let namespaces: Vec<_> = receiver.fields("namespace").into_iter().filter(Value::is_string).collect();
    assert_eq!(namespaces, (0..60).map(|number| json!(number.to_string())).collect::<Vec<_>>());
    let received = receiver.received();
    let mut ids: Vec<_> = received.iter().map(|it| it.header("webhook-id").to_owned()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 61);
    let ban = received.iter().find(|it| it.body["type"] == "PUNISHMENT").unwrap();
    assert_eq!(ban.body["timestamp"], "2027-03-10T12:00:00.000Z");
    assert_eq!(ban.body["data"]["punishment"]["playerName"], "Alex");
    assert_eq!((&ban.body["data"]["at"], ban.header("content-type")), (&json!(NOW), "application/json"));
    for request in &received {
        assert_eq!(request.header("webhook-timestamp"), (NOW / 1_000).to_string());
        assert_eq!(request.signatures_of(&secret), 1);
    }
    expect_idle(&owner, &id).await;
    let log = deliveries(&owner, &id).await;
    assert_eq!(log.len(), 61);
    assert!(log.iter().all(|it| it["state"] == "DELIVERED" && it["attempts"] == 1 && it["status"] == 204), "{log:?}");
    assert_eq!((&log[0]["event"], &log[0]["deliveryId"]), (&json!("PUNISHMENT"), &json!(61)));
    assert_eq!(log[0]["messageId"], ban.header("webhook-id"));
    // The old secret is valid for a while beside the new one.
    let rotated = owner.post(&format!("{WEBHOOKS}/{id}/rotate-secret"), json!({"overlapMs": 60_000})).await;
    let new = rotated.expect(201)["secret"].as_str().unwrap().to_owned();
    assert_eq!(rotated.body["previousSecretUntil"], NOW + 60_000);
    publish(&owner, "rotated").await;
    expect_requests(&receiver, 62).await;
    let request = receiver.received().pop().unwrap();
    assert_eq!((request.signatures_of(&new), request.signatures_of(&secret)), (1, 1));
    hub.advance_ms(60_000);
    publish(&owner, "later").await;
    expect_requests(&receiver, 63).await;
    let request = receiver.received().pop().unwrap();
    assert_eq!((request.signatures_of(&new), request.signatures_of(&secret)), (1, 0));
}

/// Although subscriptions are cached in memory.
async fn subscriptions_apply_from_the_next_line_of_chat(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    let say = async |message: &str| {
        let line =
            json!({"playerUuid": crate::servers::uuid(1), "playerName": "Alex", "message": message, "serverId": "s"});
        owner.post("/api/plugin/chat", line).await.expect(204);
    };
    say("before").await;
    let (id, _) = add(&owner, &receiver.url(), &["CHAT"]).await;
    let path = format!("{WEBHOOKS}/{id}");
    say("subscribed").await;
    owner.patch(&path, json!({"events": ["CONFIG_UPDATED"]})).await.expect(200);
    say("not subscribed").await;
    owner.patch(&path, json!({"events": ["CHAT"]})).await.expect(200);
    say("again").await;
    expect_requests(&receiver, 2).await;
    owner.delete(&path).await.expect(204);
    say("deleted").await;
    add(&owner, &receiver.url(), &["CHAT"]).await;
    say("another").await;
    expect_requests(&receiver, 3).await;
    assert_eq!(receiver.fields("message"), ["subscribed", "again", "another"]);
}

async fn only_subscribed_events_arrive(hub: Hub) {
    let (owner, other, receiver, chats) =
        (hub.network().await, hub.network().await, receiver().await, self::receiver().await);
    // Balance and server events are only sent to subscribers; lines of chat are in no database.
    let events = ["BALANCE_CHANGED", "SERVER_ONLINE"];
    let (id, _) = add(&owner, &receiver.url(), &events).await;
    add(&owner, &chats.url(), &["CHAT"]).await;
    crate::servers::register(&owner, "lobby-1", json!({})).await;
    crate::servers::register(&other, "lobby-2", json!({})).await;
    let modify = json!({"currency": "coins", "amount": 5});
    let path = format!("/api/plugin/economy/player/{}/currencies/modify", crate::servers::uuid(1));
    other.post(&path, modify.clone()).await.expect(200);
    owner.post(&path, modify.clone()).await.expect(200);
    publish(&owner, "not asked for").await;
    for message in ["one", "two"] {
        let line = json!({"playerUuid": crate::servers::uuid(1), "playerName": "p1", "message": message, "serverId": "lobby-1"});
        owner.post("/api/plugin/chat", line).await.expect(204);
    }
    expect_requests(&chats, 2).await;
    assert_eq!(chats.fields("message"), ["one", "two"]);
    hub.advance_ms(2_000);
    expect_requests(&receiver, 2).await;
    let mut types = receiver.fields("type");
    types.sort_by_key(Value::to_string);
    assert_eq!(types, events);
    // It is changed, and disabled.
    owner.patch(&format!("{WEBHOOKS}/{id}"), json!({"events": ["CONFIG_UPDATED"]})).await.expect(200);
    owner.post(&path, modify.clone()).await.expect(200);
    publish(&owner, "asked for").await;
    expect_requests(&receiver, 3).await;
    assert_eq!(receiver.fields("namespace")[2], "asked for");
    owner.patch(&format!("{WEBHOOKS}/{id}"), json!({"enabled": false})).await.expect(200);
    publish(&owner, "while it is disabled").await;
    owner.patch(&format!("{WEBHOOKS}/{id}"), json!({"enabled": true})).await.expect(200);
    publish(&owner, "enabled again").await;
    Hub::eventually("it is sent again", async || receiver.fields("namespace").last() == Some(&json!("enabled again")))
        .await;
    owner.delete(&format!("{WEBHOOKS}/{id}")).await.expect(204);
    publish(&owner, "nobody asks").await;
    let (rest,): (i64,) =
        hub.app.db.query("SELECT COUNT(*) FROM webhook_deliveries WHERE webhook_id = $1").bind(id).one().await.unwrap();
    assert_eq!(rest, 0);
}

/// Committed events are sent, whether the hub stopped while sending or was killed before it took them out of the
/// outbox.
async fn events_left_by_a_stopped_hub_are_sent_by_the_next(hub: Hub) {
    let (owner, receiver) = (hub.network().await, receiver().await);
    let (id, secret) = add(&owner, &receiver.url(), &["CONFIG_UPDATED"]).await;
    receiver.always(Reply::Hang);
    for namespace in ["a", "b", "c"] {
        publish(&owner, namespace).await;
    }
    Hub::eventually("all wait", async || get(&owner, &id).await["waiting"] == 3).await;
    let (key, network) = (owner.key.clone().unwrap(), owner.network.unwrap());
    let data = json!({"type": "CONFIG_UPDATED", "at": 5, "namespace": "d"}).to_string();
    Hub::eventually("it is sent", async || receiver.count() == 1).await;
    // State of a hub killed between commit and publication.
    let insert = "INSERT INTO outbox (network_id, name, data, created_at) VALUES ($1, 'CONFIG_UPDATED', $2, 5)";
    hub.app.db.write(insert).bind(network).bind(data).execute().await.unwrap();
    receiver.always(Reply::Status(200));
    let hub = hub.restart(std::time::Duration::from_secs(30)).await;
    let owner = hub.with_key(&key).for_network(network);
    Hub::eventually("all arrive", async || receiver.fields("namespace").contains(&json!("d"))).await;
    expect_idle(&owner, &id).await;
    let mut namespaces = receiver.fields("namespace");
    assert_eq!(namespaces.remove(0), "a", "what hung");
    namespaces.dedup();
    assert_eq!(namespaces, ["a", "b", "c", "d"]);
    let received = receiver.received();
    assert_eq!(received[0].header("webhook-id"), received[1].header("webhook-id"));
    assert!(received.iter().all(|it| it.signatures_of(&secret) == 1));
}

async fn hanging_receiver_does_not_delay_others(backend: Backend) {
    let hub = Hub::start_with(backend, |settings| {
        settings.webhook_networks = vec!["127.0.0.2/32".parse().unwrap()];
        // Longer than any test waits: who waited for these would get nothing.
        settings.webhooks.timeout = std::time::Duration::from_secs(3_600);
    })
    .await;
    let (owner, other, hanging, good) = (hub.network().await, hub.network().await, receiver().await, receiver().await);
    hanging.always(Reply::Hang);
    for _ in 0..19 {
        add(&owner, &hanging.url(), &["CONFIG_UPDATED"]).await;
    }
    add(&owner, &good.url(), &["CONFIG_UPDATED"]).await;
    add(&other, &good.url(), &["CONFIG_UPDATED"]).await;
    publish(&owner, "first").await;
    Hub::eventually("all hang", async || hanging.count() == 19).await;
    for number in 0..20 {
        publish(&owner, &number.to_string()).await;
        publish(&other, &number.to_string()).await;
    }
    expect_requests(&good, 41).await;
    assert_eq!(hanging.count(), 19);
}

async fn queued_and_stored_deliveries_are_bounded(backend: Backend) {
    let bounds = [
        (Limit::Webhooks, 2),
        (Limit::WebhookBacklog, 20),
        (Limit::WebhookDeliveries, 7),
        (Limit::WebhookBacklogBytes, 5_000),
    ];
    let hub = start_with(backend, &bounds).await;
    let (owner, receiver, large) = (hub.network().await, receiver().await, self::receiver().await);
    let (id, _) = add(&owner, &receiver.url(), &["CONFIG_UPDATED"]).await;
    let (id_of_large, _) = add(&owner, &large.url(), &["LOCALIZATION_UPDATED", "CHAT"]).await;
    owner.post(WEBHOOKS, json!({"url": receiver.url(), "events": ["CHAT"]})).await.expect_quota("webhooks", 2);
    receiver.always(Reply::Status(500));
    large.always(Reply::Status(500));
    for number in 0..60 {
        publish(&owner, &number.to_string()).await;
        let line = json!({"playerUuid": crate::servers::uuid(1), "playerName": "p1", "message": "x".repeat(900), "serverId": "lobby-1"});
        owner.post("/api/plugin/chat", line).await.expect(204);
    }
    let rows = async |id: &str| {
        let rows: Vec<(i64,)> = hub
            .app
            .db
            .query("SELECT CAST(octet_length(data) AS BIGINT) FROM webhook_deliveries WHERE webhook_id = $1")
            .bind(id)
            .all()
            .await
            .unwrap();
        (rows.len() as i64, rows.iter().map(|(bytes,)| bytes).sum::<i64>())
    };
    Hub::eventually("all are queued", async || {
        let (webhook, of_large) = (get(&owner, &id).await, get(&owner, &id_of_large).await);
        let all = |it: &Value| it["waiting"].as_i64().unwrap() + it["dropped"].as_i64().unwrap();
        all(&webhook) == 60 && all(&of_large) == 60
    })
    .await;
    let waiting = get(&owner, &id).await["waiting"].as_i64().unwrap();
    assert!((10..=20).contains(&waiting), "{waiting}");
    assert_eq!(rows(&id).await.0, waiting);
    assert!((1..=5).contains(&rows(&id_of_large).await.0) && rows(&id_of_large).await.1 <= 5_000);
    let (counted,): (i64,) =
        hub.app.db.query("SELECT waiting_bytes FROM webhooks WHERE webhook_id = $1").bind(&id).one().await.unwrap();
    assert_eq!(counted, rows(&id).await.1);
    // The newest are left, in order.
    let before = receiver.count();
    receiver.always(Reply::Status(200));
    owner.patch(&format!("{WEBHOOKS}/{id}"), json!({"enabled": true})).await.expect(200);
    expect_idle(&owner, &id).await;
    let arrived: Vec<i64> =
        receiver.fields("namespace")[before..].iter().map(|it| it.as_str().unwrap().parse().unwrap()).collect();
    assert_eq!(arrived, (60 - waiting..60).collect::<Vec<_>>());
    assert_eq!(rows(&id).await.0, 7);
    // Nor is more kept of the events queued when it was disabled.
    receiver.always(Reply::Status(500));
    for number in 60..72 {
        publish(&owner, &number.to_string()).await;
    }
    Hub::eventually("all wait", async || get(&owner, &id).await["waiting"] == 12).await;
    owner.patch(&format!("{WEBHOOKS}/{id}"), json!({"enabled": false})).await.expect(200);
    assert_eq!(rows(&id).await.0, 7);
    // And only for a while.
    hub.advance_ms(7 * 24 * 3_600_000 + 600_001);
    Hub::eventually("they are forgotten", async || rows(&id).await.0 == 0).await;
}
