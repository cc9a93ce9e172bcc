//! Events of tickets.

use reqwest::Method;

use super::*;
use crate::support::Events;

pub async fn stream(client: &Client, server: &str) -> Events {
    let path = format!("/api/plugin/events?serverId={server}&types=TICKET_MATCHED,TICKET_UPDATED");
    Events::open(client.request(Method::GET, &path)).await
}

on_both! {
    async fn matches_are_told_where_the_player_is_and_to_proxies(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 1, 3).await;
        register(&client, "proxy", json!({"serverType": "proxy", "role": "PROXY"})).await;
        let (mut lobby, mut proxy, mut arena) =
            (stream(&client, "lobby").await, stream(&client, "proxy").await, stream(&client, "arena-1").await);
        let first = wait_in_line(&client, 1, json!({"party": []})).await;
        leave(&client, 900).await;
        until(&client, &first, "MATCHED").await;
        for events in [&mut lobby, &mut proxy] {
            let told = events.next_named("TICKET_MATCHED").await.data;
            assert_eq!((&told["ticketId"], &told["playerUuid"], &told["party"]), (&json!(first), &json!(uuid(1)), &json!([])));
            assert_eq!(told["match"], get(&client, &first).await["match"]);
        }
        // Nothing of it to another server.
        let second = wait_in_line(&client, 2, json!({})).await;
        join(&client, "arena-1", 3).await;
        let alone = client.post(TICKETS, request(3, json!({"serverType": "lobby"}))).await.expect(200).clone();
        assert_eq!(alone["state"], "MATCHED");
        let told = arena.next_named_any(&["TICKET_MATCHED", "TICKET_UPDATED"]).await;
        assert_eq!((told.name.as_str(), &told.data["playerUuid"]), ("TICKET_MATCHED", &json!(uuid(3))));
        assert_eq!(state(&client, &second).await, "WAITING");
    }

    async fn places_are_told_when_they_change_and_not_too_often(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 2, 40).await;
        let mut lobby = stream(&client, "lobby").await;
        for player in 1..=30 {
            wait_in_line(&client, player, json!({})).await;
        }
        let mut told = std::collections::HashMap::<String, Vec<i64>>::new();
        let mut places = std::collections::HashMap::new();
        for second in 0..30 {
            if second == 10 {
                leave(&client, 900).await;
            }
            pass(&hub, &client, &["arena-1", "lobby"], 1).await;
            while let Ok(Some(event)) = tokio::time::timeout(Duration::from_millis(60), lobby.next()).await {
                if event.name == "TICKET_UPDATED" {
                    let player = event.data["playerUuid"].as_str().unwrap().to_owned();
                    told.entry(player.clone()).or_default().push(event.data["at"].as_i64().unwrap());
                    places.insert(player, event.data["position"].as_u64().unwrap());
                }
            }
        }
        for (player, at) in &told {
            // An event has the time at which it was published, which may be a second later.
            let least = if *player > uuid(22) { 9_000 } else { 1_000 };
            assert!(at.windows(2).all(|pair| pair[1] - pair[0] >= least), "{player}: {at:?}");
        }
        // The first was matched, returned and is the first again, so that the others have their places.
        assert_eq!(places[&uuid(5)], 4, "{places:?}");
        assert!(told.len() >= 28, "{told:?}");
        let silent = told.values().map(Vec::len).max().unwrap();
        assert!(silent <= 15, "told though nothing changed: {told:?}");
    }

    async fn a_place_is_told_at_the_server_that_a_player_moved_to(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 1, 1).await;
        register(&client, "lobby-2", json!({"serverType": "lobby", "maxPlayers": 200})).await;
        let mut there = stream(&client, "lobby-2").await;
        let ticket = wait_in_line(&client, 1, json!({})).await;
        join(&client, "lobby-2", 1).await;
        let told = tokio::select! {
            told = there.next_named("TICKET_UPDATED") => told.data,
            () = pass(&hub, &client, &["arena-1", "lobby", "lobby-2"], 60) => panic!("it was not told"),
        };
        assert_eq!((&told["ticketId"], &told["playerUuid"]), (&json!(ticket), &json!(uuid(1))));
        assert_eq!((&told["position"], &told["waiting"]), (&json!(1), &json!(1)));
    }

    async fn webhooks_get_a_match_once(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 1, 1).await;
        for proxy in ["proxy-1", "proxy-2"] {
            register(&client, proxy, json!({"serverType": "proxy", "role": "PROXY"})).await;
        }
        let refused = json!({"url": "https://example.org/hub", "events": ["TICKET_UPDATED"]});
        client.post("/api/manage/webhooks", refused).await.expect_error(400, "invalid_request");
        let webhook = json!({"url": "https://example.org/hub", "events": ["TICKET_MATCHED"]});
        let webhook = client.post("/api/manage/webhooks", webhook).await.expect(201).clone();
        let path = format!("/api/manage/webhooks/{}/deliveries", webhook["webhookId"].as_str().unwrap());
        let first = wait_in_line(&client, 1, json!({})).await;
        leave(&client, 900).await;
        until(&client, &first, "MATCHED").await;
        Hub::eventually("queued", async || client.get(&path).await.expect(200)["total"] != 0).await;
        join(&client, "arena-1", 1).await;
        until(&client, &first, "JOINED").await;
        assert_eq!(client.get(&path).await.expect(200)["total"], 1);
    }
}
