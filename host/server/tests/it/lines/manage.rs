//! Lines and tickets in the hands of the network's owner.

use super::*;

const LINES: &str = "/api/manage/matchmaking/lines";

on_both! {
    async fn lines_are_listed_paused_and_bounded(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 2, 8).await;
        let first = wait_in_line(&client, 1, json!({"party": [uuid(2)]})).await;
        pass(&hub, &client, &["arena-1", "lobby"], 5).await;
        wait_in_line(&client, 3, json!({})).await;
        let page = client.get(LINES).await.expect(200).clone();
        assert_eq!(page["total"], 1);
        assert_eq!(page["items"][0], json!({"line": "type:arena", "waiting": 3, "longestWaitMs": 5_000, "etaMs": null,
            "paused": false, "pausedUntil": null, "maxWaiting": null, "revision": 0}));
        // A full line: nobody is replaced, nobody waits.
        let path = format!("{LINES}/type%3Aarena");
        let put = client.put(&path, json!({"maxWaiting": 4})).await.expect(200).clone();
        assert_eq!((&put["maxWaiting"], &put["paused"], &put["waiting"]), (&json!(4), &json!(false), &json!(3)));
        let full = take(&client, 4, json!({"party": [uuid(5)]})).await;
        assert_eq!((&full["state"], &full["match"]["result"]), (&json!("EXPIRED"), &json!("LINE_FULL")));
        wait_in_line(&client, 4, json!({})).await;
        // A ticket that gives way makes room for the next.
        wait_in_line(&client, 4, json!({"priority": 30})).await;
        // Nobody of a paused line is matched, and a find takes what they wait for.
        let until_time = hub.app.clock.now() + 60_000;
        let put = client.put(&path, json!({"paused": true, "pausedUntil": until_time})).await.expect(200).clone();
        assert_eq!((&put["paused"], &put["pausedUntil"], &put["maxWaiting"]), (&json!(true), &json!(until_time), &Value::Null));
        leave(&client, 900).await;
        leave(&client, 901).await;
        assert_eq!(find(&client, json!({"playerUuid": uuid(8), "serverType": "arena"})).await, "SUCCESS");
        assert_eq!(state(&client, &first).await, "WAITING");
        let tickets = client.get(&format!("{path}/tickets")).await.expect(200).clone();
        assert_eq!(tickets["total"], 3);
        let item = &tickets["items"][0];
        assert_eq!((&item["playerUuid"], &item["position"], &item["priority"]), (&json!(uuid(4)), &json!(1), &json!(30)));
        assert_eq!(item["why"], json!([{"serverId": "arena-1", "reason": "PAUSED"}]));
        pass(&hub, &client, &["arena-1", "lobby"], 61).await;
        Hub::eventually("the pause ends", async || {
            client.get(LINES).await.expect(200)["items"][0]["paused"] == false
        }).await;
        for wrong in [json!({"pausedUntil": hub.app.clock.now()}), json!({"paused": "yes"}), json!({"maxWaiting": -1})] {
            client.put(&path, wrong).await.expect_error(400, "invalid_request");
        }
        client.put(&format!("{LINES}/arena"), json!({})).await.expect_error(400, "invalid_request");
        client.put(&path, json!({})).await.expect(200);
    }

    async fn priorities_change_and_tickets_end(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 2, 3).await;
        let first = wait_in_line(&client, 1, json!({})).await;
        let second = wait_in_line(&client, 2, json!({})).await;
        let path = |ticket: &str| format!("/api/manage/matchmaking/tickets/{ticket}");
        let changed = client.patch(&path(&second), json!({"priority": 50})).await.expect(200).clone();
        assert_eq!((&changed["priority"], &changed["position"]), (&json!(50), &json!(1)));
        assert_eq!(get(&client, &first).await["position"], 2);
        // The body that was sent still is the same.
        assert_eq!(id(&take(&client, 2, json!({})).await), second);
        client.delete(&path(&second)).await.expect(204);
        assert_eq!(state(&client, &second).await, "CANCELLED");
        client.patch(&path(&second), json!({"priority": 1})).await.expect_error(409, "ticket_ended");
        client.patch(&path(&uuid(1)), json!({"priority": 1})).await.expect_error(404, "unknown_ticket");
        client.patch(&path(&first), json!({"priority": 1_001})).await.expect_error(400, "invalid_request");
        // A scope of its own.
        let key = client.key_with(&["lines:manage"]).await;
        key.patch(&path(&first), json!({"priority": 7})).await.expect(200);
        assert_eq!(key.get(LINES).await.expect(200)["total"], 1);
        key.get("/api/manage/audit").await.expect_error(403, "forbidden_scope");
        let connector = client.key_with(&["matchmaking"]).await;
        connector.get(LINES).await.expect_error(403, "forbidden_scope");
        connector.get(&format!("{TICKETS}/{first}")).await.expect(200);
    }

    async fn changes_of_a_line_at_once_both_count(hub: Hub) {
        let client = hub.network().await;
        let path = format!("{LINES}/type:arena");
        let put = |max: u64| { let (client, path) = (client.clone(), path.clone()); async move {
            client.put(&path, json!({"maxWaiting": max})).await.expect(200);
        }};
        futures_util::future::join_all((1..=10).map(put)).await;
        let stored = client.get(LINES).await.expect(200)["items"][0]["maxWaiting"].clone();
        let log = client.get("/api/manage/audit?limit=200").await.expect(200).clone();
        let puts: Vec<_> = log["items"].as_array().unwrap().iter().filter(|it| it["action"] == "line.put").collect();
        assert_eq!(puts.len(), 10);
        let hub = hub.restart(std::time::Duration::from_secs(1)).await;
        let client = again(&client, &hub);
        assert_eq!(client.get(LINES).await.expect(200)["items"][0]["maxWaiting"], stored);
    }

    async fn estimates_are_from_slots_that_came_free(hub: Hub) {
        let client = hub.network().await;
        full_arena(&client, 4, 8).await;
        let mut tickets = vec![];
        for player in 1..=8 {
            tickets.push(wait_in_line(&client, player, json!({})).await);
        }
        assert_eq!(get(&client, &tickets[7]).await["etaMs"], Value::Null);
        for (number, player) in (900..903).enumerate() {
            leave(&client, player).await;
            until(&client, &tickets[number], "MATCHED").await;
            join(&client, "arena-1", number as u64 + 1).await;
        }
        // Three slots in five minutes; the last one is fifth.
        let last = get(&client, &tickets[7]).await;
        assert_eq!((&last["position"], &last["etaMs"]), (&json!(5), &json!(500_000)));
        pass(&hub, &client, &["arena-1", "lobby"], 310).await;
        assert_eq!(get(&client, &tickets[7]).await["etaMs"], Value::Null);
    }
}
