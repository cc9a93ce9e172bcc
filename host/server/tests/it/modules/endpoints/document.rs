//! The network's own OpenAPI document.

use serde_json::{Value, json};

use super::{install, public};
use crate::modules::chain;
use crate::support::{Client, on_both};

const DOCUMENT: &str = "/api/manage/openapi.json";

/// The operation of a method at a path; null without one.
async fn operation(client: &Client, path: &str, method: &str) -> Value {
    client.get(DOCUMENT).await.expect(200)["paths"][path][method].clone()
}

on_both! {
    async fn the_document_of_a_network_has_the_routes_of_its_active_modules(hub: Hub) {
        let (owner, other) = (hub.network().await, hub.network().await);
        let private = "/api/plugin/x/votes/vote";
        assert_eq!(operation(&owner, private, "post").await, Value::Null);
        install(&owner, json!({})).await;
        let document = owner.get(DOCUMENT).await.expect(200).clone();
        let hubs = hub.anonymous().get("/api/openapi.json").await.expect(200).clone();
        for (path, item) in hubs["paths"].as_object().unwrap() {
            assert_eq!(&document["paths"][path], item, "{path}");
        }
        let tags = document["tags"].as_array().unwrap();
        assert_eq!(tags.len(), hubs["tags"].as_array().unwrap().len() + 1);
        assert_eq!(tags.last().unwrap()["name"], "x:votes");

        let vote = &document["paths"][private]["post"];
        assert_eq!((&vote["operationId"], &vote["tags"]), (&json!("x_votes_post_vote"), &json!(["x:votes"])));
        assert_eq!((&vote["security"], vote.get("x-signature")), (&json!([{"apiKey": ["plugin"]}]), None));
        let schema = &vote["requestBody"]["content"]["application/json"]["schema"];
        assert!(schema["properties"]["id"].is_object(), "{vote}");

        let open = &document["paths"][public(&owner, "votes/vote")]["post"];
        assert_eq!((&open["security"], &open["operationId"]), (&json!([]), &json!("x_votes_post_vote_public")));
        assert_eq!(open["x-signature"]["kind"], "HMAC_SHA256");
        let signed = json!({"name": "x-signature", "in": "header", "required": true, "schema": {"type": "string"}});
        assert!(open["parameters"].as_array().unwrap().contains(&signed), "{open}");
        assert_eq!(&open["responses"]["401"]["description"], "The signature is missing or wrong");
        // Not without a key.
        let (votes, open) = ("votes/players/{player}/votes", public(&owner, "votes/players/{player}/votes"));
        let read = &document["paths"][format!("/api/plugin/x/{votes}")]["get"];
        assert_eq!((&read["parameters"][0]["in"], read.get("requestBody")), (&json!("path"), None), "{read}");
        assert_eq!(document["paths"].get(open), None);

        assert_eq!(operation(&other, private, "post").await, Value::Null);
        let reader = owner.key_with(&["modules:read"]).await;
        assert_eq!(operation(&reader, private, "post").await["summary"], "vote");
        owner.key_with(&["plugin"]).await.get(DOCUMENT).await.expect_error(403, "forbidden_scope");
        chain(&owner, "endpoints", json!([])).await.expect(200);
        assert_eq!(operation(&owner, private, "post").await, Value::Null);
    }
}
