//! Secrets, and what a link needs.

use serde_json::json;

use super::{SECRET, by_voter, configure, grants, install, signature, vote, vote_signed};
use crate::modules::{chain, upload};
use crate::support::on_both;

const PATH: &str = "/api/manage/secrets/VOTES";

on_both! {
    async fn a_secret_is_never_shown_and_old_values_are_good_for_their_overlap(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, json!({})).await;
        let shown = owner.get("/api/manage/secrets").await.expect(200).clone();
        assert_eq!(shown["secrets"][0]["name"], "VOTES");
        assert_eq!(shown["secrets"][0]["previousUntil"], json!(null));
        vote(&owner, &by_voter("1")).await.expect(200);
        owner.put(PATH, json!({"value": "new", "overlapMs": 60_000})).await.expect(204);
        let shown = owner.get("/api/manage/secrets").await.expect(200).clone();
        assert!(shown["secrets"][0]["previousUntil"].is_i64() && !shown.to_string().contains(SECRET), "{shown}");
        let stored: (String, String) =
            hub.app.db.query("SELECT value, previous FROM module_secrets").one().await.unwrap();
        assert!(!format!("{stored:?}").contains("new") && !format!("{stored:?}").contains(SECRET), "{stored:?}");
        vote(&owner, &by_voter("2")).await.expect(200);
        let body = by_voter("3");
        vote_signed(&owner, &body, &signature("new", &body)).await.expect(200);
        hub.advance_ms(60_001);
        vote(&owner, &by_voter("4")).await.expect_error(401, "invalid_signature");
        let body = by_voter("5");
        vote_signed(&owner, &body, &signature("new", &body)).await.expect(200);
        // Without an overlap the old one ends at once.
        owner.put(PATH, json!({"value": "newest"})).await.expect(204);
        let body = by_voter("6");
        vote_signed(&owner, &body, &signature("new", &body)).await.expect_error(401, "invalid_signature");
        let audit = owner.get("/api/manage/audit").await.expect(200).to_string();
        assert!(audit.contains("secret.put") && !audit.contains("newest"), "{audit}");
    }

    async fn a_link_needs_its_secrets_and_grants(hub: Hub) {
        let owner = hub.network().await;
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/votes/votes.wasm");
        let uploaded = upload(&owner, "votes", std::fs::read(file).unwrap()).await.expect(201).clone();
        assert_eq!(uploaded["points"], json!(["endpoints"]));
        let bare = json!([{"name": "votes", "version": 1}]);
        let refused = chain(&owner, "endpoints", bare).await;
        assert_eq!((refused.status.as_u16(), &refused.body["code"]), (400, &json!("grant_needed")));
        assert_eq!(refused.body["needed"]["secrets"], json!(["VOTES"]));
        configure(&owner, json!({})).await.expect_error(400, "secret_missing");
        owner.put(PATH, json!({"value": SECRET})).await.expect(204);
        configure(&owner, json!({"coins": 1})).await.expect_error(400, "invalid_config");
        let robot = owner.key_with(&["modules:write", "plugin"]).await;
        configure(&robot, json!({})).await.expect_error(403, "forbidden_scope");
        let shadow = json!([{"name": "votes", "version": 1, "grants": grants(), "mode": "SHADOW"}]);
        chain(&owner, "endpoints", shadow).await.expect_error(400, "invalid_request");
        let early = json!([{"name": "votes", "version": 1, "grants": grants(), "from": "NOW"}]);
        chain(&owner, "endpoints", early).await.expect_error(400, "invalid_request");
        configure(&owner, json!({})).await.expect(200);
        let link = owner.get("/api/manage/extension-points/endpoints").await.expect(200)["modules"][0].clone();
        assert!(link["grantedBy"]["id"].is_string() && link.get("onFailure").is_none(), "{link}");
        owner.delete(PATH).await.expect_error(409, "in_use");
        chain(&owner, "endpoints", json!([])).await.expect(200);
        owner.delete(PATH).await.expect(204);
        owner.delete(PATH).await.expect_error(404, "unknown_secret");
    }

    async fn secrets_are_bounded_and_their_managers_alone_see_them(hub: Hub) {
        let owner = hub.network().await;
        for name in ["votes", "A-B", "A%2FB"] {
            let path = format!("/api/manage/secrets/{name}");
            owner.put(&path, json!({"value": "a"})).await.expect_error(400, "invalid_request");
        }
        for value in [String::new(), "a".repeat(4_097)] {
            owner.put(PATH, json!({"value": value})).await.expect_error(400, "invalid_request");
        }
        owner.put(PATH, json!({"value": "a", "overlapMs": -1})).await.expect_error(400, "invalid_request");
        for number in 0..64 {
            owner.put(&format!("/api/manage/secrets/S{number}"), json!({"value": "a"})).await.expect(204);
        }
        owner.put("/api/manage/secrets/S64", json!({"value": "a"})).await.expect_quota("secrets", 64);
        owner.put("/api/manage/secrets/S63", json!({"value": "b"})).await.expect(204);
        owner.delete("/api/manage/secrets/S0").await.expect(204);
        owner.put("/api/manage/secrets/S64", json!({"value": "a"})).await.expect(204);
        let robot = owner.key_with(&["modules:write", "plugin"]).await;
        robot.get("/api/manage/secrets").await.expect_error(403, "forbidden_scope");
        robot.put(PATH, json!({"value": "a"})).await.expect_error(403, "forbidden_scope");
        let other = hub.network().await;
        assert_eq!(other.get("/api/manage/secrets").await.expect(200)["secrets"], json!([]));
    }
}
