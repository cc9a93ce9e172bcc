//! Edits that meet those of others, and undoing them.

use serde_json::{Value, json};

use super::Browser;
use crate::people::member;
use crate::support::on_both;

const STEVE: &str = "853c80ef-3c37-49fd-aa49-938b674adae6";
const NOTCH: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

on_both! {
    async fn a_report_is_punished_and_closed_by_one_form(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "m@example.org", "MODERATOR").await;
        let report = json!({"reporterUuid": STEVE, "playerUuid": NOTCH, "reason": "Insults"});
        let id = owner.post("/api/plugin/reports", report).await.expect(201)["reportId"].clone();
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "m@example.org").await;
        let path = format!("/console/n/{name}/reports/{id}");
        let page = browser.get(&path).await.expect(200);
        let fields = [("type", "BAN"), ("durationMs", "604800000"), ("reason", "Insults")];
        browser.submit(&page, &format!("{path}/punish"), &fields).await.expect(303);
        let bans = owner.get(&format!("/api/plugin/punishments/player/{NOTCH}")).await.expect(200).clone();
        assert_eq!((&bans[0]["type"], &bans[0]["reason"]), (&json!("BAN"), &json!("Insults")));
        let report = owner.get(&format!("/api/manage/reports/{id}")).await.expect(200).clone();
        assert_eq!((&report["state"], &report["takenBy"]["name"]), (&json!("CLOSED"), &json!("m@example.org")));
    }

    async fn an_edit_of_what_others_changed_shows_all_three(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let put = async |minimum: i64| {
            owner.put("/api/manage/economy/currencies/coins", json!({"minimum": minimum})).await.expect(200);
        };
        put(0).await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let path = format!("/console/n/{name}/money");
        let page = browser.get(&path).await.expect(200);
        put(5).await;
        let refused = browser.submit(&page, &path, &[("minimum", "9"), ("maximum", "100")]).await.expect(409);
        assert!(refused.has("Before, theirs, yours") && refused.has("value=\"9\""), "{}", refused.html);
        let currency = async || {
            owner.get("/api/manage/economy/currencies").await.expect(200)["items"][0]["minimum"].clone()
        };
        assert_eq!(currency().await, json!(5));
        // Seen, it is overwritten.
        browser.submit(&refused, &path, &[("minimum", "9"), ("maximum", "100")]).await.expect(303);
        assert_eq!(currency().await, json!(9));
    }

    async fn a_groups_draft_keeps_what_another_added(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let group = |nodes: Value| json!({"priority": 5, "permissions": nodes});
        owner.put("/api/plugin/permissions/groups/vip", group(json!([{"node": "a"}]))).await.expect(204);
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let path = format!("/console/n/{name}/permissions/vip");
        let page = browser.get(&path).await.expect(200);
        owner.put("/api/plugin/permissions/groups/vip", group(json!([{"node": "a"}, {"node": "b"}]))).await.expect(204);
        let fields = [("priority", "5"), ("node.0", "a"), ("value.0", "false"), ("node.1", "c"), ("value.1", "true")];
        let refused = browser.submit(&page, &path, &fields).await.expect(409);
        assert!(refused.has("Somebody changed this group meanwhile") && refused.has("value=\"c\""));
        let nodes = async || owner.get("/api/plugin/permissions/groups/vip").await.expect(200)["permissions"].clone();
        assert_eq!(nodes().await.as_array().unwrap().len(), 2);
        browser.submit(&refused, &path, &fields).await.expect(303);
        let now = nodes().await;
        assert_eq!((&now[0]["node"], &now[0]["value"], &now[1]["node"]), (&json!("a"), &json!(false), &json!("c")));
    }

    async fn a_change_is_undone_on_todays_state(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let put = async |body: Value| owner.put("/api/manage/economy/currencies/coins", body).await.expect(200).clone();
        put(json!({"minimum": 0, "maximum": 50})).await;
        put(json!({"minimum": 5, "maximum": 50})).await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let path = format!("/console/n/{name}/audit");
        let page = browser.get(&path).await.expect(200);
        let undo = format!("{path}/undo");
        // Another field, changed since, stays.
        put(json!({"minimum": 5, "maximum": 90})).await;
        browser.submit(&page, &undo, &[]).await.expect(303);
        let now = async || {
            let page = owner.get("/api/manage/economy/currencies").await.expect(200).clone();
            (page["items"][0]["minimum"].clone(), page["items"][0]["maximum"].clone())
        };
        assert_eq!(now().await, (json!(0), json!(90)));
        // Undone already: nothing is left to do.
        browser.submit(&page, &undo, &[]).await.expect(303);
        // The same field is a conflict, until it is seen.
        put(json!({"minimum": 6, "maximum": 90})).await;
        let refused = browser.submit(&page, &undo, &[]).await.expect(409);
        assert!(refused.has("It was changed again since"), "{}", refused.html);
        put(json!({"minimum": 7, "maximum": 90})).await;
        browser.submit(&page, &undo, &[]).await.expect(409);
        assert_eq!(now().await.0, json!(7));
        browser.submit(&refused, &undo, &[]).await.expect(303);
        assert_eq!(now().await.0, json!(0));
        // With a viewer's rights it is not done.
        member(&hub, &owner, "v@example.org", "VIEWER").await;
        let mut viewer = Browser::signed_in(&hub, "v@example.org").await;
        let home = viewer.get(&format!("/console/n/{name}")).await.expect(200);
        let csrf = home.hidden("/console/sign-out").into_iter().find(|(name, _)| name == "csrf").unwrap().1;
        let entry = page.hidden(&undo).into_iter().find(|(name, _)| name == "id").unwrap().1;
        viewer.post(&undo, &[("csrf", &csrf), ("id", &entry), ("force", "1")]).await.expect(403);
    }

    async fn a_document_that_somebody_changed_is_not_deleted(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let collections = json!({"collections": [{"name": "guilds", "key": "id", "indexes": []}]});
        owner.post("/api/plugin/collections/register", collections).await.expect(200);
        let document = "/api/plugin/collections/guilds/red";
        owner.put(document, json!({"level": 1})).await.expect(200);
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let path = format!("/console/n/{name}/collections");
        let (delete, one) = (format!("{path}/delete"), format!("{path}?collection=guilds&id=red"));
        let page = browser.get(&one).await.expect(200);
        owner.put(document, json!({"level": 2})).await.expect(200);
        browser.submit(&page, &delete, &[("confirm", "red")]).await.expect(409);
        let saved = browser.submit(&page, &path, &[("doc", "{\"level\": 3}")]).await.expect(409);
        assert!(saved.has("Before, theirs, yours"), "{}", saved.html);
        assert_eq!(owner.get(document).await.expect(200), &json!({"level": 2}));
        let page = browser.get(&one).await.expect(200);
        browser.submit(&page, &delete, &[("confirm", "red")]).await.expect(303);
        owner.get(document).await.expect(404);
    }

    async fn changes_of_webhooks_and_queues_are_undone(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let webhook = json!({"name": "first", "url": "https://hooks.example.invalid/x", "events": ["CHAT"]});
        let id = owner.post("/api/manage/webhooks", webhook).await.expect(201)["webhookId"].as_str().unwrap().to_owned();
        let webhook = format!("/api/manage/webhooks/{id}");
        owner.patch(&webhook, json!({"name": "second", "events": ["CHAT", "PUNISHMENT"]})).await.expect(200);
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let path = format!("/console/n/{name}/audit");
        let undo = format!("{path}/undo");
        let page = browser.get(&path).await.expect(200);
        // Another field, changed since, stays.
        owner.patch(&webhook, json!({"enabled": false})).await.expect(200);
        browser.submit(&page, &undo, &[]).await.expect(303);
        let now = owner.get(&webhook).await.expect(200).clone();
        assert_eq!((&now["name"], &now["events"], &now["enabled"]), (&json!("first"), &json!(["CHAT"]), &json!(false)));
        let line = "/api/manage/matchmaking/lines/type%3Aarena";
        for most in [5, 6] {
            owner.put(line, json!({"maxWaiting": most})).await.expect(200);
        }
        let page = browser.get(&path).await.expect(200);
        browser.submit(&page, &undo, &[]).await.expect(303);
        let lines = owner.get("/api/manage/matchmaking/lines").await.expect(200)["items"].clone();
        assert_eq!(lines[0]["maxWaiting"], 5);
        // A change made since is shown, and not overwritten.
        owner.put(line, json!({"maxWaiting": 9})).await.expect(200);
        browser.submit(&page, &undo, &[]).await.expect(409);
    }

    async fn a_file_is_imported_by_a_form(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let page = browser.get(&format!("/console/n/{name}/imports")).await.expect(200);
        let path = format!("/console/n/{name}/imports/file");
        let csrf = page.hidden(&path).into_iter().find(|(name, _)| name == "csrf").unwrap().1;
        let table = format!("uuid,balance\n{NOTCH},12\n");
        let form = |csrf: &str, kind: &str, table: &str| {
            let field = |name: &str, value: &str| format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            let fields: String = [("csrf", csrf), ("kind", kind), ("currency", "coins")].map(|(name, value)| field(name, value)).concat();
            format!("{fields}--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n\r\n{table}\r\n--XX--\r\n")
        };
        let request = |browser: &Browser, body: String| {
            browser.request(reqwest::Method::POST, &path).header("Content-Type", "multipart/form-data; boundary=XX").body(body)
        };
        let sent = request(&browser, form("0", "BALANCES", &table));
        browser.send(sent).await.expect(403);
        let sent = request(&browser, form(&csrf, "COWS", &table));
        assert!(browser.send(sent).await.expect(400).has("Import a file"));
        let sent = request(&browser, form(&csrf, "BALANCES", &table));
        let done = browser.send(sent).await.expect(303);
        let page = browser.get(done.location()).await.expect(200);
        assert!(page.has("Balances"), "{}", page.html);
        let imports = owner.get("/api/manage/imports").await.expect(200).clone();
        assert_eq!((imports["total"].as_i64(), &imports["items"][0]["kind"]), (Some(1), &json!("BALANCES")));
    }

    async fn many_pages_of_people_at_one_address_are_no_flood(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "a@example.org", "VIEWER").await;
        member(&hub, &owner, "b@example.org", "VIEWER").await;
        let mut one = Browser::signed_in(&hub, "a@example.org").await;
        let mut other = Browser::signed_in(&hub, "b@example.org").await;
        // More requests than an address has without a key, two a page. The clock stands still, so that nothing is refilled.
        for _ in 0..240 {
            one.get("/console/me").await.expect(200);
            other.get("/console/me").await.expect(200);
        }
        let mut stranger = Browser::new(&hub);
        stranger.get("/console/me").await.expect(303);
    }

    async fn texts_of_two_people_meet(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "a@example.org", "ADMIN").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "a@example.org").await;
        let (path, delete) = (format!("/console/n/{name}/texts"), format!("/console/n/{name}/texts/delete"));
        let text = "/api/manage/localization/messages/en/lobby/welcome";
        let empty = browser.get(&path).await.expect(200);
        owner.put(text, json!({"value": "theirs"})).await.expect(200);
        // A new one does not take the place of one that somebody made meanwhile.
        let fields = [("locale", "en"), ("namespace", "lobby"), ("key", "welcome"), ("value", "mine")];
        let refused = browser.submit(&empty, &path, &fields).await.expect(409);
        assert!(refused.has("Before, theirs, yours") && refused.has("mine"), "{}", refused.html);
        let page = browser.get(&path).await.expect(200);
        owner.put(text, json!({"value": "theirs again"})).await.expect(200);
        assert!(browser.submit(&page, &path, &[("value", "mine")]).await.expect(409).has("theirs again"));
        assert!(browser.submit(&page, &delete, &[]).await.expect(409).has("theirs again"));
        let page = browser.get(&path).await.expect(200);
        browser.submit(&page, &path, &[("value", "mine")]).await.expect(303);
        let page = browser.get(&path).await.expect(200);
        assert!(page.has("mine"));
        browser.submit(&page, &delete, &[]).await.expect(303);
        assert_eq!(owner.get("/api/manage/localization/messages").await.expect(200)["total"], 0);
    }
}
