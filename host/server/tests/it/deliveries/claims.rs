//! Claims: one at a time, and only their holder settles them.

use serde_json::{Value, json};

use super::{PATH, claim, claimed, complete, create, fail, playing, read, state};
use crate::servers::join;
use crate::support::{NOW, on_both};

on_both! {
    async fn a_claim_is_completed_once(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({})).await;
        let answer = claim(&client, id, "a").await.expect(200).clone();
        assert_eq!(answer["claimedUntil"], NOW + 60_000);
        let delivery = &answer["delivery"];
        assert_eq!(
            (&delivery["state"], &delivery["attempts"], &delivery["claimedBy"], &delivery["claimedUntil"]),
            (&json!("CLAIMED"), &json!(1), &json!("a"), &json!(NOW + 60_000))
        );
        let text = answer["claim"].as_str().unwrap();
        // By the same server, too.
        claim(&client, id, "a").await.expect_error(409, "claimed");
        hub.advance_ms(10);
        let done = complete(&client, id, text).await.expect(200).clone();
        assert_eq!((&done["state"], &done["settledAt"], &done["claimedUntil"]), (&json!("DELIVERED"), &json!(NOW + 10), &Value::Null));
        hub.advance_ms(120_000);
        assert_eq!(complete(&client, id, text).await.expect(200), &done);
        fail(&client, id, text, false).await.expect_error(409, "stale_claim");
        claim(&client, id, "a").await.expect_error(409, "settled");
        assert_eq!(read(&client, id).await, done);
    }

    async fn wrong_claims_settle_nothing(hub: Hub) {
        let client = playing(&hub).await;
        let (id, other) = (create(&client, 1, json!({})).await, create(&client, 1, json!({"kind": "rank"})).await);
        let (mine, theirs) = (claimed(&client, id, "a").await, claimed(&client, other, "a").await);
        for wrong in [theirs.as_str(), "", "x", "1.", &format!("{id}.x"), &mine.to_uppercase(), &format!("{mine}0")] {
            complete(&client, id, wrong).await.expect_error(409, "stale_claim");
            fail(&client, id, wrong, true).await.expect_error(409, "stale_claim");
        }
        client.post(&format!("{PATH}/{id}/complete"), json!({})).await.expect_error(400, "invalid_request");
        complete(&client, 99, &mine).await.expect_error(404, "unknown_delivery");
        claim(&client, 99, "a").await.expect_error(404, "unknown_delivery");
        client.post(&format!("{PATH}/x/claim"), json!({"serverId": "a"})).await.expect_error(400, "invalid_request");
        // Another network's are unknown.
        let stranger = hub.network().await;
        complete(&stranger, id, &mine).await.expect_error(404, "unknown_delivery");
        assert_eq!(state(&client, id).await, "CLAIMED");
        complete(&client, id, &mine).await.expect(200);
    }

    async fn of_many_claims_at_once_one_wins(hub: Hub) {
        let client = playing(&hub).await;
        for _ in 0..5 {
            let id = create(&client, 1, json!({})).await;
            let answers = futures_util::future::join_all((0..20).map(|_| claim(&client, id, "a"))).await;
            let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
            assert_eq!(won.len(), 1);
            for lost in answers.iter().filter(|answer| answer.status != 200) {
                lost.expect_error(409, "claimed");
            }
            assert_eq!(read(&client, id).await["attempts"], 1);
            complete(&client, id, won[0].body["claim"].as_str().unwrap()).await.expect(200);
        }
    }

    async fn of_claims_of_one_kind_at_once_the_first_created_wins(hub: Hub) {
        let client = playing(&hub).await;
        let ids = futures_util::future::join_all((0..10).map(|_| create(&client, 1, json!({})))).await;
        let first = *ids.iter().min().unwrap();
        let answers = futures_util::future::join_all(ids.iter().map(|id| claim(&client, *id, "a"))).await;
        for (id, answer) in ids.iter().zip(answers) {
            if *id == first {
                answer.expect(200);
            } else {
                answer.expect_error(409, "not_ready");
            }
        }
    }

    async fn a_failed_claim_is_tried_again_up_to_five_times(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({})).await;
        for attempt in 1..=5 {
            let text = claimed(&client, id, "a").await;
            let failed = fail(&client, id, &text, true).await.expect(200).clone();
            let expected = if attempt < 5 { "PENDING" } else { "FAILED" };
            assert_eq!((&failed["state"], &failed["attempts"], &failed["reason"]), (&json!(expected), &json!(attempt), &json!("full")));
            assert_eq!(failed["settledAt"].is_null(), attempt < 5);
            // The same call again is answered the same; the claim is over.
            assert_eq!(fail(&client, id, &text, true).await.expect(200), &failed);
            fail(&client, id, &text, false).await.expect_error(409, "stale_claim");
            complete(&client, id, &text).await.expect_error(409, "stale_claim");
        }
        claim(&client, id, "a").await.expect_error(409, "settled");
    }

    async fn a_repeated_failure_ends_with_the_next_claim(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({})).await;
        let first = claimed(&client, id, "a").await;
        fail(&client, id, &first, true).await.expect(200);
        let second = claimed(&client, id, "a").await;
        fail(&client, id, &first, true).await.expect_error(409, "stale_claim");
        let failed = client.post(&format!("{PATH}/{id}/fail"), json!({"claim": second})).await.expect(200).clone();
        assert_eq!((&failed["state"], &failed["reason"], &failed["attempts"]), (&json!("FAILED"), &Value::Null, &json!(2)));
        assert_eq!(fail(&client, id, &second, false).await.expect(200), &failed);
        complete(&client, id, &second).await.expect_error(409, "stale_claim");
    }

    async fn a_player_must_be_on_the_server_that_claims(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({})).await;
        for elsewhere in ["b", "nowhere"] {
            claim(&client, id, elsewhere).await.expect_error(409, "not_ready");
        }
        let text = claimed(&client, id, "a").await;
        // It may be completed though the player has left meanwhile.
        join(&client, "b", 1).await;
        complete(&client, id, &text).await.expect(200);
        client.post(&format!("{PATH}/{id}/claim"), json!({})).await.expect_error(400, "invalid_request");
    }
}
