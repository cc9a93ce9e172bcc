//! The stream of a page.

use serde_json::json;

use super::Browser;
use crate::people::member;
use crate::support::{Events, on_both};

on_both! {
    async fn a_page_hears_of_its_network_and_resumes(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "m@example.org", "MODERATOR").await;
        let name = super::name_of(&hub, &owner).await;
        let browser = Browser::signed_in(&hub, "m@example.org").await;
        let path = format!("/console/n/{name}/live?types=PUNISHMENT");
        let mut events = Events::open(browser.request(reqwest::Method::GET, &path)).await;
        let warn = |name: &str| json!({"playerName": name, "type": "WARN", "reason": "x"});
        owner.post("/api/plugin/punishments/create-by-name", warn("Notch")).await.expect(200);
        let first = events.next_named("PUNISHMENT").await;
        drop(events);
        owner.post("/api/plugin/punishments/create-by-name", warn("Alex")).await.expect(200);
        let request = browser.request(reqwest::Method::GET, &path).header("Last-Event-ID", first.id.clone().unwrap());
        let second = Events::open(request).await.next_named("PUNISHMENT").await;
        assert_ne!(first.id, second.id);
        // Another network's is not theirs, and a stranger has none.
        let other = super::name_of(&hub, &hub.network().await).await;
        let foreign = browser.request(reqwest::Method::GET, &format!("/console/n/{other}/live?types=PUNISHMENT"));
        assert_eq!(foreign.send().await.unwrap().status().as_u16(), 404);
        let stranger = Browser::new(&hub).request(reqwest::Method::GET, &path);
        assert_eq!(stranger.send().await.unwrap().status().as_u16(), 401);
    }
}
