//! Deliveries: created once for a reference, offered where they may happen, claimed once, and settled once.

mod claims;
mod creation;
mod decisions;
mod moves;
mod names;
mod offers;
mod people;
mod time;

use serde_json::{Value, json};

use crate::servers::{beat, join, register, uuid};
use crate::support::{Answer, Client, Events, Hub};

pub const PATH: &str = "/api/plugin/deliveries";

/// `body` with these fields changed.
fn with(mut body: Value, more: &Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Sends a delivery of the kind `kit` to a player.
async fn send(client: &Client, player: u64, more: Value) -> Answer {
    client.post(PATH, with(json!({"playerUuid": uuid(player), "kind": "kit"}), &more)).await
}

/// Creates a delivery and returns its id.
pub async fn create(client: &Client, player: u64, more: Value) -> i64 {
    send(client, player, more).await.expect(201)["deliveryId"].as_i64().unwrap()
}

pub async fn claim(client: &Client, id: i64, server: &str) -> Answer {
    client.post(&format!("{PATH}/{id}/claim"), json!({"serverId": server})).await
}

/// Claims a delivery and returns the claim.
async fn claimed(client: &Client, id: i64, server: &str) -> String {
    claim(client, id, server).await.expect(200)["claim"].as_str().unwrap().to_owned()
}

async fn complete(client: &Client, id: i64, claim: &str) -> Answer {
    client.post(&format!("{PATH}/{id}/complete"), json!({"claim": claim})).await
}

async fn fail(client: &Client, id: i64, claim: &str, retry: bool) -> Answer {
    client.post(&format!("{PATH}/{id}/fail"), json!({"claim": claim, "reason": "full", "retry": retry})).await
}

async fn decide(client: &Client, id: i64, decision: &str) -> Answer {
    client.post(&format!("/api/manage/deliveries/{id}/{decision}"), Value::Null).await
}

/// Ids that a server may claim now.
async fn offered(client: &Client, server: &str) -> Vec<i64> {
    let list = client.get(&format!("{PATH}?serverId={server}")).await.expect(200).clone();
    list["items"].as_array().unwrap().iter().map(|it| it["deliveryId"].as_i64().unwrap()).collect()
}

/// The delivery as people see it.
pub async fn read(client: &Client, id: i64) -> Value {
    let list = client.get("/api/manage/deliveries?limit=200").await.expect(200).clone();
    let found = list["items"].as_array().unwrap().iter().find(|it| it["deliveryId"] == id);
    found.unwrap_or_else(|| panic!("no delivery {id}: {list}")).clone()
}

async fn state(client: &Client, id: i64) -> String {
    read(client, id).await["state"].as_str().unwrap().to_owned()
}

async fn reaches(client: &Client, id: i64, expected: &str) {
    Hub::eventually(expected, async || state(client, id).await == expected).await;
}

async fn stream(client: &Client, server: &str) -> Events {
    let path = format!("/api/plugin/events?serverId={server}&types=DELIVERY_READY,DELIVERY_SETTLED");
    Events::open(client.request(reqwest::Method::GET, &path)).await
}

async fn next(events: &mut Events) -> (String, Value) {
    loop {
        let event = events.next().await.unwrap();
        if event.name != "PING" {
            return (event.name, event.data);
        }
    }
}

/// Expects that this delivery can be claimed.
async fn expect_ready(events: &mut Events, id: i64) {
    let (name, data) = next(events).await;
    assert_eq!((name.as_str(), &data["deliveryId"]), ("DELIVERY_READY", &json!(id)), "{data}");
}

/// Expects the end of this delivery.
async fn expect_settled(events: &mut Events, id: i64, state: &str) {
    let (name, data) = next(events).await;
    let delivery = &data["delivery"];
    assert_eq!(
        (name.as_str(), &delivery["deliveryId"], &delivery["state"]),
        ("DELIVERY_SETTLED", &json!(id), &json!(state)),
        "{data}"
    );
}

/// Lets time pass while the servers stay online.
async fn wait(hub: &Hub, client: &Client, millis: u64) {
    for step in std::iter::repeat_n(20_000, (millis / 20_000) as usize).chain([millis % 20_000]) {
        hub.advance_ms(step);
        for server in ["a", "b"] {
            beat(client, server, json!({})).await;
        }
    }
}

/// A network with the servers `a` and `b` of the type `survival`, and the player 1 on `a`.
async fn playing(hub: &Hub) -> Client {
    let client = hub.network().await;
    for server in ["a", "b"] {
        register(&client, server, json!({"serverType": "survival"})).await;
    }
    join(&client, "a", 1).await;
    client
}
