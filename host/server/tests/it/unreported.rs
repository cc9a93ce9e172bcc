//! Players known from a server's heartbeat alone: what a join makes of a player, their first heartbeat does, too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use hub::presence::{self, Arrival};
use hub::values::PlayerId;
use serde_json::{Value, json};

use crate::deliveries::{self, create, read};
use crate::servers::{beat, register, uuid};
use crate::support::{Client, Events, Hub, NOW, on_both};

/// Players of a list, each with a name.
fn listed(players: impl IntoIterator<Item = u64>) -> Value {
    players.into_iter().map(|player| json!({"uuid": uuid(player), "name": format!("Beat{player}")})).collect()
}

/// A heartbeat with all players of the server `a`, and what the hub does about it within a second.
async fn beat_with(hub: &Hub, client: &Client, players: Value) {
    beat(client, "a", json!({"players": players})).await;
    presence::service::save_all(&hub.app).await.unwrap();
}

async fn stream(client: &Client) -> Events {
    let path = "/api/plugin/events?serverId=a&types=DELIVERY_READY";
    Events::open(client.request(reqwest::Method::GET, path)).await
}

async fn ready(events: &mut Events) -> Value {
    events.next_named("DELIVERY_READY").await.data["deliveryId"].clone()
}

async fn by_name(client: &Client, name: &str) -> i64 {
    let body = json!({"playerName": name, "kind": "rank"});
    client.post(deliveries::PATH, body).await.expect(201)["deliveryId"].as_i64().unwrap()
}

async fn profile(client: &Client, player: u64) -> Value {
    client.get(&format!("/api/plugin/players/{}", uuid(player))).await.expect(200).clone()
}

on_both! {
    async fn a_heartbeat_makes_players_known_and_tells_their_deliveries(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let rank = by_name(&client, "bEAT1").await;
        let kit = create(&client, 2, json!({})).await;
        let mut events = stream(&client).await;
        beat_with(&hub, &client, listed([1, 2, 3])).await;
        let mut told = [ready(&mut events).await, ready(&mut events).await];
        told.sort_by_key(Value::as_i64);
        assert_eq!(told, [json!(rank), json!(kit)]);
        assert_eq!(read(&client, rank).await["playerUuid"], uuid(1));
        let known = profile(&client, 3).await;
        assert_eq!((&known["username"], &known["firstSeen"], &known["lastSeen"]), (&json!("Beat3"), &json!(NOW), &json!(NOW)));
        // A later heartbeat that changes nothing tells nothing; a delivery from now on is told by itself.
        beat_with(&hub, &client, listed([1, 2, 3])).await;
        let next = create(&client, 3, json!({})).await;
        assert_eq!(ready(&mut events).await, json!(next));
    }

    async fn a_name_that_comes_later_counts_from_then_on(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let rank = by_name(&client, "Beat1").await;
        let mut events = stream(&client).await;
        beat_with(&hub, &client, json!([{"uuid": uuid(1)}])).await;
        assert_eq!(profile(&client, 1).await["username"], Value::Null);
        hub.advance_ms(5_000);
        beat_with(&hub, &client, listed([1])).await;
        assert_eq!(ready(&mut events).await, json!(rank));
        let known = profile(&client, 1).await;
        assert_eq!((&known["username"], &known["firstSeen"]), (&json!("Beat1"), &json!(NOW)));
        let found = by_name(&client, "BEAT1").await;
        assert_eq!(read(&client, found).await["playerUuid"], uuid(1));
    }

    async fn a_player_who_left_without_a_report_was_last_seen_then(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        beat_with(&hub, &client, listed([1, 2])).await;
        hub.advance_ms(7_000);
        beat_with(&hub, &client, listed([2])).await;
        hub.advance_ms(1_000);
        client.post("/api/plugin/servers/unregister?serverId=a", Value::Null).await.expect(204);
        presence::service::save_all(&hub.app).await.unwrap();
        for (player, at) in [(1, NOW + 7_000), (2, NOW + 8_000)] {
            assert_eq!(profile(&client, player).await["lastSeen"], json!(at), "player {player}");
        }
    }

    async fn an_arrival_ends_the_transfer(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        register(&client, "b", json!({})).await;
        beat(&client, "b", json!({"players": listed([1])})).await;
        let _stream = client.events(Some("b"), None).await;
        let order = json!({"playerUuid": uuid(1), "targetServerId": "a"});
        let sent = client.post("/api/plugin/transfers", order).await.expect(200).clone();
        let path = format!("/api/manage/transfers/{}", sent["transferId"].as_str().unwrap());
        assert_eq!(client.get(&path).await.expect(200)["result"], "PENDING");
        hub.advance_ms(16_000);
        beat_with(&hub, &client, listed([1])).await;
        assert_eq!(client.get(&path).await.expect(200)["result"], "SUCCESS");
    }

    async fn an_erased_player_is_not_recorded_by_what_was_before(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        beat(&client, "a", json!({"players": listed([1])})).await;
        client.delete(&format!("/api/manage/players/{}", uuid(1))).await.expect(204);
        presence::service::save_all(&hub.app).await.unwrap();
        client.get(&format!("/api/plugin/players/{}", uuid(1))).await.expect_error(404, "unknown_player");
        // Listed once more, they are a new player.
        beat_with(&hub, &client, listed([1])).await;
        assert_eq!(profile(&client, 1).await["firstSeen"], NOW);
    }

    async fn many_arrivals_are_as_many_statements_as_one(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({"maxPlayers": 0})).await;
        let statements = async |players: std::ops::Range<u64>| {
            let arrival = |player: u64| Arrival {
                player: PlayerId(uuid(player).parse().unwrap()),
                name: Some(format!("Beat{player}").parse().unwrap()),
                server: "a".into(),
                at: NOW,
            };
            let arrivals: Vec<_> = players.map(arrival).collect();
            let counter = Arc::new(AtomicU32::new(0));
            let hooks = hub.app.state::<presence::Hooks>().0;
            let recorded = hooks.arrived(&hub.app, client.network.unwrap(), &arrivals);
            hub_db::count_statements(Arc::clone(&counter), recorded).await.unwrap();
            counter.load(Ordering::Relaxed)
        };
        // The first one counts the players of the network.
        statements(0..1).await;
        let (one, many) = (statements(1..2).await, statements(2..102).await);
        assert_eq!((one, many), (7, 7));
        // A heartbeat that changes nothing is one statement, however many players it lists.
        beat_with(&hub, &client, listed(0..100)).await;
        beat(&client, "a", json!({"players": listed(0..100)})).await;
        let counter = Arc::new(AtomicU32::new(0));
        hub_db::count_statements(Arc::clone(&counter), presence::service::save_all(&hub.app)).await.unwrap();
        assert!(counter.load(Ordering::Relaxed) <= 1, "{counter:?}");
    }
}
