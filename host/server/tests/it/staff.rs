//! Staff at work: roles of their own, punishments, notes, reports and appeals.

mod appeals;
mod chat;
mod notes;
mod punishments;
mod reports;
mod rights;
mod roles;

use serde_json::{Value, json};

use crate::servers::uuid;
use crate::support::{Client, Events};

/// Punishes a player and returns the punishment.
async fn punish(client: &Client, player: u64, kind: &str, more: Value) -> Value {
    let mut body = json!({"playerUuid": uuid(player), "playerName": format!("p{player}"), "type": kind});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    client.post("/api/plugin/punishments/create", body).await.expect(200).clone()
}

/// A stream of events with these names.
async fn stream(client: &Client, types: &str) -> Events {
    Events::open(client.request(reqwest::Method::GET, &format!("/api/plugin/events?types={types}"))).await
}
