//! Matches explained, artifacts, roles, settings, webhooks, downloads, and the lock.

use serde_json::json;

use super::Browser;
use crate::people::member;
use crate::support::on_both;

const NOTCH: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

on_both! {
    async fn a_match_is_explained_and_takes_no_slot(hub: Hub) {
        let owner = hub.network().await;
        for (id, most) in [("bedwars-1", 16), ("bedwars-2", 1)] {
            let server = json!({"serverId": id, "serverType": "bedwars", "host": "127.0.0.1", "port": 25565, "maxPlayers": most});
            owner.post("/api/plugin/servers/register", server).await.expect(201);
        }
        let join = json!({"serverId": "bedwars-2", "serverType": "bedwars", "playerUuid": NOTCH, "playerName": "Notch"});
        owner.post("/api/plugin/servers/players", join).await.expect(204);
        member(&hub, &owner, "a@example.org", "ADMIN").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "a@example.org").await;
        let path = format!("/console/n/{name}/find");
        let page = browser.get(&format!("{path}?playerUuid={NOTCH}")).await.expect(200);
        assert!(page.has(&format!("value=\"{NOTCH}\"")) && page.has("value=\"bedwars\""));
        for _ in 0..20 {
            // More often than there are slots; each page has a form of its own.
            let page = browser.get(&path).await.expect(200);
            let found = browser.submit(&page, &path, &[("serverType", "bedwars")]).await.expect(200);
            assert!(found.has("bedwars-1") && found.has("bedwars-2"), "{}", found.html);
            assert!(found.has("The server is full, counting players on their way."));
        }
        let none = browser.submit(&page, &path, &[("serverType", "skywars")]).await.expect(200);
        assert!(none.has("No server of this type can be joined"), "{}", none.html);
        let wrong = browser.submit(&none, &path, &[("serverType", "bedwars"), ("playerUuid", "Notch")]).await.expect(400);
        assert!(wrong.has("playerUuid"));
    }

    async fn roles_are_made_changed_and_deleted(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let list = format!("/console/n/{name}/staff/roles");
        let page = browser.get(&list).await.expect(200);
        let fields = [("name", "helper"), ("scopes", "reports:manage"), ("scopes", "chat:read")];
        browser.submit(&page, &list, &fields).await.expect(303);
        let scopes = async || owner.get("/api/manage/roles/helper").await.expect(200)["scopes"].clone();
        assert_eq!(scopes().await, json!(["reports:manage", "chat:read"]));
        // Another new one of that name does not overwrite it.
        let again = browser.submit(&page, &list, &[("name", "helper"), ("scopes", "audit:read")]).await.expect(409);
        assert!(again.has("Before, theirs, yours"));
        let one = format!("{list}/helper");
        let page = browser.get(&one).await.expect(200);
        assert!(page.has("value=\"reports:manage\" checked"));
        browser.submit(&page, &one, &[("scopes", "audit:read")]).await.expect(303);
        assert_eq!(scopes().await, json!(["audit:read"]));
        let helper = member(&hub, &owner, "h@example.org", "helper").await;
        let page = browser.get(&one).await.expect(200);
        assert!(page.has("h@example.org"));
        let delete = format!("{one}/delete");
        browser.submit(&page, &delete, &[("confirm", "helper")]).await.expect(409);
        owner.delete(&format!("/api/manage/people/{}", helper.id)).await.expect(204);
        browser.submit(&page, &delete, &[("confirm", "help")]).await.expect(422);
        browser.submit(&page, &delete, &[("confirm", "helper")]).await.expect(303);
        owner.get("/api/manage/roles/helper").await.expect(404);
    }

    async fn an_artifact_is_uploaded_and_deleted_by_forms(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let path = format!("/console/n/{name}/artifacts");
        let page = browser.get(&path).await.expect(200);
        let csrf = page.hidden(&path).into_iter().find(|(name, _)| name == "csrf").unwrap().1;
        let form = |version: &str, bytes: &str| {
            let field = |name: &str, value: &str| format!("--XX\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            let fields: String = [("csrf", csrf.as_str()), ("name", "my-plugin"), ("version", version)].map(|(name, value)| field(name, value)).concat();
            format!("{fields}--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jar\"\r\n\r\n{bytes}\r\n--XX--\r\n")
        };
        let request = |browser: &Browser, body: String| {
            browser.request(reqwest::Method::POST, &path).header("Content-Type", "multipart/form-data; boundary=XX").body(body)
        };
        let sent = request(&browser, form("1.4.0", "bytes"));
        browser.send(sent).await.expect(303);
        let sent = request(&browser, form("1.4.0", "other bytes"));
        assert!(browser.send(sent).await.expect(400).has("value=\"1.4.0\""), "what was typed is there");
        let page = browser.get(&path).await.expect(200);
        let made = owner.get("/api/manage/artifacts").await.expect(200)["items"][0].clone();
        assert!(page.has("my-plugin") && made["sizeBytes"] == 5, "{made}");
        let own = format!("{path}/{}", made["artifactId"].as_str().unwrap());
        let server = json!({"serverId": "lobby-1", "serverType": "lobby", "host": "127.0.0.1", "port": 25565});
        owner.post("/api/plugin/servers/register", server).await.expect(201);
        browser.submit(&page, &format!("{own}/install"), &[("serverId", "lobby-1")]).await.expect(303);
        // The page says where it went.
        assert!(browser.get(&path).await.expect(200).has("/servers/lobby-1\">lobby-1"));
        browser.submit(&page, &format!("{own}/delete"), &[("confirm", "my-plugin")]).await.expect(422);
        browser.submit(&page, &format!("{own}/delete"), &[("confirm", "my-plugin 1.4.0")]).await.expect(303);
        assert_eq!(owner.get("/api/manage/artifacts").await.expect(200)["total"], 0);
    }

    async fn settings_mark_a_test_network_on_every_page(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let path = format!("/console/n/{name}/settings");
        let page = browser.get(&path).await.expect(200);
        assert!(page.has("Live network") && !page.has("[Test]"));
        let fields = [("stage", "TEST"), ("requireSecondFactor", "false"), ("sessionsRequired", "true"), ("chatHistoryDays", "3")];
        browser.submit(&page, &path, &fields).await.expect(303);
        let now = owner.get("/api/manage/network").await.expect(200).clone();
        assert_eq!((&now["stage"], &now["sessionsRequired"], &now["chatHistoryDays"]), (&json!("TEST"), &json!(true), &json!(3)));
        assert!(browser.get(&format!("/console/n/{name}")).await.expect(200).has("[Test]"));
        browser.submit(&page, &path, &fields).await.expect(409);
        let secret = format!("{path}/signing-secret");
        browser.submit(&page, &secret, &[("overlapMs", "0"), ("confirm", "x")]).await.expect(422);
        let made = browser.submit(&page, &secret, &[("overlapMs", "3600000"), ("confirm", &name)]).await.expect(200);
        assert!(made.has("The new signing secret"), "{}", made.html);
    }

    async fn a_webhook_is_made_changed_and_deleted(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let list = format!("/console/n/{name}/webhooks");
        let page = browser.get(&list).await.expect(200);
        let url = "https://hooks.example.invalid/api/webhooks/1/token-of-it";
        let fields = [("kind", "DISCORD"), ("name", "ban feed"), ("url", url), ("events", "CHAT"), ("events", "PUNISHMENT")];
        let made = browser.submit(&page, &list, &fields).await.expect(200);
        assert!(made.has("whsec_") && made.has("ban feed"), "{}", made.html);
        let id = owner.get("/api/manage/webhooks").await.expect(200)["items"][0]["webhookId"].as_str().unwrap().to_owned();
        let one = format!("{list}/{id}");
        let page = browser.get(&one).await.expect(200);
        assert!(!page.has("token-of-it"));
        let templates = r#"{"TEST": {"content": "a test of {webhookId}"}}"#;
        browser.submit(&page, &one, &[("name", "feed"), ("events", "CHAT"), ("templates", templates)]).await.expect(303);
        let now = owner.get(&format!("/api/manage/webhooks/{id}")).await.expect(200).clone();
        assert_eq!((&now["name"], &now["events"]), (&json!("feed"), &json!(["CHAT"])));
        assert!(now["url"].as_str().unwrap().starts_with("https://hooks.example.invalid/"), "the address stays: {now}");
        // From what it was before, it is a conflict.
        browser.submit(&page, &one, &[("name", "x"), ("events", "CHAT"), ("templates", "{}")]).await.expect(409);
        let rotated = browser.submit(&page, &format!("{one}/rotate"), &[("overlapMs", "3600000")]).await.expect(200);
        assert!(rotated.has("The new secret") && rotated.has("whsec_"));
        browser.submit(&page, &format!("{one}/test"), &[]).await.expect(303);
        let delivery = format!("{one}/deliveries/1");
        let shown = browser.get(&delivery).await.expect(200);
        let preview = format!("{delivery}/preview");
        let seen = browser.submit(&shown, &preview, &[]).await.expect(200);
        assert!(seen.has("As it would be sent now") && seen.has(&format!("a test of {id}")), "{}", seen.html);
        let other = r#"{"TEST": {"content": "another {webhookId}"}}"#;
        let seen = browser.submit(&shown, &preview, &[("templates", other)]).await.expect(200);
        assert!(seen.has(&format!("another {id}")), "{}", seen.html);
        browser.submit(&shown, &preview, &[("templates", r#"{"TEST": {"content": "{"}}"#)]).await.expect(400);
        browser.submit(&page, &format!("{one}/enabled"), &[]).await.expect(303);
        assert_eq!(owner.get(&format!("/api/manage/webhooks/{id}")).await.expect(200)["enabled"], false);
        browser.submit(&page, &format!("{one}/delete"), &[("confirm", &id)]).await.expect(303);
        assert_eq!(owner.get("/api/manage/webhooks").await.expect(200)["total"], 0);
    }

    async fn a_players_data_is_downloaded_as_a_file(hub: Hub) {
        let owner = hub.network().await;
        let join = json!({"serverId": "lobby-1", "serverType": "lobby", "playerUuid": NOTCH, "playerName": "Notch"});
        let server = json!({"serverId": "lobby-1", "serverType": "lobby", "host": "127.0.0.1", "port": 25565});
        owner.post("/api/plugin/servers/register", server).await.expect(201);
        owner.post("/api/plugin/servers/players", join).await.expect(204);
        member(&hub, &owner, "o@example.org", "OWNER").await;
        member(&hub, &owner, "m@example.org", "MODERATOR").await;
        let name = super::name_of(&hub, &owner).await;
        let path = format!("/console/n/{name}/players/{NOTCH}/export");
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let file = browser.get(&path).await.expect(200);
        assert_eq!(file.headers["content-disposition"], format!("attachment; filename=\"player-{NOTCH}.json\""));
        let data: serde_json::Value = serde_json::from_str(&file.html).unwrap();
        assert!(data["tables"].to_string().contains("Notch"), "{data}");
        let log = owner.get("/api/manage/audit?action=player.exported").await.expect(200).clone();
        assert_eq!(log["items"][0]["actor"]["name"], "o@example.org");
        let entries = browser.get(&format!("/console/n/{name}/audit/export")).await.expect(200);
        assert!(entries.html.lines().any(|line| line.contains("player.exported")));
        Browser::signed_in(&hub, "m@example.org").await.get(&path).await.expect(403);
        assert!(Browser::new(&hub).get(&path).await.expect(303).location().starts_with("/console/sign-in"));
    }

    async fn a_browser_that_only_reads_changes_no_network(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let keys = format!("/console/n/{name}/keys");
        let page = browser.get(&keys).await.expect(200);
        browser.submit(&page, "/console/reading-only", &[]).await.expect(303);
        let fields = [("name", "bots"), ("scopes", "servers:read")];
        assert!(browser.submit(&page, &keys, &fields).await.expect(423).has("reading_only"));
        assert_eq!(owner.get("/api/manage/keys").await.expect(200)["total"], 1);
        // Reading goes on, and so do simulations.
        let page = browser.get(&keys).await.expect(200);
        assert!(page.has("class=\"locked\"") && page.has("Reading only"));
        let find = format!("/console/n/{name}/find");
        let form = browser.get(&find).await.expect(200);
        browser.submit(&form, &find, &[("serverType", "bedwars")]).await.expect(200);
        browser.submit(&page, "/console/reading-only", &[]).await.expect(303);
        let page = browser.get(&keys).await.expect(200);
        assert!(!page.has("class=\"locked\""));
        browser.submit(&page, &keys, &fields).await.expect(200);
    }
}
