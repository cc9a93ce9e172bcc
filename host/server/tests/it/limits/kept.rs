//! Answers stored under an `Idempotency-Key`.

use hub::limits::Limit;
use serde_json::json;

use super::{hub_with, player, register_collection, send_with_key};
use crate::support::{Backend, on_both, on_each};

on_both! {
    async fn a_large_answer_is_not_kept_and_has_one_effect(hub: Hub) {
        let client = hub.network().await;
        let path = format!("/api/plugin/players/{}", player(1));
        let load = format!("{path}/load");
        let first = send_with_key(&client, "small", &load, &json!(null)).await;
        first.expect(200);
        assert_eq!(send_with_key(&client, "small", &load, &json!(null)).await.expect(200), &first.body);
        let data = json!({"data": format!("\"{}\"", "x".repeat(70_000))});
        client.put(&format!("{path}/data/global/bag"), data).await.expect(200);
        assert_eq!(send_with_key(&client, "large", &load, &json!(null)).await.expect(200)["lastSeen"], crate::support::NOW);
        hub.advance_ms(1_000);
        for _ in 0..2 {
            send_with_key(&client, "large", &load, &json!(null)).await.expect_error(409, "answer_not_kept");
        }
        assert_eq!(client.get(&path).await.expect(200)["lastSeen"], crate::support::NOW);
        send_with_key(&client, "large", &format!("{load}?x=1"), &json!(null)).await
            .expect_error(400, "idempotency_mismatch");
    }

    async fn a_post_that_only_reads_keeps_nothing(hub: Hub) {
        let client = hub.network().await;
        register_collection(&client, "guilds", &[]).await.expect(200);
        let mget = "/api/plugin/collections/guilds/mget";
        let asked = json!({"ids": ["a"]});
        assert_eq!(send_with_key(&client, "k", mget, &asked).await.expect(200), &json!({"items": []}));
        client.put("/api/plugin/collections/guilds/a", json!(1)).await.expect(200);
        let now = send_with_key(&client, "k", mget, &asked).await;
        assert_eq!(now.expect(200), &json!({"items": [{"id": "a", "doc": 1}]}));
        assert!(!now.headers.contains_key("idempotency-replayed"));
        send_with_key(&client, "k", mget, &json!({"ids": ["b"]})).await.expect(200);
    }
}

on_each! { the_bound_can_be_lowered }

async fn the_bound_can_be_lowered(backend: Backend) {
    let hub = hub_with(backend, &[(Limit::KeptAnswerBytes, 10)]).await;
    let client = hub.network().await;
    let warn = json!({"playerUuid": player(1), "type": "WARN"});
    send_with_key(&client, "k", "/api/plugin/punishments/create", &warn).await.expect(200);
    send_with_key(&client, "k", "/api/plugin/punishments/create", &warn).await.expect_error(409, "answer_not_kept");
    let history = client.get(&format!("/api/plugin/punishments/player/{}/history", player(1))).await;
    assert_eq!(history.expect(200).as_array().unwrap().len(), 1);
}
