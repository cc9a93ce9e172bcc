//! Chat lines, relayed to every server.

use serde_json::{Value, json};

use crate::support::{Client, Events, NOW, on_both};

const STEVE: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

fn line(message: &str) -> Value {
    json!({"playerUuid": STEVE, "playerName": "Steve", "message": message, "serverId": "lobby-1"})
}

/// A line with some fields changed, or left out where null.
fn line_with(changes: &Value) -> Value {
    let mut line = line("hello");
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(line.as_object_mut().unwrap().remove(name)),
            value => line[name] = value.clone(),
        }
    }
    line
}

async fn expect_message(events: &mut Events, message: &str) {
    let event = events.next().await.unwrap();
    assert_eq!((event.name.as_str(), &event.data["message"]), ("CHAT", &json!(message)));
}

async fn expect_refused(client: &Client, line: Value, hint: &str) {
    let answer = client.post("/api/plugin/chat", line.clone()).await;
    answer.expect_error(400, "invalid_request");
    assert!(answer.body["error"].as_str().unwrap().contains(hint), "{line}: {}", answer.body);
}

on_both! {
    async fn a_line_reaches_every_server_and_its_sender(hub: Hub) {
        let client = hub.network().await;
        let mut streams =
            [client.events(Some("lobby-1"), None).await, client.events(Some("pvp"), None).await, client.events(None, None).await];
        let body = json!({
            "playerUuid": "069A79F444E94726A5BEFCA90E38AAF5", "playerName": "Steve", "message": "hello §c😀",
            "serverId": "lobby-1", "serverType": "LOBBY", "world": "spawn", "rank": "VIP", "rankColor": "#ffaa00",
            "rankBold": true, "colorNameAlso": false, "unknown": {"field": 1},
        });
        client.post("/api/plugin/chat", body).await.expect(204);
        for events in &mut streams {
            let event = events.next().await.unwrap();
            assert_eq!(event.name, "CHAT");
            assert!(event.id.is_some());
            assert_eq!(event.data, json!({
                "type": "CHAT", "at": NOW, "playerUuid": STEVE, "playerName": "Steve", "message": "hello §c😀",
                "serverId": "lobby-1", "serverType": "LOBBY", "world": "spawn", "rank": "VIP", "rankColor": "#ffaa00",
                "rankBold": true, "colorNameAlso": false,
            }));
        }
        client.post("/api/plugin/chat", line("bare")).await.expect(204);
        let bare = streams[0].next().await.unwrap();
        assert_eq!((&bare.data["world"], &bare.data["rankBold"]), (&Value::Null, &Value::Null));
    }

    async fn another_network_gets_no_line(hub: Hub) {
        let (ours, theirs) = (hub.network().await, hub.network().await);
        let mut events = theirs.events(Some("lobby-1"), None).await;
        ours.post("/api/plugin/chat", line("ours")).await.expect(204);
        theirs.post("/api/plugin/chat", line("theirs")).await.expect(204);
        expect_message(&mut events, "theirs").await;
    }

    async fn a_message_is_1_to_1024_characters(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        for fine in ["x", " ", "a\u{301}", "\"\\", "\u{2028}", "</script>", &"😀".repeat(1_024)] {
            client.post("/api/plugin/chat", line(fine)).await.expect(204);
            expect_message(&mut events, fine).await;
        }
        for (wrong, hint) in [
            (String::new(), "1 to 1024"),
            ("x".repeat(1_025), "1 to 1024"),
            ("😀".repeat(1_025), "1 to 1024"),
            ("a\nb".to_owned(), "control"),
            ("a\u{7}b".to_owned(), "control"),
            ("a\u{7f}b".to_owned(), "control"),
            ("a\u{9b}b".to_owned(), "control"),
            ("a\u{0}b".to_owned(), "NUL"),
            ("data: x\r\n\r\nevent: TRANSFER".to_owned(), "control"),
        ] {
            expect_refused(&client, line(&wrong), hint).await;
        }
        client.post("/api/plugin/chat", line("last")).await.expect(204);
        expect_message(&mut events, "last").await;
    }

    async fn invalid_fields_are_named_in_the_error(hub: Hub) {
        let client = hub.network().await;
        let mut events = client.events(None, None).await;
        for (changes, hint) in [
            (json!({"playerUuid": null}), "playerUuid"),
            (json!({"playerName": null}), "playerName"),
            (json!({"message": null}), "message"),
            (json!({"serverId": null}), "serverId"),
            (json!({"playerUuid": "Steve"}), "playerUuid"),
            (json!({"playerUuid": ""}), "playerUuid"),
            (json!({"playerName": " "}), "playerName"),
            (json!({"serverId": ""}), "serverId"),
            (json!({"serverId": "x".repeat(256)}), "serverId"),
            (json!({"message": 5}), "message"),
            (json!({"rankBold": "yes"}), "rankBold"),
            (json!({"colorNameAlso": 1}), "colorNameAlso"),
            (json!({"rank": ["VIP"]}), "rank"),
            (json!({"world": "x".repeat(256)}), "world"),
        ] {
            expect_refused(&client, line_with(&changes), hint).await;
        }
        expect_refused(&client, json!([]), "body").await;
        client.post("/api/plugin/chat", line("last")).await.expect(204);
        expect_message(&mut events, "last").await;
    }

    async fn chat_needs_the_plugin_scope(hub: Hub) {
        let client = hub.network().await;
        let other = client.key_with(&["servers:read", "agent"]).await;
        other.post("/api/plugin/chat", line("hello")).await.expect_error(403, "forbidden_scope");
        hub.anonymous().post("/api/plugin/chat", line("hello")).await.expect_error(401, "unauthenticated");
        client.get("/api/plugin/chat").await.expect_error(405, "method_not_allowed");
    }
}
