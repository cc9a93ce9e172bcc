//! The order of those who wait, and the slots that are left for finds.

use std::time::Duration;

use super::*;

on_both! {
    async fn priority_and_waiting_decide(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 3, 5).await;
        let first = wait_in_line(&client, 1, json!({})).await;
        pass(&hub, &client, &["arena-1", "lobby"], 10).await;
        let later = wait_in_line(&client, 2, json!({"priority": 9})).await;
        let equal = wait_in_line(&client, 3, json!({"priority": 10})).await;
        let higher = wait_in_line(&client, 4, json!({"priority": 11})).await;
        let lowest = wait_in_line(&client, 5, json!({"priority": -1000})).await;
        let mut places = vec![];
        for ticket in [&higher, &first, &equal, &later, &lowest] {
            places.push(get(&client, ticket).await["position"].as_u64().unwrap());
        }
        assert_eq!(places, [1, 2, 3, 4, 5]);
        for (player, ticket) in [(900, &higher), (901, &first), (902, &equal)] {
            leave(&client, player).await;
            until(&client, ticket, "MATCHED").await;
        }
        assert_eq!(get(&client, &later).await["position"], 1);
    }

    async fn a_slot_goes_to_the_first_over_all_lines(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 2, 4).await;
        let of_type = wait_in_line(&client, 1, json!({})).await;
        hub.clock.advance(Duration::from_secs(1));
        let of_server = wait_in_line(&client, 2, json!({"serverId": "arena-1"})).await;
        hub.clock.advance(Duration::from_secs(1));
        let urgent = wait_in_line(&client, 3, json!({"serverId": "arena-1", "priority": 100})).await;
        assert_eq!(get(&client, &of_type).await["position"], 1);
        assert_eq!(get(&client, &of_server).await["position"], 2);
        leave(&client, 900).await;
        until(&client, &urgent, "MATCHED").await;
        assert_eq!(state(&client, &of_type).await, "WAITING");
        leave(&client, 901).await;
        until(&client, &of_type, "MATCHED").await;
        assert_eq!(state(&client, &of_server).await, "WAITING");
    }

    async fn finds_take_nothing_that_somebody_waits_for(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 2, 4).await;
        let find_type = json!({"playerUuid": uuid(4), "serverType": "arena"});
        let find_server = json!({"playerUuid": uuid(4), "serverId": "arena-1"});
        // A party of two waits for the one slot that is free.
        leave(&client, 900).await;
        let party = wait_in_line(&client, 1, json!({"party": [uuid(2)]})).await;
        assert_eq!(find(&client, find_type.clone()).await, "ALL_SERVERS_FULL");
        assert_eq!(find(&client, find_server.clone()).await, "SERVER_FULL");
        // Another server is of use to it, too; one of another type is not.
        register(&client, "other", json!({"serverType": "other", "maxPlayers": 2})).await;
        assert_eq!(find(&client, json!({"playerUuid": uuid(4), "serverType": "other"})).await, "SUCCESS");
        client.delete(&format!("{TICKETS}/{party}")).await.expect(204);
        assert_eq!(find(&client, find_type).await, "SUCCESS");
        // On worlds, too.
        register(&client, "worlds-1", json!({"serverType": "worlds", "maxPlayers": 20, "worlds": [
            {"worldId": "w", "worldType": "duel", "maxPlayers": 1, "currentPlayers": 1},
            {"worldId": "v", "worldType": "free", "maxPlayers": 9},
        ]})).await;
        let duel = json!({"serverType": "worlds", "worldType": "duel"});
        let waiting = wait_in_line(&client, 1, duel.clone()).await;
        assert_eq!(get(&client, &waiting).await["line"], "type:worlds/world:duel");
        let mut body = duel;
        body["playerUuid"] = json!(uuid(3));
        assert_eq!(find(&client, body).await, "ALL_WORLDS_FULL");
        // The world's slots are what is lacking, not the server's.
        let free = json!({"playerUuid": uuid(3), "serverType": "worlds", "worldType": "free"});
        assert_eq!(find(&client, free).await, "SUCCESS");
        beat(&client, "worlds-1", json!({"worlds": [{"worldId": "w", "worldType": "duel", "maxPlayers": 1}]})).await;
        let matched = until(&client, &waiting, "MATCHED").await;
        assert_eq!(matched["match"]["matchedWorld"]["worldId"], "w");
    }
}
