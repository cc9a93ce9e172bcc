//! Each page for each kind of visitor.

use serde_json::json;

use super::Browser;
use crate::people::member;
use crate::support::{Hub, on_both};

const OTHER: &str = "853c80ef-3c37-49fd-aa49-938b674adae6";
const PLAYER: &str = "069a79f4-44e9-4726-a5be-fca90e38aaf5";

/// Pages of a network, and the least role that sees each.
const PAGES: [(&str, &str); 52] = [
    ("", "VIEWER"),
    ("/servers", "VIEWER"),
    ("/servers/lobby-1", "VIEWER"),
    ("/servers/lobby-1/changes", "VIEWER"),
    ("/servers/lobby-1/history?q=x&level=WARN", "VIEWER"),
    ("/servers/lobby-1/players", "VIEWER"),
    ("/servers/lobby-1/settings", "VIEWER"),
    ("/servers/connect", "VIEWER"),
    ("/modules", "VIEWER"),
    ("/modules/chains/chat", "VIEWER"),
    ("/chat", "MODERATOR"),
    ("/modules/chains/chat/calls", "ADMIN"),
    ("/modules/chains/chat/calls/x", "ADMIN"),
    ("/players", "MODERATOR"),
    ("/players/069a79f4-44e9-4726-a5be-fca90e38aaf5", "MODERATOR"),
    ("/players/069a79f4-44e9-4726-a5be-fca90e38aaf5/punishments", "MODERATOR"),
    ("/punishments?player=Notch", "MODERATOR"),
    ("/punishments/new?player=Notch", "MODERATOR"),
    ("/keys", "ADMIN"),
    ("/staff", "ADMIN"),
    ("/audit", "ADMIN"),
    ("/usage", "ADMIN"),
    ("/reports", "MODERATOR"),
    ("/reports/1", "MODERATOR"),
    ("/appeals", "MODERATOR"),
    ("/deliveries", "MODERATOR"),
    ("/punishments/1", "MODERATOR"),
    ("/queues", "MODERATOR"),
    ("/queues/type%3Abedwars", "MODERATOR"),
    ("/permissions", "ADMIN"),
    ("/permissions/vip", "ADMIN"),
    ("/players/069a79f4-44e9-4726-a5be-fca90e38aaf5/permissions?node=a.b", "ADMIN"),
    ("/players/069a79f4-44e9-4726-a5be-fca90e38aaf5/data", "MODERATOR"),
    ("/players/069a79f4-44e9-4726-a5be-fca90e38aaf5/data/global/inventory", "MODERATOR"),
    ("/players/069a79f4-44e9-4726-a5be-fca90e38aaf5/money", "ADMIN"),
    ("/money", "ADMIN"),
    ("/texts", "ADMIN"),
    ("/texts/locales", "ADMIN"),
    ("/imports", "ADMIN"),
    ("/find", "ADMIN"),
    ("/artifacts", "ADMIN"),
    ("/staff/roles", "ADMIN"),
    ("/staff/roles/helper", "ADMIN"),
    ("/settings", "ADMIN"),
    ("/modules/chains/chat/differences", "VIEWER"),
    ("/modules/shop/dead-letters", "ADMIN"),
    ("/modules/chains/chat/revisions", "VIEWER"),
    ("/modules/shop/schedules", "VIEWER"),
    ("/secrets", "ADMIN"),
    ("/plan", "ADMIN"),
    ("/config", "OWNER"),
    ("/collections", "OWNER"),
];
const ROLES: [&str; 4] = ["VIEWER", "MODERATOR", "ADMIN", "OWNER"];

/// A network with a server and a player.
async fn filled(hub: &Hub) -> crate::support::Client {
    let owner = hub.network().await;
    let server =
        json!({"serverId": "lobby-1", "serverType": "lobby", "host": "127.0.0.1", "port": 25565, "maxPlayers": 10});
    owner.post("/api/plugin/servers/register", server).await.expect(201);
    let join = json!({"serverId": "lobby-1", "serverType": "lobby", "playerUuid": PLAYER, "playerName": "Notch"});
    owner.post("/api/plugin/servers/players", join).await.expect(204);
    let mute = json!({"playerUuid": PLAYER, "playerName": "Notch", "type": "MUTE", "reason": "<b>loud</b>"});
    owner.post("/api/plugin/punishments/create", mute).await.expect(200);
    let report = json!({"reporterUuid": OTHER, "playerUuid": PLAYER, "reason": "<b>loud</b>", "serverId": "lobby-1"});
    owner.post("/api/plugin/reports", report).await.expect(201);
    let vip = json!({"priority": 5, "permissions": [{"node": "a.b"}]});
    owner.put("/api/plugin/permissions/groups/vip", vip).await.expect(204);
    owner.put("/api/manage/roles/helper", json!({"scopes": ["reports:manage"]})).await.expect(200);
    owner
}

