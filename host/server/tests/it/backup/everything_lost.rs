//! From the first plan to a lost disk, as `docs/operate/walkthrough.md` does it.

use reqwest::Method;
use serde_json::json;

use super::Files;
use crate::people;
use crate::servers::uuid;
use crate::support::{Backend, Client, Hub, NOW, on_each, succeed, text};
use crate::usage::HOUR;
use crate::usage::sink::Billing;

/// A network's data of a player.
async fn keep(owner: &Client) {
    let path = format!("/api/plugin/players/{}/data/global/inventory", uuid(1));
    owner.put(&path, json!({"data": "{\"coins\": 5}"})).await.expect(200);
}

async fn is_kept(owner: &Client) -> bool {
    let export = owner.get(&format!("/api/manage/players/{}/export", uuid(1))).await.expect(200).clone();
    !export["tables"].as_object().unwrap().is_empty()
}

async fn a_hub_that_loses_its_disk_goes_on_from_its_backup(backend: Backend) {
    let (files, billing) = (Files::new(), Billing::start().await);
    let hub = billing.hub(backend.clone()).await;
    succeed(&backend, &["admin", "plan", "create", "gold", "--limit", "servers=5"]);
    let mut networks = vec![];
    for name in ["alpha", "beta"] {
        let made = succeed(&backend, &["admin", "network", "create", name, "--json"]);
        let made: serde_json::Value = serde_json::from_str(&made).unwrap();
        succeed(&backend, &["admin", "network", "set", name, "--plan", "gold"]);
        networks.push(hub.with_key(made["apiKey"].as_str().unwrap()));
    }
    let [alpha, beta] = &networks[..] else { unreachable!() };
    alpha.post("/api/manage/people", json!({"email": "alex@example.org", "role": "ADMIN"})).await.expect(201);
    people::accept(&hub, "alex@example.org").await;
    for owner in [alpha, beta] {
        keep(owner).await;
    }
    // Two networks are billed for an hour.
    hub.advance_ms(1_000);
    Hub::eventually("their requests are stored", async || {
        let used = succeed(&backend, &["admin", "usage", "--json"]);
        let used: serde_json::Value = serde_json::from_str(&used).unwrap();
        used.as_array().unwrap().iter().filter(|hour| hour["requests"].as_i64().unwrap() > 0).count() == 2
    })
    .await;
    hub.advance_ms(60 * 60 * 1_000);
    let billed = billing.expect(&hub, 2).await;
    let backup = files.path("backup");
    succeed(&backend, &["admin", "backup", text(&backup)]);
    alpha.delete(&format!("/api/manage/players/{}", uuid(1))).await.expect(204);
    std::fs::write(files.path("forgotten"), succeed(&backend, &["admin", "player", "forgotten"])).unwrap();
    hub.stop().await;

    let to = Backend::like(&backend).await;
    succeed(&to, &["admin", "restore", text(&backup), "--forgotten", text(&files.path("forgotten"))]);
    let hub = billing.hub(to).await;
    let [alpha, beta] = [alpha, beta].map(|owner| hub.with_key(owner.key.as_deref().unwrap()));
    assert!(!is_kept(&alpha).await, "a restore brought back a forgotten player");
    assert!(is_kept(&beta).await, "another network has its own players");
    let plan = hub.operator().await.get("/api/admin/plans/gold").await.expect(200)["limits"]["servers"].clone();
    assert_eq!(plan, 5);
    let body = json!({"email": "alex@example.org", "password": people::PASSWORD});
    let session = hub.anonymous().post("/api/people/sign-in", body).await.expect(200)["token"].clone();
    let request = hub.anonymous().request(Method::GET, "/api/manage/audit").bearer_auth(session.as_str().unwrap());
    let log = alpha.send(request).await.expect(200).to_string();
    assert!(log.contains("member.joined") && log.contains("player.forgotten"), "{log}");
    // The next hour is billed, and earlier hours are not billed again.
    for owner in [&alpha, &beta] {
        Hub::eventually("their requests are stored", async || {
            hub.advance_ms(1_000);
            owner.get("/api/manage/usage").await.expect(200)["items"][0]["requests"].as_i64().unwrap_or(0) > 0
        })
        .await;
    }
    hub.advance_ms(2 * 60 * 60 * 1_000);
    let events = billing.expect(&hub, 4).await;
    assert_eq!(events[..2], billed);
    let hours: Vec<_> = events.iter().map(|event| event["data"]["hour"].as_i64().unwrap() - NOW).collect();
    assert_eq!(hours, [0, 0, HOUR, HOUR]);
}

on_each! { a_hub_that_loses_its_disk_goes_on_from_its_backup }
