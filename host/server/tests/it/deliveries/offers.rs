//! Offers: where, when and in which order deliveries can be claimed, and that servers are told.

use serde_json::{Value, json};

use super::{
    PATH, claim, claimed, complete, create, decide, expect_ready, expect_settled, fail, offered, playing, stream, wait,
};
use crate::servers::{join, register, uuid};
use crate::support::{NOW, on_both};

on_both! {
    async fn a_server_is_offered_what_may_happen_there(hub: Hub) {
        let client = playing(&hub).await;
        register(&client, "c", json!({"serverType": "lobby"})).await;
        let anywhere = create(&client, 1, json!({"kind": "any"})).await;
        let survival = create(&client, 1, json!({"kind": "survival", "serverType": "survival"})).await;
        let on_b = create(&client, 1, json!({"kind": "b", "serverId": "b"})).await;
        let lobby = create(&client, 1, json!({"kind": "lobby", "serverType": "lobby"})).await;
        create(&client, 2, json!({"kind": "other"})).await;
        let later = create(&client, 1, json!({"kind": "later", "notBefore": NOW + 1})).await;
        assert_eq!(offered(&client, "a").await, [anywhere, survival]);
        assert_eq!(offered(&client, "b").await, [0; 0]);
        join(&client, "b", 1).await;
        assert_eq!(offered(&client, "b").await, [anywhere, survival, on_b]);
        join(&client, "c", 1).await;
        assert_eq!(offered(&client, "c").await, [anywhere, lobby]);
        for id in [survival, on_b, later] {
            claim(&client, id, "c").await.expect_error(409, "not_ready");
        }
        join(&client, "c", 2).await;
        let of_one = client.get(&format!("{PATH}?serverId=c&playerUuid={}", uuid(2))).await.expect(200).clone();
        assert_eq!(of_one["items"][0]["kind"], "other");
        assert_eq!((of_one["items"].as_array().unwrap().len(), &of_one["more"]), (1, &json!(false)));
        let elsewhere = client.get(&format!("{PATH}?serverId=a&playerUuid={}", uuid(2))).await.expect(200).clone();
        assert_eq!(elsewhere, json!({"items": [], "more": false}));
        for wrong in ["", "?playerUuid=x&serverId=a", "?serverId="] {
            client.get(&format!("{PATH}{wrong}")).await.expect_error(400, "invalid_request");
        }
    }

    async fn at_most_a_hundred_are_offered_at_once(hub: Hub) {
        let client = playing(&hub).await;
        for kind in 0..101 {
            create(&client, 1, json!({"kind": format!("k{kind}")})).await;
        }
        let list = client.get(&format!("{PATH}?serverId=a")).await.expect(200).clone();
        assert_eq!((list["items"].as_array().unwrap().len(), &list["more"]), (100, &json!(true)));
        let text = claimed(&client, 1, "a").await;
        complete(&client, 1, &text).await.expect(200);
        let list = client.get(&format!("{PATH}?serverId=a")).await.expect(200).clone();
        assert_eq!((list["items"].as_array().unwrap().len(), &list["more"]), (100, &json!(false)));
    }

    async fn one_kind_happens_in_the_order_of_creation(hub: Hub) {
        let client = playing(&hub).await;
        let not_due = create(&client, 1, json!({"notBefore": NOW + 1_000_000})).await;
        let elsewhere = create(&client, 1, json!({"serverId": "b"})).await;
        let first = create(&client, 1, json!({})).await;
        let second = create(&client, 1, json!({})).await;
        let other_kind = create(&client, 1, json!({"kind": "rank"})).await;
        assert_eq!(offered(&client, "a").await, [first, other_kind]);
        claim(&client, second, "a").await.expect_error(409, "not_ready");
        let text = claimed(&client, first, "a").await;
        assert_eq!(offered(&client, "a").await, [other_kind]);
        claim(&client, second, "a").await.expect_error(409, "not_ready");
        fail(&client, first, &text, true).await.expect(200);
        claim(&client, second, "a").await.expect_error(409, "not_ready");
        let text = claimed(&client, first, "a").await;
        complete(&client, first, &text).await.expect(200);
        assert_eq!(offered(&client, "a").await, [second, other_kind]);
        // At the other server an earlier one comes first.
        join(&client, "b", 1).await;
        assert_eq!(offered(&client, "b").await, [elsewhere, other_kind]);
        claim(&client, second, "b").await.expect_error(409, "not_ready");
        decide(&client, elsewhere, "cancel").await.expect(200);
        claim(&client, second, "b").await.expect(200);
        assert_eq!(super::state(&client, not_due).await, "PENDING");
    }

    async fn a_held_one_blocks_none(hub: Hub) {
        let client = playing(&hub).await;
        let (first, second) = (create(&client, 1, json!({})).await, create(&client, 1, json!({})).await);
        let mut events = stream(&client, "a").await;
        claimed(&client, first, "a").await;
        wait(&hub, &client, 60_000).await;
        expect_settled(&mut events, first, "HELD").await;
        expect_ready(&mut events, second).await;
        assert_eq!(offered(&client, "a").await, [second]);
        claim(&client, second, "a").await.expect(200);
    }

    async fn servers_are_told_what_can_be_claimed(hub: Hub) {
        let client = playing(&hub).await;
        let (mut a, mut b) = (stream(&client, "a").await, stream(&client, "b").await);
        let first = create(&client, 1, json!({})).await;
        expect_ready(&mut a, first).await;
        let second = create(&client, 1, json!({})).await;
        let rank = create(&client, 1, json!({"kind": "rank", "serverId": "b"})).await;
        let late = create(&client, 1, json!({"kind": "late", "notBefore": NOW + 5_000})).await;
        // The second is told when the first has ended.
        let text = claimed(&client, first, "a").await;
        complete(&client, first, &text).await.expect(200);
        expect_settled(&mut a, first, "DELIVERED").await;
        expect_ready(&mut a, second).await;
        let text = claimed(&client, second, "a").await;
        fail(&client, second, &text, true).await.expect(200);
        expect_ready(&mut a, second).await;
        hub.advance_ms(5_000);
        expect_ready(&mut a, late).await;
        // A join tells all, to that server alone.
        expect_settled(&mut b, first, "DELIVERED").await;
        join(&client, "b", 1).await;
        for id in [second, rank, late] {
            expect_ready(&mut b, id).await;
        }
        decide(&client, second, "cancel").await.expect(200);
        expect_settled(&mut a, second, "CANCELLED").await;
        expect_settled(&mut b, second, "CANCELLED").await;
    }

    async fn a_load_includes_what_can_be_claimed(hub: Hub) {
        let client = playing(&hub).await;
        let id = create(&client, 1, json!({"payload": [1]})).await;
        create(&client, 2, json!({})).await;
        let load = async |player: u64| {
            let path = format!("/api/plugin/players/{}/load?include=deliveries", uuid(player));
            client.post(&path, Value::Null).await.expect(200)["deliveries"].clone()
        };
        assert_eq!(load(1).await, json!([super::read(&client, id).await]));
        // This one is on no server.
        assert_eq!(load(2).await, json!([]));
        let key = client.key_with(&["players:write"]).await;
        let path = format!("/api/plugin/players/{}/load?include=deliveries", uuid(1));
        key.post(&path, Value::Null).await.expect_error(403, "forbidden_scope");
        client.key_with(&["players:write", "deliveries:write"]).await.post(&path, Value::Null).await.expect(200);
    }
}
