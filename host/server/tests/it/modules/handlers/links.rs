//! Links of the point `events`: grants, configurations, and the cursor of a module that is taken out.

use serde_json::json;

use super::handler::{grants, handler, manifest};
use super::{TYPES, activate, handled, handler_of, settle, vote};
use crate::modules::{chain, point, upload};
use crate::support::{Hub, NOW, on_both};

on_both! {
    async fn a_link_grants_what_its_module_needs(hub: Hub) {
        let owner = hub.network().await;
        let made = upload(&owner, "counter", handler(1, &manifest("PLAYER", &TYPES))).await.expect(201).clone();
        assert_eq!((&made["points"], &made["manifest"]["events"]["types"]), (&json!(["events"]), &json!(TYPES)));
        let link = |more: serde_json::Value| {
            let mut link = json!({"name": "counter", "version": 1});
            link.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!([link])
        };
        let answer = chain(&owner, "events", link(json!({"grants": {"scopes": ["events:read"]}}))).await;
        assert_eq!(answer.expect(400)["code"], "grant_needed");
        let answer = chain(&owner, "events", link(json!({}))).await;
        assert_eq!(answer.expect(400)["needed"]["scopes"], grants()["scopes"]);

        // Nobody grants what is not theirs.
        let deployer = owner.key_with(&["modules:write"]).await;
        let granted = link(json!({"grants": grants()}));
        chain(&deployer, "events", granted.clone()).await.expect_error(403, "forbidden_scope");
        let shown = chain(&owner, "events", granted.clone()).await.expect(200)["modules"][0].clone();
        assert_eq!((&shown["grants"]["scopes"], &shown["grantedAt"]), (&grants()["scopes"], &json!(NOW)));
        assert_eq!(shown["grantedBy"]["type"], "KEY");
        // Links that stay as they are need no rights, nor do lower limits.
        let limits = link(json!({"grants": grants(), "limits": {"computeMillis": 5}}));
        chain(&deployer, "events", limits).await.expect(200);
        let config = link(json!({"grants": grants(), "config": {"goal": 3}}));
        chain(&deployer, "events", config.clone()).await.expect_error(403, "forbidden_scope");
        chain(&owner, "events", config).await.expect(200);
        owner.post("/api/manage/extension-points/events/rollback", json!({})).await.expect(200);

        let wrong = link(json!({"grants": grants(), "config": {"goal": "many"}}));
        chain(&owner, "events", wrong).await.expect_error(400, "invalid_config");
        for more in [json!({"mode": "SHADOW"}), json!({"mode": "CANARY", "percent": 5}), json!({"grants": {"scopes": ["no:such"]}})] {
            let mut all = json!({"grants": grants()});
            all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let status = chain(&owner, "events", link(all)).await;
            status.expect(400);
        }
        // Other points have none.
        let at_chat = json!([{"name": "counter", "version": 1, "grants": grants()}]);
        chain(&owner, "chat", at_chat).await.expect_error(400, "invalid_request");
    }

    async fn events_before_the_activation_are_not_handed_over_and_those_after_it_are(hub: Hub) {
        let owner = hub.network().await;
        vote(&owner, "before").await;
        activate(&owner, "NETWORK").await;
        vote(&owner, "after").await;
        settle(&hub, &owner).await;
        assert_eq!(handled(&owner).await, 1);
        // Another network's events are its own.
        let other = hub.network().await;
        vote(&other, "after").await;
        settle(&hub, &owner).await;
        assert_eq!(handled(&owner).await, 1);
    }

    async fn a_module_that_is_taken_out_keeps_its_events_for_a_day(hub: Hub) {
        let owner = hub.network().await;
        activate(&owner, "PLAYER").await;
        chain(&owner, "events", json!([])).await.expect(200);
        vote(&owner, "a").await;
        vote(&owner, "b").await;
        Hub::eventually("they are kept", async || point(&owner, "events").await["kept"][0]["lagEvents"] == 2).await;
        let kept = point(&owner, "events").await["kept"][0].clone();
        assert_eq!((&kept["name"], &kept["until"]), (&json!("counter"), &json!(NOW + 24 * 60 * 60 * 1000)));

        let link = json!({"name": "counter", "version": 1, "grants": grants()});
        chain(&owner, "events", json!([link])).await.expect(200);
        settle(&hub, &owner).await;
        assert_eq!(handled(&owner).await, 2);

        chain(&owner, "events", json!([])).await.expect(200);
        vote(&owner, "c").await;
        let kept = "/api/manage/extension-points/events/kept/counter";
        Hub::eventually("it is kept", async || point(&owner, "events").await["kept"][0]["lagEvents"] == 1).await;
        owner.delete(kept).await.expect(204);
        owner.delete(kept).await.expect_error(404, "unknown_module");
        let link = json!({"name": "counter", "version": 1, "grants": grants(), "from": "NOW"});
        chain(&owner, "events", json!([link])).await.expect(200);
        vote(&owner, "d").await;
        settle(&hub, &owner).await;
        assert_eq!((handled(&owner).await, &handler_of(&owner).await["deadLetters"]), (3, &json!(0)));
    }
}
