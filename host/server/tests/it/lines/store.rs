//! Tickets that outlive the process, and those that do not.

use std::time::Duration;

use hub::limits::Limit;

use super::*;
use crate::limits::hub_with;
use crate::support::{Backend, on_each};

on_both! {
    async fn tickets_and_their_order_survive_restart_and_kill(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 2, 6).await;
        let mut tickets = vec![];
        for (player, priority) in [(1, 0), (2, 5), (3, 0), (4, 1)] {
            tickets.push(wait_in_line(&client, player, json!({"priority": priority})).await);
        }
        let ended = wait_in_line(&client, 5, json!({})).await;
        client.delete(&format!("{TICKETS}/{ended}")).await.expect(204);
        leave(&client, 900).await;
        let matched = until(&client, &tickets[1], "MATCHED").await;
        let hub = hub.restart(Duration::from_secs(1)).await;
        let client = again(&client, &hub);
        assert_eq!(get(&client, &tickets[1]).await["match"]["transferId"], matched["match"]["transferId"]);
        assert_eq!(state(&client, &ended).await, "CANCELLED");
        // Its slot is held.
        assert_eq!(find(&client, json!({"playerUuid": uuid(6), "serverType": "arena"})).await, "ALL_SERVERS_FULL");
        let hub = hub.abandon(Duration::from_secs(1)).await;
        let client = again(&client, &hub);
        let mut places = vec![];
        for ticket in [&tickets[3], &tickets[0], &tickets[2]] {
            places.push(get(&client, ticket).await["position"].as_u64().unwrap());
        }
        assert_eq!(places, [1, 2, 3]);
        assert_eq!(id(&take(&client, 3, json!({"priority": 0})).await), tickets[2]);
        join(&client, "arena-1", 2).await;
        until(&client, &tickets[1], "JOINED").await;
        leave(&client, 901).await;
        until(&client, &tickets[3], "MATCHED").await;
    }

    async fn erased_players_leave_no_trace_and_keep_no_slot(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 3, 5).await;
        let of_party = wait_in_line(&client, 1, json!({"party": [uuid(2)]})).await;
        let of_leader = wait_in_line(&client, 3, json!({"party": [uuid(4)]})).await;
        leave(&client, 900).await;
        leave(&client, 901).await;
        until(&client, &of_party, "MATCHED").await;
        client.delete(&format!("/api/manage/players/{}", uuid(2))).await;
        let rows = async || {
            let rows: Vec<(String,)> = hub.app.db.query("SELECT ticket FROM waiting_tickets").all().await.unwrap();
            rows.into_iter().map(|(text,)| text).collect::<String>()
        };
        // The place is kept for 15 seconds.
        let mut steps = 0..20;
        Hub::eventually("erased", async || {
            hub.advance_ms(steps.next().map_or(0, |_| 500));
            !rows().await.contains(&uuid(2))
        }).await;
        // The member's slot is free, the ticket stays.
        assert_eq!(state(&client, &of_party).await, "MATCHED");
        join(&client, "arena-1", 1).await;
        until(&client, &of_party, "JOINED").await;
        client.delete(&format!("/api/manage/players/{}", uuid(3))).await;
        Hub::eventually("ended", async || {
            hub.advance_ms(500);
            client.get(&format!("{TICKETS}/{of_leader}")).await.status == 404 && !rows().await.contains(&uuid(3))
        }).await;
        assert!(rows().await.contains(&uuid(1)));
    }

    async fn the_number_of_waiting_players_is_limited(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 4, 5).await;
        let operator = hub.operator().await;
        let plan = json!({"name": format!("small-{}", hub.app.ids.token(6)), "limits": {"waiting": 3}});
        let made = operator.post("/api/admin/plans", plan.clone()).await.expect(201).clone();
        let change = json!({"plan": made["name"]});
        operator.patch(&format!("/api/admin/networks/{}", client.network.unwrap()), change).await.expect(200);
        let first = wait_in_line(&client, 1, json!({"party": [uuid(2)]})).await;
        let refused = client.post(TICKETS, request(3, json!({"party": [uuid(4)]}))).await;
        refused.expect_quota("waiting", 3);
        wait_in_line(&client, 3, json!({})).await;
        // A ticket that would be replaced stays if the new one is refused, and gives its players back if it is not.
        client.post(TICKETS, request(1, json!({"party": [uuid(2), uuid(4)]}))).await.expect_quota("waiting", 3);
        assert_eq!(state(&client, &first).await, "WAITING");
        wait_in_line(&client, 1, json!({"party": [uuid(4)]})).await;
        assert_eq!(state(&client, &first).await, "CANCELLED");
    }
}

on_each! { the_number_of_lines_with_settings_is_limited the_number_of_lines_is_limited }

async fn the_number_of_lines_with_settings_is_limited(backend: Backend) {
    let hub = hub_with(backend, &[(Limit::Lines, 1)]).await;
    let client = hub.network().await;
    let line = |name: &str| format!("/api/manage/matchmaking/lines/type:{name}");
    client.put(&line("arena"), json!({"maxWaiting": 5})).await.expect(200);
    client.put(&line("other"), json!({"maxWaiting": 5})).await.expect_quota("lines", 1);
    client.put(&line("arena"), json!({"maxWaiting": 6})).await.expect(200);
    // One without settings is not counted.
    client.put(&line("arena"), json!({})).await.expect(200);
    client.put(&line("other"), json!({"maxWaiting": 5})).await.expect(200);
}

async fn the_number_of_lines_is_limited(backend: Backend) {
    let hub = hub_with(backend, &[(Limit::LinesInMemory, 1)]).await;
    let client = hub.network().await;
    full_arena(&client, 2, 3).await;
    let first = wait_in_line(&client, 1, json!({})).await;
    let other = client.post(TICKETS, request(2, json!({"serverType": "nowhere"}))).await;
    other.expect_quota("linesInMemory", 1);
    wait_in_line(&client, 2, json!({})).await;
    assert_eq!(state(&client, &first).await, "WAITING");
}
