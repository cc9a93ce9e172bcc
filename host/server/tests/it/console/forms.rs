//! Forms: each is a request to a route, as the person.

use serde_json::{Value, json};

use super::Browser;
use crate::people::member;
use crate::support::on_both;

on_both! {
    async fn a_form_without_its_token_changes_nothing(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let path = format!("/console/n/{name}/keys");
        let page = browser.get(&path).await.expect(200);
        let fields = [("name", "bots"), ("scopes", "servers:read")];
        let refused = browser.post(&path, &fields).await.expect(403);
        assert!(refused.has("csrf_token_wrong"));
        let wrong = [("name", "bots"), ("scopes", "servers:read"), ("csrf", "0")];
        browser.post(&path, &wrong).await.expect(403);
        // Sent by a page of another site, even with the token.
        let hidden = page.hidden(&path);
        let all: Vec<_> = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(fields).collect();
        let request = browser.form(&path, &all).header("Origin", "https://evil.example");
        assert!(browser.send(request).await.expect(403).has("other_origin"));
        let keys = async || owner.get("/api/manage/keys").await.expect(200)["total"].as_i64().unwrap();
        assert_eq!(keys().await, 1);
        let made = browser.submit(&page, &path, &fields).await.expect(200);
        assert!(made.has("Shown once") && made.has("hub_"));
        assert_eq!(keys().await, 2);
        // The same form sent twice has one effect.
        browser.submit(&page, &path, &fields).await;
        assert_eq!(keys().await, 2);
        // A stranger's form leads to the sign-in.
        assert!(Browser::new(&hub).post(&path, &fields).await.expect(303).location().starts_with("/console/sign-in"));
    }

    async fn a_moderator_mutes_and_unmutes_with_two_forms(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "m@example.org", "MODERATOR").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "m@example.org").await;
        let form = format!("/console/n/{name}/punishments/new");
        let page = browser.get(&format!("{form}?player=Notch")).await.expect(200);
        let long = "x".repeat(2_000);
        let fields = [("playerName", "Notch"), ("type", "MUTE"), ("durationMs", "3600000"), ("reason", long.as_str())];
        let again = browser.submit(&page, &form, &fields).await.expect(400);
        assert!(again.has("value=\"Notch\"") && again.has(&long), "nothing typed is lost");
        let fields = [("playerName", "Notch"), ("type", "MUTE"), ("durationMs", "3600000"), ("reason", "Spam")];
        let done = browser.submit(&again, &form, &fields).await.expect(303);
        assert!(done.location().starts_with(&format!("/console/n/{name}/punishments?player=Notch&done=Punished")), "{}", done.location());
        let list = browser.get(done.location()).await.expect(200);
        let punished = owner.get("/api/plugin/punishments/player-name/Notch").await.expect(200).clone();
        assert_eq!((&punished[0]["type"], &punished[0]["issuerName"]), (&json!("MUTE"), &json!("Alex")));
        assert!(list.has("Spam"));
        let revoke = format!("/console/n/{name}/punishments/revoke");
        browser.submit(&list, &revoke, &[]).await.expect(303);
        let left = owner.get("/api/plugin/punishments/player-name/Notch").await.expect(200).clone();
        assert_eq!(left, json!([]));
    }

    async fn all_punishments_of_one_issuer_are_shown_and_then_revoked(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let name = super::name_of(&hub, &owner).await;
        for (player, issuer) in [("Notch", "Tobi"), ("Jeb", "Tobi"), ("Dinnerbone", "Mira")] {
            let ban = json!({"playerName": player, "type": "BAN", "reason": "x", "issuerName": issuer});
            owner.post("/api/plugin/punishments/create-by-name", ban).await.expect(200);
        }
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let path = format!("/console/n/{name}/punishments");
        let page = browser.get(&path).await.expect(200);
        let shown = browser.submit(&page, &format!("{path}/all/show"), &[("issuerName", "Tobi")]).await.expect(200);
        assert!(shown.has("2 punishments would be revoked"), "{}", shown.html);
        let active = async || owner.get("/api/manage/punishments?active=true").await.expect(200)["total"].clone();
        assert_eq!(active().await, 3);
        let all = format!("{path}/all");
        browser.submit(&shown, &all, &[("confirm", "Mira")]).await.expect(422);
        browser.submit(&shown, &all, &[("confirm", "Tobi")]).await.expect(303);
        assert_eq!(active().await, 1);
    }

    async fn a_punishment_is_previewed_before_it_is_made(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "m@example.org", "MODERATOR").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "m@example.org").await;
        let path = format!("/console/n/{name}/punishments/new");
        let page = browser.get(&path).await.expect(200);
        let typed = [("playerName", "Notch"), ("type", "MUTE"), ("reason", "<b>loud</b>"), ("durationMs", "3600000")];
        let hidden = page.hidden(&path);
        let mut fields: Vec<(&str, &str)> = hidden.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        fields.extend(typed);
        let shown = browser.post(&format!("{path}/preview"), &fields).await.expect(200);
        assert!(shown.has("It would be made as it is.") && shown.has("No module reviews punishments here."), "{}", shown.html);
        assert!(!shown.has("<b>loud</b>") && shown.has("value=\"Notch\""));
        assert_eq!(owner.get("/api/manage/punishments").await.expect(200)["total"], 0);
        browser.submit(&shown, &path, &typed).await.expect(303);
        assert_eq!(owner.get("/api/manage/punishments").await.expect(200)["total"], 1);
    }

    async fn sessions_are_seen_and_ended(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "v@example.org", "VIEWER").await;
        let mut one = Browser::signed_in(&hub, "v@example.org").await;
        let mut other = Browser::signed_in(&hub, "v@example.org").await;
        let page = one.get("/console/me").await.expect(200);
        assert!(page.has("this one") && page.has("127.0.0.1"));
        one.submit(&page, "/console/me/sessions/end", &[]).await.expect(303);
        assert!(other.get("/console/me").await.expect(303).location().starts_with("/console/sign-in"));
        let page = one.get("/console/me").await.expect(200);
        assert!(!page.has("/console/me/sessions/end\""));
    }

    async fn a_revision_of_a_chain_is_restored_unless_it_changed_meanwhile(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "a@example.org", "ADMIN").await;
        let name = super::name_of(&hub, &owner).await;
        let upload = owner.request(reqwest::Method::POST, "/api/manage/modules?name=guard").header("Content-Type", "application/wasm");
        owner.send(upload.body(crate::modules::wasm::moody(1))).await.expect(201);
        let chain = "/api/manage/extension-points/chat";
        let put = async |modules: Value| owner.put(chain, json!({"modules": modules})).await.expect(200)["revision"].as_i64().unwrap();
        put(json!([{"name": "guard", "version": 1}])).await;
        assert_eq!(put(json!([])).await, 2);
        let mut browser = Browser::signed_in(&hub, "a@example.org").await;
        let path = format!("/console/n/{name}/modules/chains/chat/revisions");
        let page = browser.get(&path).await.expect(200);
        assert!(page.has("Revision 1") && page.has("guard 1"), "{}", page.html);
        assert_eq!(put(json!([{"name": "guard", "version": 1, "config": {"a": 1}}])).await, 3);
        let restore = format!("{path}/1/restore");
        let refused = browser.submit(&page, &restore, &[]).await.expect(409);
        assert!(refused.has("look at it as it is now"), "{}", refused.html);
        browser.submit(&refused, &restore, &[]).await.expect(303);
        let now = owner.get(chain).await.expect(200).clone();
        assert_eq!((&now["revision"], &now["modules"][0]["config"]), (&json!(4), &json!({})));
    }

    async fn an_edit_from_a_stale_revision_is_shown_beside_the_others(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "a@example.org", "ADMIN").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "a@example.org").await;
        let path = format!("/console/n/{name}/modules/chains/chat");
        let page = browser.get(&path).await.expect(200);
        let hidden = page.hidden(&path);
        let value = |wanted: &str| hidden.iter().find(|(name, _)| name == wanted).unwrap().1.as_str();
        let stale = [("csrf", value("csrf")), ("links", "0"), ("revision", "4711")];
        let refused = browser.post(&path, &stale).await.expect(409);
        assert!(refused.has("Nothing you typed is lost") && refused.has("take theirs"));
        assert_eq!(owner.get("/api/manage/extension-points/chat").await.expect(200)["revision"].to_string(), value("revision"));
        // From the revision that the page now shows it is applied.
        browser.submit(&refused, &path, &[]).await.expect(303);
        let log = owner.get("/api/manage/audit?limit=1").await.expect(200).clone();
        assert_eq!(log["items"][0]["actor"]["name"], "a@example.org");
        // A viewer's form is refused by the route.
        member(&hub, &owner, "v@example.org", "VIEWER").await;
        let mut viewer = Browser::signed_in(&hub, "v@example.org").await;
        let page = viewer.get(&path).await.expect(200);
        viewer.submit(&page, &path, &[]).await.expect(403);
    }

    async fn a_dangerous_form_checks_the_typed_name_again(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let server = json!({"serverId": "lobby-1", "serverType": "lobby", "host": "127.0.0.1", "port": 25565});
        owner.post("/api/plugin/servers/register", server).await.expect(201);
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let page = browser.get(&format!("/console/n/{name}/keys")).await.expect(200);
        let csrf = page.hidden(&format!("/console/n/{name}/keys")).into_iter().find(|(name, _)| name == "csrf").unwrap().1;
        let kill = format!("/console/n/{name}/servers/lobby-1/kill");
        let refused = browser.post(&kill, &[("csrf", &csrf), ("confirm", "lobby-2")]).await.expect(422);
        assert!(refused.has("Type lobby-1 to go on"));
        // No agent hosts it, which the hub says on the page.
        browser.post(&kill, &[("csrf", &csrf), ("confirm", "lobby-1")]).await.expect(404);
    }

    async fn staff_are_invited_changed_and_removed(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let helper = member(&hub, &owner, "h@example.org", "VIEWER").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let path = format!("/console/n/{name}/staff");
        let page = browser.get(&path).await.expect(200);
        browser.submit(&page, &path, &[("email", "new@example.org"), ("role", "MODERATOR")]).await.expect(303);
        let role = format!("{path}/{}/role", helper.id);
        browser.submit(&page, &role, &[("role", "MODERATOR")]).await.expect(303);
        let page = browser.get(&path).await.expect(200);
        assert!(page.has("new@example.org"));
        let people = owner.get("/api/manage/people").await.expect(200).clone();
        let changed = people["items"].as_array().unwrap().iter().find(|it| it["personId"] == helper.id.as_str()).unwrap();
        assert_eq!(changed["role"], "MODERATOR");
        browser.submit(&page, &format!("{path}/{}/remove", helper.id), &[]).await.expect(303);
        assert_eq!(owner.get("/api/manage/people").await.expect(200)["total"], 1);
        // In the audit log under the person's name, with the page's request.
        let log = owner.get("/api/manage/audit?action=member.removed").await.expect(200).clone();
        assert_eq!(log["items"][0]["actor"]["name"], "o@example.org");
    }
}
