//! Lost claims, and deliveries whose time comes or is over.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::Executor as _;

use super::{
    claim, claimed, complete, create, expect_settled, offered, playing, reaches, read, send, state, stream, wait,
};
use crate::support::{Backend, Hub, NOW, on_both};

/// Those that one network's transaction locks stay due, and are read again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn locked_deliveries_of_a_network_hold_up_no_other() {
    let hub = Hub::start(Backend::postgres().await).await;
    let (noisy, quiet) = (playing(&hub).await, playing(&hub).await);
    let retry = || json!({"kind": "x", "onLost": "RETRY"});
    let locked = create(&noisy, 1, retry()).await;
    claimed(&noisy, locked, "a").await;
    let copies =
        "INSERT INTO deliveries (network_id, delivery_id, player_uuid, kind, payload, state, attempts, on_lost,
             created_at, claimed_by, claimed_until, due_at)
         SELECT network_id, delivery_id + 1000 + n, player_uuid, kind, payload, state, attempts, on_lost, created_at,
             claimed_by, claimed_until, due_at FROM deliveries, generate_series(1, 1200) AS n";
    let mut database = hub.database().await;
    database.execute(copies).await.unwrap();
    let free = create(&quiet, 1, retry()).await;
    claimed(&quiet, free, "a").await;
    let network = noisy.network.unwrap().0;
    database.execute("BEGIN").await.unwrap();
    sqlx::query("SELECT 1 FROM deliveries WHERE network_id = $1 FOR UPDATE")
        .bind(network)
        .execute(&mut database)
        .await
        .unwrap();
    hub.advance_ms(61_000);
    reaches(&quiet, free, "PENDING").await;
    let claimed = "SELECT COUNT(*) FROM deliveries WHERE network_id = $1 AND state = 'CLAIMED'";
    let count: i64 = sqlx::query_scalar(claimed).bind(network).fetch_one(&mut database).await.unwrap();
    assert_eq!(count, 1_201);
    database.execute("COMMIT").await.unwrap();
    Hub::eventually("its own lapse, too", async || {
        let count: i64 = sqlx::query_scalar(claimed).bind(network).fetch_one(&mut database).await.unwrap();
        count == 0
    })
    .await;
}

