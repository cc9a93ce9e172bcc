//! Every error has the same shape, and checks run in a fixed order.

use reqwest::Method;
use serde_json::json;

use crate::support::on_both;

on_both! {
    async fn unknown_routes_and_methods_are_errors_too(hub: Hub) {
        let anonymous = hub.anonymous();
        anonymous.get("/nowhere").await.expect_error(404, "unknown_route");
        anonymous.get("/api/plugin/nowhere").await.expect_error(404, "unknown_route");
        // Route and method come before the key.
        anonymous.delete("/api/manage/keys").await.expect_error(405, "method_not_allowed");
        anonymous.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
    }

    async fn a_valid_request_id_is_echoed_and_an_invalid_one_replaced(hub: Hub) {
        let client = hub.network().await;
        let sent = |id: &str| client.request(Method::GET, "/api/manage/nowhere").header("X-Request-Id", id);
        let answer = client.send(sent("session-42")).await;
        assert_eq!(answer.headers["x-request-id"], "session-42");
        answer.expect_error(404, "unknown_route");
        for invalid in ["two words", "", &"x".repeat(129), "<script>"] {
            let answer = client.send(sent(invalid)).await;
            assert_ne!(answer.headers["x-request-id"], invalid);
            answer.expect_error(404, "unknown_route");
        }
        assert!(client.get("/api/version").await.headers.contains_key("x-request-id"));
    }

    async fn an_invalid_body_or_query_is_400_with_a_hint(hub: Hub) {
        let client = hub.network().await;
        let wrong = |body: &'static str| client.request(Method::POST, "/api/manage/keys").body(body);
        for (body, hint) in [
            ("", "A JSON body is required"),
            ("{", "not valid JSON: EOF"),
            // Typical of a shell that removes the quotes.
            ("{name:x}", "not valid JSON: key must be a string at line 1 column 2"),
            (r#"{"name": "x", "scopes": [{plugin}]}"#, "not valid JSON: key must be a string"),
            (r#"{"name": "x", "scopes": [5]}"#, "`scopes[0]`"),
            ("[]", "invalid type: sequence, expected an object."),
            (r#"{"name": 5, "scopes": []}"#, "`name`"),
            (r#"{"name": "  ", "scopes": ["plugin"]}"#, "blank"),
            (r#"{"name": "x", "scopes": ["root"]}"#, "`scopes[0]`"),
            (r#"{"scopes": ["plugin"]}"#, "missing field `name`"),
            (r#"{"name": "a\u0000b", "scopes": ["plugin"]}"#, "NUL"),
            (r#"{"name": "x", "scopes": ["plugin"]} trailing"#, "one JSON value"),
        ] {
            let answer = client.send(wrong(body)).await;
            answer.expect_error(400, "invalid_request");
            assert!(answer.body["error"].as_str().unwrap().contains(hint), "{body}: {}", answer.body);
        }
        for (path, hint) in [
            ("/api/plugin/players/Notch", "In the path, `uuid`: must be a UUID"),
            ("/api/plugin/transfers/5", "unknown_route"),
            ("/api/manage/transfers/5", "In the path, `transferId`: must be a UUID"),
            ("/api/manage/modules/m/x", "In the path, `version`: `x` is not an integer."),
            ("/api/plugin/economy/player/Notch/currencies", "In the path, a player's key must be a UUID"),
            ("/api/plugin/collections/a%20b/x", "In the path, `collection`: "),
        ] {
            let answer = client.get(path).await;
            assert!(answer.body.to_string().contains(hint), "{path}: {}", answer.body);
        }
        for query in ["limit=0", "limit=-1", "limit=x", "limit=", "limit=1.5", "page=-1", "page=x"] {
            client.get(&format!("/api/manage/keys?{query}")).await.expect_error(400, "invalid_request");
        }
        let large = client.get("/api/manage/keys?limit=99999999999999999999999&page=0&other=1").await;
        assert_eq!(large.expect(200)["limit"], 200);
    }

    async fn a_large_body_is_413_before_its_syntax_is_checked(hub: Hub) {
        let client = hub.network().await;
        let large = " ".repeat(1024 * 1024 + 1);
        let answer = client.send(client.request(Method::POST, "/api/manage/keys").body(large.clone())).await;
        answer.expect_error(413, "body_too_large");
        // The scope comes before the size.
        let plugin = client.key_with(&["plugin"]).await;
        let answer = plugin.send(plugin.request(Method::POST, "/api/manage/keys").body(large)).await;
        answer.expect_error(403, "forbidden_scope");
        let largest = json!({"name": "x", "scopes": ["plugin"], "ignored": "x".repeat(1000 * 1000)});
        client.post("/api/manage/keys", largest).await.expect(201);
    }
}
