//! Reasons: of finds that take nothing, of tickets that wait, and of those that end at once.

use reqwest::Method;

use super::*;
use crate::modules::starters::install;
use crate::people::{member, send};

const LINES: &str = "/api/manage/matchmaking/lines";

/// Reasons of a waiting ticket, first in its line.
async fn why(client: &Client, line: &str) -> Value {
    client.get(&format!("{LINES}/{line}/tickets")).await.expect(200)["items"][0]["why"].clone()
}

on_both! {
    async fn a_party_gets_one_world_and_its_slots_are_left_alone(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby", json!({"serverType": "lobby", "maxPlayers": 50})).await;
        for player in 1..=5 {
            join(&client, "lobby", player).await;
        }
        let world = |id: &str, current: u64| {
            json!({"worldId": id, "worldType": "duel", "maxPlayers": 2, "currentPlayers": current})
        };
        let worlds = json!({"serverType": "worlds", "maxPlayers": 20, "worlds": [world("v", 1), world("w", 1)]});
        register(&client, "worlds-1", worlds).await;
        // A slot in each of two worlds is no room for two.
        let duel = json!({"serverType": "worlds", "worldType": "duel", "party": [uuid(2)]});
        let party = wait_in_line(&client, 1, duel).await;
        let direct = |player: u64, world: &str| json!({"playerUuid": uuid(player), "serverId": "worlds-1", "worldId": world});
        assert_eq!(find(&client, direct(3, "w")).await, "WORLD_FULL");
        assert_eq!(find(&client, json!({"playerUuid": uuid(3), "serverType": "worlds", "worldType": "duel"})).await, "ALL_WORLDS_FULL");
        beat(&client, "worlds-1", json!({"worlds": [world("v", 1), world("w", 0)]})).await;
        let matched = until(&client, &party, "MATCHED").await;
        assert_eq!(matched["match"]["matchedWorld"]["worldId"], "w");
        // The one slot that is left is of use to nobody who waits.
        assert_eq!(find(&client, direct(3, "v")).await, "SUCCESS");
        assert_eq!(find(&client, direct(5, "v")).await, "WORLD_FULL");
        let of_world = take(&client, 4, json!({"serverId": "worlds-1", "worldId": "w"})).await;
        assert_eq!((&of_world["line"], &of_world["state"]), (&json!("server:worlds-1/world:w"), &json!("WAITING")));
    }

    async fn staff_sees_what_a_ticket_waits_for(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 1, 3).await;
        register(&client, "running", json!({"serverType": "match", "maxPlayers": 9, "gameState": "PLAYING", "playersToStart": 2})).await;
        wait_in_line(&client, 1, json!({"serverType": "match"})).await;
        assert_eq!(why(&client, "type:match").await, json!([{"serverId": "running", "reason": "NOT_JOINABLE"}]));
        let full = wait_in_line(&client, 2, json!({})).await;
        assert_eq!(why(&client, "type:arena").await, json!([{"serverId": "arena-1", "reason": "FULL"}]));
        client.delete(&format!("{TICKETS}/{full}")).await.expect(204);
        // A player on no server does not get a slot that is free.
        let offline = wait_in_line(&client, 50, json!({})).await;
        leave(&client, 900).await;
        assert_eq!(why(&client, "type:arena").await, json!([{"serverId": "arena-1", "reason": "LINE"}]));
        assert_eq!(state(&client, &offline).await, "WAITING");
    }

    async fn moderators_change_lines_and_tickets(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 1, 4).await;
        for (role, status) in [("VIEWER", 403), ("MODERATOR", 200), ("ADMIN", 200)] {
            let ticket = wait_in_line(&client, 1, json!({})).await;
            let person = member(&hub, &client, &format!("{}@example.org", role.to_lowercase()), role).await;
            let ticket = format!("/api/manage/matchmaking/tickets/{ticket}");
            for (method, path, body) in [
                (Method::GET, LINES, Value::Null),
                (Method::PUT, format!("{LINES}/type:arena").as_str(), json!({"maxWaiting": 9})),
                (Method::GET, format!("{LINES}/type:arena/tickets").as_str(), Value::Null),
                (Method::PATCH, ticket.as_str(), json!({"priority": 5})),
            ] {
                send(&hub, &person.token, method, path, body).await.expect(status);
            }
            let deleted = send(&hub, &person.token, Method::DELETE, &ticket, Value::Null).await;
            deleted.expect(if status == 200 { 204 } else { 403 });
        }
    }

    async fn a_policy_ends_a_ticket_at_once(hub: Hub) {
        let client = hub.network().await;
        register(&client, "hall", json!({"serverType": "hall"})).await;
        register(&client, "asia", json!({"region": "ASIA"})).await;
        join(&client, "hall", 1).await;
        let only = json!({"neighbours": {"AFRICA": ["OCEANIA"]}, "neighboursOnly": true});
        install(&client, "region-first", "matchmaking", only).await;
        let refused = take(&client, 1, json!({"serverType": "lobby", "region": "AFRICA"})).await;
        assert_eq!((&refused["state"], &refused["match"]["result"]), (&json!("EXPIRED"), &json!("POLICY_REJECTED")));
        let welcome = take(&client, 1, json!({"serverType": "lobby", "region": "ASIA"})).await;
        assert_eq!(welcome["state"], "MATCHED", "{welcome}");
    }

    async fn a_ticket_that_was_used_is_followed_by_a_new_one(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 1, 1).await;
        let first = wait_in_line(&client, 1, json!({})).await;
        leave(&client, 900).await;
        until(&client, &first, "MATCHED").await;
        join(&client, "arena-1", 1).await;
        until(&client, &first, "JOINED").await;
        join(&client, "lobby", 1).await;
        join(&client, "arena-1", 900).await;
        assert_ne!(wait_in_line(&client, 1, json!({})).await, first);
    }

    async fn places_and_matches_cost_no_rate_of_events(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 8, 12).await;
        let mut events = client.events(None, None).await;
        let operator = hub.operator().await;
        let plan = json!({"name": format!("quiet-{}", hub.app.ids.token(6)), "limits": {"eventsPerSecond": 1}});
        let made = operator.post("/api/admin/plans", plan).await.expect(201)["name"].clone();
        let network = format!("/api/admin/networks/{}", client.network.unwrap());
        operator.patch(&network, json!({"plan": made})).await.expect(200);
        let mut named = told::stream(&client, "lobby").await;
        hub.advance_ms(1_000);
        let mut tickets = vec![];
        for player in 1..=12 {
            tickets.push(wait_in_line(&client, player, json!({})).await);
        }
        for player in 900..908 {
            leave(&client, player).await;
        }
        for ticket in &tickets[..8] {
            until(&client, ticket, "MATCHED").await;
            named.next_named("TICKET_MATCHED").await;
        }
        let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": "hello", "serverId": "lobby"});
        client.post("/api/plugin/chat", line.clone()).await.expect(204);
        events.next_named("CHAT").await;
        // The rate is one that can be used up.
        client.post("/api/plugin/chat", line).await.expect_error(429, "rate_limited");
    }
}