on_both! {
    async fn each_page_is_for_those_whose_role_includes_it(hub: Hub) {
        let owner = filled(&hub).await;
        let name = super::name_of(&hub, &owner).await;
        let other = hub.network().await;
        member(&hub, &other, "other@example.org", "OWNER").await;
        let mut foreign = Browser::signed_in(&hub, "other@example.org").await;
        let mut stranger = Browser::new(&hub);
        for (page, _) in PAGES {
            let path = format!("/console/n/{name}{page}");
            assert!(stranger.get(&path).await.expect(303).location().starts_with("/console/sign-in?next="), "{path}");
            let answer = foreign.get(&path).await.expect(404);
            assert!(answer.has("Not found") && !answer.has("lobby-1"), "{path}");
        }
        for (rank, role) in ROLES.iter().enumerate() {
            let email = format!("{}@example.org", role.to_lowercase());
            member(&hub, &owner, &email, role).await;
            let mut browser = Browser::signed_in(&hub, &email).await;
            for (page, least) in PAGES {
                let path = format!("/console/n/{name}{page}");
                let may = ROLES.iter().position(|role| *role == least).unwrap() <= rank;
                let answer = browser.get(&path).await;
                let expected = if may { 200 } else { 403 };
                // A moderator reads no modules.
                let expected = if page.starts_with("/modules") && *role == "MODERATOR" { 403 } else { expected };
                assert_eq!(answer.status.as_u16(), expected, "{role} {path}: {}", answer.html);
                assert!(!answer.has("<b>loud</b>"), "{path}");
                let policy = answer.headers["content-security-policy"].to_str().unwrap();
                assert!(policy.contains("default-src 'none'") && policy.contains("require-trusted-types-for 'script'"));
                assert!(answer.headers.contains_key("x-request-id") && answer.headers["cache-control"] == "no-store");
                if expected == 403 {
                    assert!(answer.has("forbidden_scope") && answer.has(answer.headers["x-request-id"].to_str().unwrap()));
                }
            }
            // Menus have nothing that is refused.
            let home = browser.get(&format!("/console/n/{name}")).await;
            assert_eq!(home.has(&format!("/console/n/{name}/keys\"")), rank >= 2, "{role}");
            assert_eq!(home.has(&format!("/console/n/{name}/players\"")), rank >= 1, "{role}");
        }
    }

    async fn pages_show_what_the_routes_answer(hub: Hub) {
        let owner = filled(&hub).await;
        let name = super::name_of(&hub, &owner).await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let page = browser.get(&format!("/console/n/{name}/servers?search=lobby")).await.expect(200);
        assert!(page.has("lobby-1") && page.has("1 of 10 slots taken"), "{}", page.html);
        let page = browser.get(&format!("/console/n/{name}/servers?search=none")).await.expect(200);
        assert!(page.has("No server matches"));
        let page = browser.get(&format!("/console/n/{name}/players/{PLAYER}")).await.expect(200);
        assert!(page.has("Notch") && page.has("Why they are muted") && page.has("&lt;b&gt;loud&lt;/b&gt;"), "{}", page.html);
        for missing in ["/servers/none", "/players/11111111-1111-4111-8111-111111111111", "/nothing", "/webhooks/none"] {
            let page = browser.get(&format!("/console/n/{name}{missing}")).await.expect(404);
            assert!(page.has("Not found"), "{missing}");
        }
        // The language of the browser, or the chosen one.
        let request = browser.request(reqwest::Method::GET, "/console/me").header("Accept-Language", "de-DE, en;q=0.5");
        assert!(browser.send(request).await.has("lang=\"de\""));
        browser.post("/console/language", &[("language", "de"), ("next", "/console/me")]).await.expect(303);
        assert!(browser.get("/console/me").await.has("lang=\"de\""));
    }

    async fn menus_follow_the_scopes_of_a_role_of_ones_own(hub: Hub) {
        let owner = filled(&hub).await;
        let name = super::name_of(&hub, &owner).await;
        member(&hub, &owner, "h@example.org", "helper").await;
        let mut browser = Browser::signed_in(&hub, "h@example.org").await;
        let page = browser.get(&format!("/console/n/{name}/reports")).await.expect(200);
        for (part, shown) in [("reports", true), ("keys", false), ("players", false), ("servers", false)] {
            assert_eq!(page.has(&format!("/console/n/{name}/{part}\"")), shown, "{part}");
        }
    }

    async fn the_operators_pages_are_the_operators(hub: Hub) {
        let owner = filled(&hub).await;
        let name = super::name_of(&hub, &owner).await;
        member(&hub, &owner, "o@example.org", "OWNER").await;
        let mut browser = Browser::signed_in(&hub, "o@example.org").await;
        let pages = ["", "/people", "/audit", "/plans", "/plans/default", "/nodes"].map(|page| format!("/console/hub{page}"));
        for page in &pages {
            browser.get(page).await.expect(403);
        }
        let body = json!({"email": "op@example.org"});
        hub.operator().await.post("/api/admin/people", body).await.expect(201);
        crate::people::accept(&hub, "op@example.org").await;
        let mut operator = Browser::signed_in(&hub, "op@example.org").await;
        let page = operator.get("/console/hub").await.expect(200);
        assert!(page.has(&name));
        for page in &pages {
            operator.get(page).await.expect(200);
        }
        operator.get("/console/me").await.expect(200);
        // Being operator opens no network.
        operator.get(&format!("/console/n/{name}")).await.expect(404);
        let made = operator.submit(&page, "/console/hub/networks", &[("name", "windmill"), ("plan", "default")]).await.expect(200);
        assert!(made.has("windmill") && made.has("hub_"));
    }

    async fn assets_are_kept_by_browsers_and_compressed(hub: Hub) {
        let mut browser = Browser::new(&hub);
        let page = browser.get("/console/sign-in").await.expect(200);
        let (_, rest) = page.html.split_once("rel=\"stylesheet\" href=\"").unwrap();
        let address = rest.split('"').next().unwrap();
        let style = browser.get(address).await.expect(200);
        assert!(style.has(":root{") && style.headers["content-type"] == "text/css; charset=utf-8");
        let request = browser.request(reqwest::Method::GET, "/console/sign-in").header("Accept-Encoding", "gzip");
        assert_eq!(browser.send(request).await.headers["content-encoding"], "gzip");
        let asset = browser.get("/console/assets/x/../../etc/passwd").await;
        assert_ne!(asset.status.as_u16(), 200);
    }
}
