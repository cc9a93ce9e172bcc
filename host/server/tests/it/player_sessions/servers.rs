//! Servers that come back, and what they find.

use serde_json::json;

use super::{data, ended_as, open, opening, path, save, state, stream, taken, try_open, until_waiting};
use crate::servers::{beat, join, register, uuid};
use crate::support::{NOW, on_both};

on_both! {
    async fn a_server_that_registers_again_keeps_its_sessions(hub: Hub) {
        let client = hub.network().await;
        for server in ["a", "b"] {
            register(&client, server, json!({})).await;
        }
        let mut of_a = stream(&client, "a").await;
        let before = open(&client, 1, "a").await;
        join(&client, "a", 1).await;
        hub.advance_ms(29_000);
        beat(&client, "b", json!({})).await;
        register(&client, "a", json!({})).await;
        hub.advance_ms(29_000);
        beat(&client, "a", json!({})).await;
        beat(&client, "b", json!({})).await;
        assert_eq!(state(&client, 1).await, "OPEN");
        save(&client, 1, before, json!({"data": data("n", &json!(1))})).await.expect(200);
        // One that was restarted does not know its fence, and gets another at once.
        let again = try_open(&client, 1, "a", 10_000).await.expect(200).clone();
        assert_eq!(ended_as(&again), taken(false, "a", "SAME_SERVER"));
        assert_eq!(again["profile"]["namespaces"][0]["data"], "1");
        save(&client, 1, before, json!({"data": data("n", &json!(2))})).await.expect_error(409, "stale_session");
        let fence = again["fence"].as_i64().unwrap();
        // Its stream is still the one that is asked.
        let asked = opening(&client, 1, "b", 10_000);
        assert_eq!(of_a.next_named("SESSION_REQUESTED").await.data["fence"], fence);
        save(&client, 1, fence, json!({"data": data("n", &json!(3)), "close": true})).await.expect(200);
        let opened = asked.await.unwrap();
        assert_eq!(ended_as(&opened), taken(false, "a", "CLOSED"));
        assert_eq!(opened["profile"]["namespaces"][0]["data"], "3");
    }

    async fn a_session_that_its_server_closed_is_closed_for_that_server_too(hub: Hub) {
        let client = hub.network().await;
        register(&client, "a", json!({})).await;
        let first = open(&client, 1, "a").await;
        save(&client, 1, first, json!({"close": true})).await.expect(200);
        assert_eq!(ended_as(try_open(&client, 1, "a", 0).await.expect(200)), taken(false, "a", "CLOSED"));
    }

    async fn an_opening_waits_for_three_seconds_unless_it_says_more(hub: Hub) {
        let client = hub.network().await;
        for server in ["a", "b"] {
            register(&client, server, json!({})).await;
        }
        let mut of_a = stream(&client, "a").await;
        open(&client, 1, "a").await;
        let (asking, at) = (client.clone(), path(1));
        let asked = tokio::spawn(async move { asking.post(&at, json!({"serverId": "b"})).await.expect(200).clone() });
        let request = of_a.next_named("SESSION_REQUESTED").await.data;
        assert_eq!((&request["deadline"], &request["playerUuid"]), (&json!(NOW + 3_000), &json!(uuid(1))));
        until_waiting(&hub, 1).await;
        hub.advance_ms(3_000);
        assert_eq!(ended_as(&asked.await.unwrap()), taken(true, "a", "TAKEN_OVER"));
    }
}