on_both! {
    async fn a_lost_claim_is_held_or_tried_again(hub: Hub) {
        let client = playing(&hub).await;
        let hold = create(&client, 1, json!({"kind": "hold"})).await;
        let retry = create(&client, 1, json!({"kind": "retry", "onLost": "RETRY"})).await;
        let short = create(&client, 1, json!({"kind": "short", "onLost": "RETRY", "expiresAt": NOW + 30_000})).await;
        let short_hold = create(&client, 1, json!({"kind": "short hold", "expiresAt": NOW + 30_000})).await;
        let mut claims = vec![];
        for id in [hold, retry, short, short_hold] {
            claims.push(claimed(&client, id, "a").await);
        }
        wait(&hub, &client, 59_999).await;
        // A claim that began in time may end after it.
        assert_eq!(state(&client, short).await, "CLAIMED");
        hub.advance_ms(1);
        for (id, claim) in [hold, retry, short, short_hold].into_iter().zip(&claims) {
            complete(&client, id, claim).await.expect_error(409, "stale_claim");
        }
        reaches(&client, hold, "HELD").await;
        reaches(&client, retry, "PENDING").await;
        reaches(&client, short, "EXPIRED").await;
        reaches(&client, short_hold, "HELD").await;
        let held = read(&client, hold).await;
        assert_eq!((&held["settledAt"], &held["claimedBy"], &held["claimedUntil"]), (&Value::Null, &json!("a"), &Value::Null));
        assert_eq!(read(&client, short).await["settledAt"], NOW + 60_000);
        claim(&client, hold, "a").await.expect_error(409, "settled");
        claim(&client, short, "a").await.expect_error(409, "settled");
        let again = claim(&client, retry, "a").await.expect(200).clone();
        assert_eq!(again["delivery"]["attempts"], 2);
        complete(&client, retry, &claims[1]).await.expect_error(409, "stale_claim");
        complete(&client, retry, again["claim"].as_str().unwrap()).await.expect(200);
    }

    async fn deliveries_that_cannot_be_read_do_not_hold_up_others(hub: Hub) {
        let client = playing(&hub).await;
        create(&client, 1, json!({"kind": "broken", "notBefore": NOW + 1_000})).await;
        let id = create(&client, 1, json!({"kind": "fine", "notBefore": NOW + 2_000, "expiresAt": NOW + 3_000})).await;
        let copies = "INSERT INTO deliveries (network_id, delivery_id, player_uuid, kind, payload, state, attempts, on_lost,
                 created_at, not_before, due_at)
             WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1200)
             SELECT network_id, delivery_id + 1000 + n, player_uuid, kind, 'no JSON', state, attempts, on_lost, created_at,
                 not_before, due_at
             FROM deliveries, numbers WHERE network_id = $1 AND delivery_id = 1";
        let network = client.network.unwrap();
        hub.app.db.write(copies).bind(network).execute().await.unwrap();
        for _ in 0..8 {
            hub.advance_ms(1_000);
        }
        Hub::eventually("expired", async || {
            let expired = client.get("/api/manage/deliveries?state=EXPIRED").await.expect(200).clone();
            expired["items"].as_array().unwrap().iter().any(|it| it["deliveryId"] == id)
        })
        .await;
    }

    async fn a_delivery_waits_for_its_time_and_expires(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({"notBefore": NOW + 5_000, "expiresAt": NOW + 9_000})).await;
        let mut events = stream(&client, "a").await;
        claim(&client, id, "a").await.expect_error(409, "not_ready");
        hub.advance_ms(5_000);
        assert_eq!(offered(&client, "a").await, [id]);
        super::expect_ready(&mut events, id).await;
        hub.advance_ms(4_000);
        claim(&client, id, "a").await.expect_error(409, "settled");
        expect_settled(&mut events, id, "EXPIRED").await;
        assert_eq!(read(&client, id).await["settledAt"], NOW + 9_000);
    }

    async fn nothing_is_decided_while_the_time_is_doubtful(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({})).await;
        claimed(&client, id, "a").await;
        let other = create(&client, 1, json!({"kind": "mark", "notBefore": NOW + 61_000})).await;
        hub.clock.doubt(true);
        hub.advance_ms(62_000);
        hub.advance_ms(1_000);
        assert_eq!(state(&client, id).await, "CLAIMED");
        hub.clock.doubt(false);
        hub.advance_ms(1_000);
        reaches(&client, id, "HELD").await;
        assert_eq!(state(&client, other).await, "PENDING");
    }

    async fn a_restart_forgets_no_claim(hub: Hub) {
        let client = playing(&hub).await;
        let (kept, lost) = (create(&client, 1, json!({})).await, create(&client, 1, json!({"kind": "lost"})).await);
        let (text, _) = (claimed(&client, kept, "a").await, claimed(&client, lost, "a").await);
        let (key, network) = (client.key.clone().unwrap(), client.network.unwrap());
        let hub = hub.restart(Duration::from_secs(30)).await;
        let client = hub.with_key(&key).for_network(network);
        complete(&client, kept, &text).await.expect(200);
        let hub = hub.abandon(Duration::from_secs(30)).await;
        let client = hub.with_key(&key).for_network(network);
        reaches(&client, lost, "HELD").await;
        assert_eq!(state(&client, kept).await, "DELIVERED");
    }

    async fn many_networks_lapse_side_by_side(hub: Hub) {
        let mut owed = vec![];
        for _ in 0..5 {
            let client = hub.network().await;
            for number in 0..30 {
                send(&client, number, json!({"expiresAt": NOW + 1_000})).await.expect(201);
            }
            owed.push(client);
        }
        hub.advance_ms(1_000);
        for client in owed {
            let expired = async || client.get("/api/manage/deliveries?state=EXPIRED").await.expect(200)["total"] == 30;
            Hub::eventually("all are expired", expired).await;
        }
    }
}
