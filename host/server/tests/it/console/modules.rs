//! Modules that answer with effects: activations, schedules, timers, endpoints and secrets.

use serde_json::json;

use super::Browser;
use crate::modules::activation::season;
use crate::modules::endpoints::install;
use crate::modules::handlers::schedules::{self, pass_time};
use crate::modules::upload;
use crate::people::member;
use crate::support::{Client, Hub, on_both};

/// Points and versions of a module's links.
async fn links(owner: &Client) -> Vec<(String, i64)> {
    let activation = owner.get("/api/manage/modules/season/activation").await.expect(200).clone();
    let all = activation["links"].as_array().unwrap().iter();
    all.map(|link| (link["point"].as_str().unwrap().to_owned(), link["version"].as_i64().unwrap())).collect()
}

fn both(version: i64) -> Vec<(String, i64)> {
    ["events", "schedules"].map(|point| (point.to_owned(), version)).to_vec()
}

on_both! {
    async fn a_module_is_activated_at_all_its_points_and_rolled_back(hub: Hub) {
        let owner = hub.network().await;
        for version in [1, 2] {
            upload(&owner, "season", season(version)).await.expect(201);
        }
        member(&hub, &owner, "o@example.org", "OWNER").await;
        member(&hub, &owner, "v@example.org", "VIEWER").await;
        let name = super::name_of(&hub, &owner).await;
        let list = format!("/console/n/{name}/modules");
        let (one, path) = (format!("{list}/season"), format!("{list}/season/activation"));
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let first = browser.get(&path).await.expect(200);
        assert!(first.has("name=\"at.events\" value=\"1\" checked") && first.has("name=\"at.schedules\""));
        assert!(!first.has("name=\"at.chat\"") && first.has(">economy:write</textarea>"));
        let form = |version: &'static str, scopes: &'static str| {
            [("version", version), ("at.events", "1"), ("at.schedules", "1"), ("scopes", scopes), ("config.0", "{}")]
        };
        let refused = browser.submit(&first, &path, &form("1", "economy:write")).await.expect(400);
        assert!(refused.has("Add to the grants:") && refused.has("events:read"), "{}", refused.html);
        browser.submit(&refused, &path, &form("1", "economy:write\nevents:read")).await.expect(303);
        assert_eq!(links(&owner).await, both(1));

        // Somebody else changes it meanwhile.
        let page = browser.get(&path).await.expect(200);
        let scopes = json!({"scopes": ["economy:write", "events:read"]});
        let theirs = json!({"version": 2, "grants": scopes, "points": {"events": {}}});
        owner.put("/api/manage/modules/season/activation", theirs).await.expect(200);
        let conflict = browser.submit(&page, &path, &form("2", "economy:write\nevents:read")).await.expect(409);
        assert!(conflict.has("Before, theirs, yours") && conflict.has("1 active") && conflict.has("2 active"));
        assert_eq!(links(&owner).await, [("events".to_owned(), 2)]);
        browser.submit(&conflict, &path, &form("2", "economy:write\nevents:read")).await.expect(303);
        assert_eq!(links(&owner).await, both(2));

        let page = browser.get(&path).await.expect(200);
        browser.submit(&page, &format!("{path}/rollback"), &[]).await.expect(303);
        assert_eq!(links(&owner).await, [("events".to_owned(), 2)]);
        let page = browser.get(&one).await.expect(200);
        assert!(page.has("At work") && page.has("0 events handled") && page.has("/chains/events/calls?module=season"));
        assert!(page.has("/modules/season/versions/1/delete") && !page.has("/modules/season/versions/2/delete"));
        browser.submit(&page, &format!("{one}/versions/1/delete"), &[]).await.expect(303);
        owner.get("/api/manage/modules/season/1").await.expect(404);
        let page = browser.get(&path).await.expect(200);
        let end = format!("{path}/end");
        browser.submit(&page, &end, &[("confirm", "seasons")]).await.expect(422);
        browser.submit(&page, &end, &[("confirm", "season")]).await.expect(303);
        assert!(links(&owner).await.is_empty());

        // Its events are kept until somebody ends that.
        let page = browser.get(&list).await.expect(200);
        assert!(page.has("was taken out: 0 events wait for it"), "{}", page.html);
        browser.submit(&page, &format!("{list}/kept/season/end"), &[]).await.expect(303);
        assert_eq!(owner.get("/api/manage/extension-points/events").await.expect(200)["kept"], json!([]));
        // The chain's page leads to where grants are given.
        assert!(browser.get(&format!("{list}/chains/events")).await.expect(200).has("/modules/season/activation"));

        let mut viewer = Browser::signed_in(&hub, "v@example.org").await;
        let page = viewer.get(&path).await.expect(200);
        assert!(page.has("Your role may read modules") && !page.has(&end));
        viewer.submit(&page, &path, &form("2", "")).await.expect(403);
    }

    async fn schedules_run_by_hand_and_timers_are_deleted(hub: Hub) {
        let owner = hub.network().await;
        schedules::activate(&owner, 1, &[("Set", "0 0 1 1 *", "SKIP"), ("Trap", "0 0 1 1 *", "SKIP")]).await;
        member(&hub, &owner, "a@example.org", "ADMIN").await;
        member(&hub, &owner, "v@example.org", "VIEWER").await;
        let name = super::name_of(&hub, &owner).await;
        let one = format!("/console/n/{name}/modules/ticker");
        let path = format!("{one}/schedules");
        let mut browser = Browser::signed_in(&hub, "a@example.org").await;
        let page = browser.get(&path).await.expect(200);
        assert!(page.has("0 0 1 1 *") && page.has("2 schedules") && page.has("No timer is set"), "{}", page.html);
        assert!(browser.get(&one).await.expect(200).has("Schedules and timers"));
        browser.submit(&page, &format!("{path}/Set/run"), &[]).await.expect(303);
        let timers = async || owner.get(schedules::TIMERS).await.expect(200)["items"].as_array().unwrap().len();
        Hub::eventually("the timer is set", async || timers().await == 1).await;
        let page = browser.get(&path).await.expect(200);
        assert!(page.has("by hand") && page.has("\"step\": 2"), "{}", page.html);
        let mut viewer = Browser::signed_in(&hub, "v@example.org").await;
        let seen = viewer.get(&path).await.expect(200);
        assert!(seen.has("by hand") && !seen.has("step") && !seen.has("Run now"));
        browser.submit(&page, &format!("{one}/timers/one/delete"), &[]).await.expect(303);
        assert_eq!(timers().await, 0);

        // A run that failed is retried from its page.
        browser.submit(&page, &format!("{path}/Trap/run"), &[]).await.expect(303);
        let letters = async || owner.get("/api/manage/modules/ticker/dead-letters").await.expect(200)["items"].clone();
        pass_time(&hub, "it has failed", async || letters().await.as_array().is_some_and(|all| all.len() == 1)).await;
        let id = letters().await[0]["deadLetterId"].as_str().unwrap().to_owned();
        let page = browser.get(&format!("{one}/dead-letters")).await.expect(200);
        assert!(page.has("a run of the schedule, due"), "{}", page.html);
        browser.submit(&page, &format!("{one}/dead-letters/{id}/retry"), &[]).await.expect(303);
    }

    async fn endpoints_say_who_calls_them_and_secrets_are_set(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "a@example.org", "ADMIN").await;
        let name = super::name_of(&hub, &owner).await;
        let secrets = format!("/console/n/{name}/secrets");
        let mut browser = Browser::signed_in(&hub, "a@example.org").await;
        let page = browser.get(&secrets).await.expect(200);
        assert!(page.has("No secret yet"));
        browser.submit(&page, &secrets, &[("name", "votes"), ("value", "x"), ("overlapMs", "0")]).await.expect(400);
        let fields = [("name", "BOT_2"), ("value", " open sesame "), ("overlapMs", "3600000")];
        browser.submit(&page, &secrets, &fields).await.expect(303);
        install(&owner, json!({})).await;
        let page = browser.get(&secrets).await.expect(200);
        assert!(page.has("BOT_2") && page.has("VOTES") && !page.has("sesame"), "{}", page.html);
        let delete = |name: &str| format!("{secrets}/{name}/delete");
        browser.submit(&page, &delete("BOT_2"), &[("confirm", "BOT")]).await.expect(422);
        browser.submit(&page, &delete("BOT_2"), &[("confirm", "BOT_2")]).await.expect(303);
        assert!(browser.submit(&page, &delete("VOTES"), &[("confirm", "VOTES")]).await.expect(409).has("VOTES"));
        let known = owner.get("/api/manage/secrets").await.expect(200)["secrets"].clone();
        assert_eq!(known.as_array().unwrap().iter().map(|it| &it["name"]).collect::<Vec<_>>(), [&json!("VOTES")]);
        let page = browser.get(&format!("/console/n/{name}/modules/votes")).await.expect(200);
        let address = format!("/api/public/x/{}/votes/vote", owner.network.unwrap());
        assert!(page.has("signed requests") && page.has(&address) && page.has("never used"), "{}", page.html);
        assert!(page.has("/api/plugin/x/votes/players/{player}/votes") && page.has("keys of servers"));
    }
}
