//! Secrets, and what a link needs.

use std::time::Duration;

use serde_json::json;

use super::{SECRET, by_voter, configure, grants, install, signature, vote, vote_signed};
use crate::modules::{chain, upload};
use crate::support::{Client, Hub, on_both};

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
        // Each value is good for its own overlap, however often the secret is replaced meanwhile.
        owner.put(PATH, json!({"value": "second", "overlapMs": 60_000})).await.expect(204);
        hub.advance_ms(20_000);
        owner.put(PATH, json!({"value": "third", "overlapMs": 20_000})).await.expect(204);
        let by = async |secret: &str, id: &str| {
            let body = by_voter(id);
            vote_signed(&owner, &body, &signature(secret, &body)).await
        };
        for (secret, id) in [("new", "10"), ("second", "11"), ("third", "12")] {
            by(secret, id).await.expect(200);
        }
        hub.advance_ms(20_001);
        by("second", "13").await.expect_error(401, "invalid_signature");
        by("new", "14").await.expect(200);
        let stored = hub.app.db.query("SELECT previous FROM module_secrets").one::<(String,)>().await.unwrap();
        assert!(!stored.0.contains("new") && !stored.0.contains("second"), "{stored:?}");
        hub.advance_ms(20_000);
        by("new", "15").await.expect_error(401, "invalid_signature");
        by("third", "16").await.expect(200);
        owner.put(PATH, json!({"value": "new", "overlapMs": 60_000})).await.expect(204);
        // Without an overlap the old ones end at once.
        owner.put(PATH, json!({"value": "newest"})).await.expect(204);
        let body = by_voter("6");
        vote_signed(&owner, &body, &signature("new", &body)).await.expect_error(401, "invalid_signature");
        let audit = owner.get("/api/manage/audit").await.expect(200).to_string();
        assert!(audit.contains("secret.put") && !audit.contains("newest"), "{audit}");
    }

    async fn a_secret_shows_when_it_was_used_last(hub: Hub) {
        let owner = hub.network().await;
        install(&owner, json!({})).await;
        let last_used = async |owner: &Client| {
            owner.get("/api/manage/secrets").await.expect(200)["secrets"][0]["lastUsedAt"].clone()
        };
        let body = by_voter("1");
        vote_signed(&owner, &body, "00").await.expect_error(401, "invalid_signature");
        assert_eq!(last_used(&owner).await, json!(null));
        vote(&owner, &body).await.expect(200);
        let first = last_used(&owner).await;
        assert!(first.is_i64(), "{first}");
        hub.advance_ms(5_000);
        vote(&owner, &by_voter("2")).await.expect(200);
        let used = last_used(&owner).await;
        assert!(used.as_i64() >= first.as_i64().map(|at| at + 5_000), "{first} {used}");
        // It is stored now and then.
        Hub::eventually("it is stored", async || {
            hub.advance_ms(1_000);
            let query = hub.app.db.query("SELECT last_used_at FROM module_secrets");
            query.one::<(Option<i64>,)>().await.unwrap().0 == used.as_i64()
        })
        .await;
        let hub = hub.restart(Duration::ZERO).await;
        let owner = hub.with_key(owner.key.as_ref().unwrap()).for_network(owner.network.unwrap());
        assert_eq!(last_used(&owner).await, used);
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
