//! Parties, and those who leave them.

use super::*;

fn party(members: &[u64]) -> Value {
    json!({"party": members.iter().map(|member| uuid(*member)).collect::<Vec<_>>()})
}

on_both! {
    async fn smaller_ones_pass_a_party_for_thirty_seconds(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 6, 12).await;
        let large = wait_in_line(&client, 1, party(&[2, 3])).await;
        let mut singles = vec![];
        for player in 4..=9 {
            singles.push(wait_in_line(&client, player, json!({})).await);
        }
        assert_eq!(get(&client, &singles[0]).await["position"], 4, "places count players");
        leave(&client, 900).await;
        until(&client, &singles[0], "MATCHED").await;
        join(&client, "arena-1", 4).await;
        pass(&hub, &client, &["arena-1", "lobby"], 29).await;
        leave(&client, 901).await;
        until(&client, &singles[1], "MATCHED").await;
        join(&client, "arena-1", 5).await;
        pass(&hub, &client, &["arena-1", "lobby"], 2).await;
        // From now on slots are kept for the party.
        for player in [902, 903] {
            leave(&client, player).await;
        }
        pass(&hub, &client, &["arena-1", "lobby"], 1).await;
        let tickets = client.get("/api/manage/matchmaking/lines/type:arena/tickets").await.expect(200).clone();
        assert_eq!(tickets["items"][1]["why"], json!([{"serverId": "arena-1", "reason": "KEPT"}]), "{tickets}");
        assert_eq!(tickets["items"][0]["why"], json!([{"serverId": "arena-1", "reason": "FULL"}]));
        // The others go on elsewhere.
        register(&client, "arena-2", json!({"serverType": "arena", "maxPlayers": 1})).await;
        until(&client, &singles[2], "MATCHED").await;
        assert_eq!(state(&client, &large).await, "WAITING");
        leave(&client, 904).await;
        let matched = until(&client, &large, "MATCHED").await;
        assert_eq!(matched["match"]["matchedServer"]["serverId"], "arena-1");
        // One of them joins: the slots of the others lapse.
        join(&client, "arena-1", 2).await;
        until(&client, &large, "JOINED").await;
        pass(&hub, &client, &["arena-1", "arena-2", "lobby"], 15).await;
        until(&client, &singles[4], "MATCHED").await;
    }

    async fn a_place_is_kept_while_the_party_can_use_it(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 4, 9).await;
        let large = wait_in_line(&client, 1, party(&[2])).await;
        let mut singles = vec![];
        for player in 3..=7 {
            singles.push(wait_in_line(&client, player, json!({})).await);
        }
        leave(&client, 900).await;
        until(&client, &singles[0], "MATCHED").await;
        join(&client, "arena-1", 3).await;
        pass(&hub, &client, &["arena-1", "lobby"], 31).await;
        leave(&client, 901).await;
        pass(&hub, &client, &["arena-1", "lobby"], 1).await;
        assert_eq!(state(&client, &singles[1]).await, "WAITING");
        // Its leader is offline.
        leave(&client, 1).await;
        until(&client, &singles[1], "MATCHED").await;
        join(&client, "lobby", 1).await;
        assert_eq!(get(&client, &large).await["position"], 1);
    }

    async fn a_party_too_large_for_every_server_ends_at_once(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 2, 3).await;
        let before = wait_in_line(&client, 1, json!({})).await;
        let large = take(&client, 1, party(&[2, 3])).await;
        assert_eq!((&large["state"], &large["match"]["result"]), (&json!("EXPIRED"), &json!("PARTY_TOO_LARGE")));
        assert_eq!(large["match"]["success"], false);
        // A ticket that ends at once replaces nothing.
        assert_eq!(state(&client, &before).await, "WAITING");
        // A server that could hold it makes it wait.
        register(&client, "arena-2", json!({"serverType": "arena", "maxPlayers": 3})).await;
        until(&client, &before, "MATCHED").await;
        join(&client, "arena-2", 1).await;
        join(&client, "lobby", 2).await;
        let waits = take(&client, 2, party(&[3, 4])).await;
        assert_eq!(waits["state"], "WAITING");
    }

    async fn who_takes_a_ticket_of_their_own_leaves_the_party(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 3, 6).await;
        let of_party = wait_in_line(&client, 1, party(&[2, 3])).await;
        let behind = wait_in_line(&client, 4, json!({})).await;
        assert_eq!(get(&client, &behind).await["position"], 4);
        let own = wait_in_line(&client, 2, json!({})).await;
        assert_eq!(state(&client, &of_party).await, "WAITING");
        assert_eq!(get(&client, &behind).await["position"], 3);
        // The same body again keeps the ticket, without who left.
        assert_eq!(id(&take(&client, 1, party(&[2, 3])).await), of_party);
        assert_eq!(state(&client, &own).await, "WAITING");
        // Two slots are enough for the rest.
        leave(&client, 900).await;
        until(&client, &behind, "MATCHED").await;
        join(&client, "arena-1", 4).await;
        leave(&client, 901).await;
        until(&client, &own, "MATCHED").await;
        client.delete(&format!("{TICKETS}/{own}")).await.expect(204);
        leave(&client, 902).await;
        until(&client, &of_party, "MATCHED").await;
        // A leader who takes another ticket ends the party's.
        let third = take(&client, 3, json!({"serverType": "else"})).await;
        assert_eq!(state(&client, &of_party).await, "MATCHED");
        take(&client, 1, json!({"serverType": "else"})).await;
        assert_eq!(state(&client, &of_party).await, "CANCELLED");
        // A player named in another's party leaves their own ticket.
        take(&client, 5, json!({"serverType": "else", "party": [uuid(3)]})).await;
        assert_eq!(state(&client, &id(&third)).await, "CANCELLED");
    }

    async fn who_joins_and_leaves_at_once_does_not_stand_in_line_again(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 1, 2).await;
        let first = wait_in_line(&client, 1, json!({})).await;
        leave(&client, 900).await;
        until(&client, &first, "MATCHED").await;
        join(&client, "arena-1", 1).await;
        leave(&client, 1).await;
        pass(&hub, &client, &["arena-1", "lobby"], 16).await;
        assert_eq!(state(&client, &first).await, "JOINED");
    }
}
