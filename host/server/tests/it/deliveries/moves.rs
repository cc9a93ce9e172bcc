//! Players who move, servers that come back, and answers that are gone while deliveries are under way.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::{
    PATH, claim, claimed, complete, create, decide, expect_ready, expect_settled, fail, offered, playing, reaches,
    read, stream, wait,
};
use crate::player_sessions::{data, open, save};
use crate::servers::{join, register};
use crate::support::{Answer, Client, on_both};

async fn claim_with(client: &Client, id: i64, key: &str) -> Answer {
    let request = client.request(Method::POST, &format!("{PATH}/{id}/claim")).header("Idempotency-Key", key);
    client.send(request.json(&json!({"serverId": "a"}))).await
}

on_both! {
    async fn a_lost_claim_is_handed_out_where_the_player_is_by_then(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({"onLost": "RETRY"})).await;
        let bound = create(&client, 1, json!({"kind": "bound", "onLost": "RETRY", "serverId": "a"})).await;
        let (text, of_bound) = (claimed(&client, id, "a").await, claimed(&client, bound, "a").await);
        let mut b = stream(&client, "b").await;
        join(&client, "b", 1).await;
        assert_eq!(offered(&client, "b").await, [0; 0]);
        wait(&hub, &client, 60_000).await;
        expect_ready(&mut b, id).await;
        assert_eq!((offered(&client, "a").await, offered(&client, "b").await), (vec![], vec![id]));
        claim(&client, id, "a").await.expect_error(409, "not_ready");
        claim(&client, bound, "b").await.expect_error(409, "not_ready");
        let again = claim(&client, id, "b").await.expect(200).clone();
        assert_eq!((&again["delivery"]["attempts"], &again["delivery"]["claimedBy"]), (&json!(2), &json!("b")));
        // The first server comes late.
        complete(&client, id, &text).await.expect_error(409, "stale_claim");
        fail(&client, id, &text, true).await.expect_error(409, "stale_claim");
        complete(&client, id, again["claim"].as_str().unwrap()).await.expect(200);
        // Deliveries of that server alone wait for the player there.
        let mut a = stream(&client, "a").await;
        join(&client, "a", 1).await;
        expect_ready(&mut a, bound).await;
        complete(&client, bound, &of_bound).await.expect_error(409, "stale_claim");
        let text = claimed(&client, bound, "a").await;
        complete(&client, bound, &text).await.expect(200);
    }

    async fn a_server_that_registers_again_keeps_its_claims(hub: Hub) {
        let client = playing(&hub).await;
        let (kept, lost) = (create(&client, 1, json!({})).await, create(&client, 1, json!({"kind": "lost", "onLost": "RETRY"})).await);
        let (text, old) = (claimed(&client, kept, "a").await, claimed(&client, lost, "a").await);
        wait(&hub, &client, 10_000).await;
        register(&client, "a", json!({"serverType": "survival"})).await;
        complete(&client, kept, &text).await.expect(200);
        // One that was restarted does not know its claim, and gets another when that has run out.
        claim(&client, lost, "a").await.expect_error(409, "claimed");
        wait(&hub, &client, 50_000).await;
        reaches(&client, lost, "PENDING").await;
        assert_eq!(offered(&client, "a").await, [lost], "the player is still there");
        let text = claimed(&client, lost, "a").await;
        complete(&client, lost, &old).await.expect_error(409, "stale_claim");
        assert_eq!(complete(&client, lost, &text).await.expect(200)["attempts"], 2);
    }

    async fn a_claim_whose_answer_is_gone_runs_out(hub: Hub) {
        let client = playing(&hub).await;
        let held = create(&client, 1, json!({})).await;
        let again = create(&client, 1, json!({"kind": "again", "onLost": "RETRY"})).await;
        for (id, key) in [(held, "1"), (again, "2")] {
            claim_with(&client, id, key).await.expect(200);
            // To nobody but the key that asked.
            claim_with(&client.key_with(&["deliveries:write"]).await, id, key).await.expect_error(409, "answer_not_kept");
        }
        let hub = hub.restart(Duration::from_secs(1)).await;
        let client = hub.with_key(client.key.as_deref().unwrap()).for_network(client.network.unwrap());
        for (id, key) in [(held, "1"), (again, "2")] {
            claim_with(&client, id, key).await.expect_error(409, "answer_not_kept");
            assert_eq!((&read(&client, id).await["attempts"], &read(&client, id).await["state"]), (&json!(1), &json!("CLAIMED")));
        }
        wait(&hub, &client, 59_000).await;
        reaches(&client, held, "HELD").await;
        reaches(&client, again, "PENDING").await;
        claim_with(&client, again, "2").await.expect_error(409, "answer_not_kept");
        assert_eq!(claim_with(&client, again, "3").await.expect(200)["delivery"]["attempts"], 2);
    }

    async fn a_save_settles_only_what_its_own_server_claimed(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({})).await;
        let body = json!({"data": data("n", &json!("kit")), "complete": [claimed(&client, id, "a").await]});
        join(&client, "b", 1).await;
        let of_b = open(&client, 1, "b").await;
        save(&client, 1, of_b, body.clone()).await.expect_error(409, "stale_claim");
        assert_eq!(read(&client, id).await["state"], "CLAIMED");
        let of_a = open(&client, 1, "a").await;
        save(&client, 1, of_a, body.clone()).await.expect(200);
        assert_eq!(read(&client, id).await["state"], "DELIVERED");
        // Nor what has run out.
        join(&client, "a", 1).await;
        let late = create(&client, 1, json!({})).await;
        let body = json!({"data": data("n", &json!("two kits")), "complete": [claimed(&client, late, "a").await]});
        wait(&hub, &client, 60_000).await;
        save(&client, 1, of_a, body).await.expect_error(409, "stale_claim");
        reaches(&client, late, "HELD").await;
        let stored = client.get(&format!("/api/plugin/players/{}/data/global/n", crate::servers::uuid(1))).await;
        assert_eq!(stored.expect(200)["data"], "\"kit\"");
    }

    async fn every_end_is_told(hub: Hub) {
        let client = playing(&hub).await;
        // The player is elsewhere: nothing is ready here.
        let mut events = stream(&client, "b").await;
        let failed = create(&client, 1, json!({"kind": "failed"})).await;
        let text = claimed(&client, failed, "a").await;
        fail(&client, failed, &text, false).await.expect(200);
        expect_settled(&mut events, failed, "FAILED").await;
        let often = create(&client, 1, json!({"kind": "often"})).await;
        for _ in 0..5 {
            let text = claimed(&client, often, "a").await;
            fail(&client, often, &text, true).await.expect(200);
        }
        expect_settled(&mut events, often, "FAILED").await;
        let short = json!({"kind": "short", "onLost": "RETRY", "expiresAt": hub.app.clock.now() + 30_000});
        let (short, held) = (create(&client, 1, short).await, create(&client, 1, json!({"kind": "held"})).await);
        for id in [short, held] {
            claimed(&client, id, "a").await;
        }
        wait(&hub, &client, 60_000).await;
        expect_settled(&mut events, short, "EXPIRED").await;
        expect_settled(&mut events, held, "HELD").await;
        decide(&client, held, "confirm").await.expect(200);
        expect_settled(&mut events, held, "DELIVERED").await;
        let cancelled = create(&client, 2, json!({})).await;
        decide(&client, cancelled, "cancel").await.expect(200);
        expect_settled(&mut events, cancelled, "CANCELLED").await;
    }
}
