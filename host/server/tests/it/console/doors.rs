//! Getting in and out.

use serde_json::json;

use super::Browser;
use crate::people::sessions::shown;
use crate::people::{PASSWORD, code, member, send};
use crate::support::{NOW, on_both};

on_both! {
    async fn strangers_cost_little(hub: Hub) {
        let mut browser = Browser::new(&hub);
        let long = "x".repeat(20_000);
        browser.post("/console/language", &[("language", &long)]).await.expect(413);
        browser.post("/console/language", &[("language", "de")]).await.expect(303);
        let mut pages = 0;
        while browser.get("/console/sign-in").await.status != 429 {
            pages += 1;
            assert!(pages < 2_000, "nothing ends it");
        }
        browser.post("/console/language", &[("language", "de")]).await.expect(429);
        hub.advance_ms(1_000);
        browser.get("/console/sign-in").await.expect(200);
    }

    async fn a_stranger_is_led_to_the_sign_in_and_back(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        let name = super::name_of(&hub, &owner).await;
        let mut browser = Browser::new(&hub);
        let wanted = format!("/console/n/{name}/servers?q=bed+wars%26more");
        let page = browser.get(&wanted).await.expect(303);
        let sign_in = page.location().to_owned();
        assert!(sign_in.starts_with("/console/sign-in?next="), "{sign_in}");
        let page = browser.get(&sign_in).await.expect(200);
        let fields = [("email", "alex@example.org"), ("password", "wrong password")];
        let page = browser.submit(&page, "/console/sign-in", &fields).await.expect(401);
        assert!(page.has("Wrong address, password or code.") && page.has("alex@example.org") && !page.has("wrong password"));
        let fields = [("email", "alex@example.org"), ("password", PASSWORD)];
        let page = browser.submit(&page, "/console/sign-in", &fields).await.expect(303);
        assert_eq!(page.location(), wanted);
        let page = browser.get(&wanted).await.expect(200);
        assert!(page.has(&name) && page.has("No server is connected yet"));
        // Their only network is the beginning.
        assert_eq!(browser.get("/console").await.expect(303).location(), format!("/console/n/{name}"));
        let page = browser.submit(&page, "/console/sign-out", &[]).await.expect(303);
        assert!(page.location().starts_with("/console/sign-in"));
        browser.get(&wanted).await.expect(303);
        // A cookie may have to keep it.
        let long = browser.get(&format!("/console/me/device?code={}", "x".repeat(1_000))).await.expect(303);
        assert_eq!(long.location(), "/console/sign-in?next=%2Fconsole%2Fme%2Fdevice");
    }

    async fn nobody_is_led_away_from_the_hub(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        for next in ["https://evil.example", "//evil.example", "/console\\evil", "/consoles", "/api"] {
            let fields = [("email", "alex@example.org"), ("password", PASSWORD), ("next", next)];
            let page = Browser::new(&hub).post("/console/sign-in", &fields).await.expect(303);
            assert_eq!(page.location(), "/console", "{next}");
        }
    }

    async fn a_second_factor_is_asked_for_on_a_page_of_its_own(hub: Hub) {
        let owner = hub.network().await;
        let alex = member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        let post = async |path: &str, body| send(&hub, &alex.token, reqwest::Method::POST, path, body).await;
        let enrolled = post("/api/people/second-factor", json!({"password": PASSWORD})).await.expect(201).clone();
        let secret = enrolled["secret"].as_str().unwrap().to_owned();
        let codes = post("/api/people/second-factor/confirm", json!({"code": shown(&secret, NOW)})).await.expect(200).clone();
        let mut browser = Browser::new(&hub);
        let fields = [("email", "alex@example.org"), ("password", PASSWORD), ("next", "/console/me")];
        let page = browser.post("/console/sign-in", &fields).await.expect(303);
        assert_eq!(page.location(), "/console/sign-in/code");
        assert!(!browser.cookies.values().any(|value| value.contains(PASSWORD)));
        let page = browser.get("/console/sign-in/code").await.expect(200);
        assert!(page.has("alex@example.org") && !page.has(PASSWORD));
        browser.post("/console/sign-in/code", &[("code", "000000")]).await.expect(401);
        let recovery = codes["recoveryCodes"][0].as_str().unwrap();
        let page = browser.post("/console/sign-in/code", &[("code", recovery)]).await.expect(303);
        assert_eq!(page.location(), "/console/me");
        browser.get("/console/me").await.expect(200);
        // The sign-in is over, and so is another browser's after five minutes.
        assert_eq!(browser.get("/console/sign-in/code").await.expect(303).location(), "/console/sign-in");
        let mut late = Browser::new(&hub);
        late.post("/console/sign-in", &fields).await.expect(303);
        hub.clock.advance(std::time::Duration::from_mins(6));
        assert_eq!(late.get("/console/sign-in/code").await.expect(303).location(), "/console/sign-in");
    }

    async fn an_invitation_is_accepted_by_its_link(hub: Hub) {
        let owner = hub.network().await;
        let body = json!({"email": "alex@example.org", "role": "MODERATOR"});
        owner.post("/api/manage/people", body).await.expect(201);
        let link = format!("/console/accept?token={}", code(&hub, "alex@example.org", 1).await);
        let mut browser = Browser::new(&hub);
        let page = browser.get(&link).await.expect(200);
        let page = browser.submit(&page, "/console/accept", &[("name", "Alex"), ("password", "short")]).await.expect(400);
        assert!(page.has("value=\"Alex\""));
        let fields = [("name", "Alex"), ("password", PASSWORD)];
        browser.submit(&page, "/console/accept", &fields).await.expect(303);
        let name = super::name_of(&hub, &owner).await;
        assert_eq!(browser.get("/console").await.location(), format!("/console/n/{name}"));
        // A person with an account joins with it.
        let other = hub.network().await;
        let body = json!({"email": "alex@example.org", "role": "VIEWER"});
        other.post("/api/manage/people", body).await.expect(201);
        let link = format!("/console/accept?token={}", code(&hub, "alex@example.org", 2).await);
        let page = browser.get(&link).await.expect(200);
        browser.submit(&page, "/console/accept/join", &[]).await.expect(303);
        let page = browser.get("/console").await.expect(200);
        assert!(page.has(&name) && page.has(&super::name_of(&hub, &other).await));
    }

    async fn a_lost_password_is_set_by_a_link(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "alex@example.org", "MODERATOR").await;
        let mut browser = Browser::new(&hub);
        let known = browser.post("/console/password/lost", &[("email", "alex@example.org")]).await.expect(200);
        let unknown = browser.post("/console/password/lost", &[("email", "nobody@example.org")]).await.expect(200);
        assert_eq!(known.html, unknown.html);
        let token = code(&hub, "alex@example.org", 2).await;
        let page = browser.get(&format!("/console/password/reset?token={token}")).await.expect(200);
        let fields = [("password", "another long password")];
        browser.submit(&page, "/console/password/reset", &fields).await.expect(303);
        browser.submit(&page, "/console/password/reset", &fields).await.expect(400);
        let fields = [("email", "alex@example.org"), ("password", "another long password")];
        browser.post("/console/sign-in", &fields).await.expect(303);
    }

    async fn a_new_hub_makes_its_first_operator_by_a_link_once(hub: Hub) {
        let code = hub::people::service::first_operator_code(&hub.app).await.unwrap().unwrap();
        let fields = |code| [("code", code), ("name", "Mira"), ("email", "mira@example.org"), ("password", PASSWORD)];
        let mut browser = Browser::new(&hub);
        browser.get(&format!("/console/first?code={code}")).await.expect(200);
        browser.post("/console/first", &fields("wrong")).await.expect(400);
        browser.post("/console/first", &fields(&code)).await.expect(303);
        assert_eq!(browser.get("/console").await.expect(303).location(), "/console/hub");
        browser.get("/console/hub").await.expect(200);
        Browser::new(&hub).post("/console/first", &fields(&code)).await.expect(400);
        // A hub with people prints no link.
        assert_eq!(hub::people::service::first_operator_code(&hub.app).await.unwrap(), None);
        let log = hub.operator().await.get("/api/admin/audit?action=person.created").await.expect(200).clone();
        assert_eq!(log["items"][0]["actor"]["name"], "mira@example.org");
    }

    async fn guesses_are_slowed_down_on_the_page_as_by_the_route(hub: Hub) {
        let mut browser = Browser::new(&hub);
        let fields = [("email", "alex@example.org"), ("password", "a wrong password")];
        for _ in 0..5 {
            browser.post("/console/sign-in", &fields).await.expect(401);
        }
        let page = browser.post("/console/sign-in", &fields).await.expect(429);
        assert!(page.headers.contains_key("retry-after") && page.has("Too many failed sign-ins"));
    }
}
