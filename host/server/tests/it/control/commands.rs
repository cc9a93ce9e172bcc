//! Console commands that connectors run.

use serde_json::{Value, json};

use super::{begin, until_waiting};
use crate::servers::register;
use crate::support::on_both;

on_both! {
    async fn a_command_goes_to_its_server_and_comes_back(hub: Hub) {
        let client = hub.network().await;
        let owner = client.key_with(&["servers:control"]).await;
        register(&client, "lobby-1", json!({})).await;
        register(&client, "lobby-2", json!({})).await;
        let mut events = client.events(Some("lobby-1"), None).await;
        let mut others = client.events(Some("lobby-2"), None).await;
        for (body, timeout, result) in [
            (json!({"command": "list"}), 10_000, json!({"success": true, "output": "0 players"})),
            (json!({"command": "op x", "timeoutMs": 500}), 500, json!({"success": false, "error": "no"})),
            (json!({"command": "a", "timeoutMs": 60_001}), 60_000, json!({"success": true})),
            (json!({"command": "a", "timeoutMs": null}), 10_000, json!({"success": true, "output": "", "error": ""})),
        ] {
            let call = begin(&owner, "lobby-1/command", body.clone());
            let event = events.next_named("EXECUTE_COMMAND").await.data;
            assert_eq!((&event["command"], &event["timeoutMs"]), (&body["command"], &json!(timeout)));
            let mut sent = result.clone();
            sent["requestId"] = event["requestId"].clone();
            client.post("/api/plugin/servers/command-result", sent).await.expect(204);
            let outcome = call.await.unwrap();
            for field in ["success", "output", "error"] {
                assert_eq!(outcome.expect(200)[field], result[field], "{field} of {body}");
            }
        }
        // The other server's stream had none of them.
        begin(&owner, "lobby-2/command", json!({"command": "here"}));
        assert_eq!(others.next_named("EXECUTE_COMMAND").await.data["command"], "here");
    }

    async fn a_command_needs_a_connected_server(hub: Hub) {
        let client = hub.network().await;
        let path = "/api/manage/servers/lobby-1/command";
        client.post(path, json!({"command": "list"})).await.expect_error(404, "unknown_server");
        register(&client, "lobby-1", json!({})).await;
        client.post(path, json!({"command": "list"})).await.expect_error(503, "not_connected");
        let _events = client.events(Some("lobby-1"), None).await;
        hub.advance_ms(30_000);
        client.post(path, json!({"command": "list"})).await.expect_error(503, "server_offline");
        for body in [json!({}), json!({"command": null}), json!({"command": ""}), json!({"command": "\n"}), json!({"command": 5}),
            json!({"command": "a\nb"}), json!({"command": "x".repeat(4097)}), json!({"command": "a", "timeoutMs": 0}),
            json!({"command": "a", "timeoutMs": "5"}), json!({"command": "a", "timeoutMs": 1.5})] {
            client.post(path, body).await.expect_error(400, "invalid_request");
        }
        let reader = client.key_with(&["servers:read"]).await;
        reader.post(path, json!({"command": "list"})).await.expect_error(403, "forbidden_scope");
        let other = hub.network().await;
        other.post(path, json!({"command": "list"})).await.expect_error(404, "unknown_server");
    }

    async fn an_outcome_after_the_timeout_is_discarded(hub: Hub) {
        let client = hub.network().await;
        register(&client, "lobby-1", json!({})).await;
        let mut events = client.events(Some("lobby-1"), None).await;
        let call = begin(&client, "lobby-1/command", json!({"command": "list", "timeoutMs": 2_000}));
        let event = events.next_named("EXECUTE_COMMAND").await.data;
        // Another network's answer is none.
        let other = hub.network().await;
        let result = json!({"requestId": event["requestId"], "success": true});
        other.post("/api/plugin/servers/command-result", result.clone()).await.expect(204);
        hub.advance_ms(1_999);
        until_waiting(&hub, 1).await;
        hub.advance_ms(1);
        call.await.unwrap().expect_error(503, "no_answer");
        until_waiting(&hub, 0).await;
        client.post("/api/plugin/servers/command-result", result).await.expect(204);
        let unknown = json!({"requestId": "never asked", "success": false, "output": null, "error": null});
        client.post("/api/plugin/servers/command-result", unknown).await.expect(204);
        for wrong in [json!({}), json!({"requestId": "a"}), json!({"requestId": " ", "success": true}),
            json!({"requestId": "a", "success": "yes"}), json!({"requestId": "a", "success": true, "output": 5}), Value::Null] {
            client.post("/api/plugin/servers/command-result", wrong).await.expect_error(400, "invalid_request");
        }
    }
}
