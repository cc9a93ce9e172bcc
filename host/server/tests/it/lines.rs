//! Waiting lines, sentence by sentence.

mod manage;
mod order;
mod parties;
mod reasons;
mod store;
mod told;

use std::time::Duration;

use serde_json::{Value, json};

use crate::servers::{beat, join, register, uuid};
use crate::support::{Client, Hub, on_both};

pub const TICKETS: &str = "/api/plugin/matchmaking/tickets";

/// A ticket request of this player, for servers of the type `arena` unless it says more.
#[allow(clippy::needless_pass_by_value, reason = "reads better with json!")]
pub fn request(player: u64, more: Value) -> Value {
    let mut body = json!({"playerUuid": uuid(player), "serverType": "arena"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// Takes a ticket, and returns its answer.
pub async fn take(client: &Client, player: u64, more: Value) -> Value {
    client.post(TICKETS, request(player, more)).await.expect(200).clone()
}

/// Takes a ticket, and returns its id.
pub async fn wait_in_line(client: &Client, player: u64, more: Value) -> String {
    let ticket = take(client, player, more).await;
    assert_eq!(ticket["state"], "WAITING", "{ticket}");
    id(&ticket)
}

pub fn id(ticket: &Value) -> String {
    ticket["ticketId"].as_str().unwrap().to_owned()
}

pub async fn get(client: &Client, ticket: &str) -> Value {
    client.get(&format!("{TICKETS}/{ticket}")).await.expect(200).clone()
}

pub async fn state(client: &Client, ticket: &str) -> String {
    get(client, ticket).await["state"].as_str().unwrap().to_owned()
}

pub async fn until(client: &Client, ticket: &str, wanted: &str) -> Value {
    Hub::eventually(&format!("{wanted}: {}", get(client, ticket).await), async || {
        state(client, ticket).await == wanted
    })
    .await;
    get(client, ticket).await
}

pub async fn leave(client: &Client, player: u64) {
    client.delete(&format!("/api/plugin/servers/players/{}", uuid(player))).await.expect(204);
}

pub async fn find(client: &Client, body: Value) -> String {
    let found = client.post("/api/plugin/matchmaking/find", body).await.expect(200).clone();
    found["result"].as_str().unwrap().to_owned()
}

/// The same caller after a restart.
pub fn again(client: &Client, hub: &Hub) -> Client {
    hub.with_key(client.key.as_deref().unwrap())
}

/// A full server `arena-1` of that size with the players 900, 901 …, and players 1 to `waiting` on `lobby`.
pub async fn full_arena(client: &Client, size: u64, waiting: u64) {
    register(client, "lobby", json!({"serverType": "lobby", "maxPlayers": 200})).await;
    register(client, "arena-1", json!({"serverType": "arena", "maxPlayers": size})).await;
    for player in 900..900 + size {
        join(client, "arena-1", player).await;
    }
    for player in 1..=waiting {
        join(client, "lobby", player).await;
    }
}

/// Lets time pass in steps in which servers stay online.
pub async fn pass(hub: &Hub, client: &Client, servers: &[&str], seconds: u64) {
    for _ in 0..seconds {
        hub.clock.advance(Duration::from_secs(1));
        for server in servers {
            beat(client, server, json!({})).await;
        }
    }
}

on_both! {
    async fn a_ticket_is_matched_at_once_or_waits(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby", json!({"serverType": "lobby", "maxPlayers": 50})).await;
        for player in 1..=4 {
            join(&client, "lobby", player).await;
        }
        // A line that no server serves waits.
        let first = take(&client, 1, json!({})).await;
        assert_eq!(first["line"], "type:arena");
        assert_eq!((&first["state"], &first["position"], &first["waiting"]), (&json!("WAITING"), &json!(1), &json!(1)));
        assert_eq!((&first["etaMs"], &first["match"]), (&Value::Null, &Value::Null));
        register(&client, "arena-1", json!({"serverType": "arena", "maxPlayers": 2})).await;
        let first = until(&client, &id(&first), "MATCHED").await;
        assert_eq!(first["match"]["result"], "SUCCESS");
        assert_eq!(first["match"]["matchedServer"]["serverId"], "arena-1");
        assert_eq!(first["match"]["transferId"].as_str().unwrap().len(), 36);
        assert_eq!((&first["position"], &first["waiting"]), (&Value::Null, &json!(0)));
        // Room, and nobody waits.
        let second = take(&client, 2, json!({"serverId": "arena-1"})).await;
        assert_eq!((&second["state"], &second["line"]), (&json!("MATCHED"), &json!("server:arena-1")));
        let third = wait_in_line(&client, 3, json!({})).await;
        // The same body keeps ticket and place; the join uses the slot.
        assert_eq!(id(&take(&client, 3, json!({})).await), third);
        assert_eq!(id(&take(&client, 1, json!({})).await), id(&first));
        join(&client, "arena-1", 1).await;
        until(&client, &id(&first), "JOINED").await;
        assert_eq!(get(&client, &id(&first)).await["match"]["result"], "SUCCESS");
        // The same body after the end is a new ticket.
        assert_ne!(id(&take(&client, 1, json!({"serverType": "other"})).await), id(&first));
        // Another body replaces it.
        let other = take(&client, 3, json!({"serverType": "lobby2"})).await;
        assert_ne!(id(&other), third);
        assert_eq!(state(&client, &third).await, "CANCELLED");
        client.delete(&format!("{TICKETS}/{}", id(&other))).await.expect(204);
        assert_eq!(state(&client, &id(&other)).await, "CANCELLED");
        client.delete(&format!("{TICKETS}/{}", id(&other))).await.expect(204);
        client.get(&format!("{TICKETS}/{}", uuid(1))).await.expect_error(404, "unknown_ticket");
        client.delete(&format!("{TICKETS}/{}", uuid(1))).await.expect_error(404, "unknown_ticket");
        let stranger = hub.network().await;
        stranger.get(&format!("{TICKETS}/{third}")).await.expect_error(404, "unknown_ticket");
        for wrong in [
            json!({"serverType": "arena"}),
            request(1, json!({"priority": 1_001})),
            request(1, json!({"priority": "high"})),
            json!({"playerUuid": uuid(1)}),
            request(1, json!({"party": (1..=17).map(uuid).collect::<Vec<_>>()})),
        ] {
            client.post(TICKETS, wrong).await.expect_error(400, "invalid_request");
        }
        // Ended tickets are readable for ten minutes.
        hub.advance_ms(599_000);
        assert_eq!(state(&client, &third).await, "CANCELLED");
        hub.advance_ms(2_000);
        Hub::eventually("forgotten", async || client.get(&format!("{TICKETS}/{third}")).await.status == 404).await;
    }

    async fn an_unused_match_returns_to_the_head_once(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 1, 3).await;
        let first = wait_in_line(&client, 1, json!({})).await;
        let second = wait_in_line(&client, 2, json!({})).await;
        leave(&client, 900).await;
        until(&client, &first, "MATCHED").await;
        assert_eq!(get(&client, &second).await["position"], 1);
        pass(&hub, &client, &["arena-1", "lobby"], 15).await;
        // Its slot came free, and it is the first to get it.
        until(&client, &first, "MATCHED").await;
        assert_eq!(state(&client, &second).await, "WAITING");
        pass(&hub, &client, &["arena-1", "lobby"], 16).await;
        let ended = until(&client, &first, "EXPIRED").await;
        assert_eq!(ended["match"], Value::Null);
        until(&client, &second, "MATCHED").await;
        // The same body is a new ticket.
        assert_ne!(wait_in_line(&client, 1, json!({})).await, first);
    }

    async fn a_ticket_ends_when_its_player_is_gone(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 1, 2).await;
        register(&client, "proxy", json!({"serverType": "proxy", "role": "PROXY"})).await;
        join(&client, "proxy", 2).await;
        // Players on no server keep their place and are not matched; proxies count as servers.
        let offline = wait_in_line(&client, 50, json!({})).await;
        let on_proxy = wait_in_line(&client, 2, json!({})).await;
        assert_eq!(get(&client, &on_proxy).await["position"], 2);
        leave(&client, 900).await;
        until(&client, &on_proxy, "MATCHED").await;
        assert_eq!(state(&client, &offline).await, "WAITING");
        join(&client, "arena-1", 2).await;
        leave(&client, 2).await;
        // Nobody but the offline player waits: a find takes what they cannot use.
        assert_eq!(find(&client, json!({"playerUuid": uuid(1), "serverType": "arena"})).await, "SUCCESS");
        client.post("/api/plugin/servers/unregister?serverId=arena-1", Value::Null).await.expect(204);
        register(&client, "arena-1", json!({"serverType": "arena", "maxPlayers": 1})).await;
        // Matched with their next presence.
        join(&client, "lobby", 50).await;
        until(&client, &offline, "MATCHED").await;
        join(&client, "arena-1", 50).await;
        until(&client, &offline, "JOINED").await;
        let waiting = wait_in_line(&client, 1, json!({})).await;
        leave(&client, 1).await;
        pass(&hub, &client, &["arena-1", "lobby"], 58).await;
        assert_eq!(state(&client, &waiting).await, "WAITING");
        pass(&hub, &client, &["arena-1", "lobby"], 4).await;
        until(&client, &waiting, "EXPIRED").await;
    }
}
