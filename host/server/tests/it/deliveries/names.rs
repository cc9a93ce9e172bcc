//! Deliveries by name.

use serde_json::{Value, json};

use super::{PATH, expect_ready, offered, playing, read, stream};
use crate::servers::{join, uuid};
use crate::support::{Client, on_both};

async fn by_name(client: &Client, name: &str, kind: &str) -> i64 {
    let answer =
        client.post(PATH, json!({"playerName": name, "kind": kind, "reference": format!("{name} {kind}")})).await;
    answer.expect(201)["deliveryId"].as_i64().unwrap()
}

async fn load(client: &Client, player: u64, name: &str) {
    client.post(&format!("/api/plugin/players/{}/load?username={name}", uuid(player)), Value::Null).await.expect(200);
}

on_both! {
    async fn a_name_is_of_the_player_seen_last_with_it(hub: Hub) {
        let client = playing(&hub).await;
        load(&client, 2, "Steve").await;
        hub.advance_ms(1_000);
        load(&client, 3, "sTEVE").await;
        let id = by_name(&client, "STEVE", "kit").await;
        let found = read(&client, id).await;
        assert_eq!((&found["playerUuid"], &found["playerName"]), (&json!(uuid(3)), &json!("STEVE")));
        // The same order again is the same, also under another spelling of the name.
        let again = json!({"playerName": "steve", "kind": "kit", "reference": "STEVE kit"});
        assert_eq!(client.post(PATH, again).await.expect(200)["deliveryId"], id);
    }

    async fn a_name_that_nobody_has_waits_for_who_is_first_seen_with_it(hub: Hub) {
        let client = playing(&hub).await;
        let (kit, rank) = (by_name(&client, "Alex", "kit").await, by_name(&client, "aLEX", "rank").await);
        assert_eq!(read(&client, kit).await["playerUuid"], Value::Null);
        assert_eq!(offered(&client, "a").await, [0; 0]);
        super::claim(&client, kit, "a").await.expect_error(409, "not_ready");
        // Callers without the right to say so are not believed.
        let key = client.key_with(&["players:write"]).await;
        load(&key, 9, "Alex").await;
        assert_eq!(read(&client, kit).await["playerUuid"], Value::Null);
        let mut events = stream(&client, "a").await;
        let joined = json!({"serverId": "a", "playerUuid": uuid(4), "playerName": "ALEX"});
        client.post("/api/plugin/servers/players", joined).await.expect(204);
        for id in [kit, rank] {
            expect_ready(&mut events, id).await;
            assert_eq!(read(&client, id).await["playerUuid"], uuid(4));
        }
        assert_eq!(offered(&client, "a").await, [kit, rank]);
        // It stays theirs.
        hub.advance_ms(1_000);
        load(&client, 5, "Alex").await;
        assert_eq!(read(&client, kit).await["playerUuid"], uuid(4));
    }

    async fn a_player_seen_meanwhile_is_found_a_second_later(hub: Hub) {
        let client = playing(&hub).await;
        let id = by_name(&client, "Alex", "kit").await;
        // Seen in a transaction that was not visible to the creation, and did not see it either.
        let player = hub::values::PlayerId(uuid(1).parse().unwrap());
        let name = "INSERT INTO player_names (network_id, player_uuid, name_folded, last_seen) VALUES ($1, $2, 'alex', 1)";
        hub.app.db.write(name).bind(client.network.unwrap()).bind(player).execute().await.unwrap();
        let mut events = stream(&client, "a").await;
        hub.advance_ms(1_000);
        expect_ready(&mut events, id).await;
        assert_eq!(read(&client, id).await["playerUuid"], uuid(1));
        join(&client, "b", 1).await;
    }
}
