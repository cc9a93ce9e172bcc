//! Modules that act by themselves wait after a restore.

use serde_json::{Value, json};

use super::{Files, carry_key};
use crate::modules::handlers::{self, handled, schedules, vote};
use crate::modules::{chain, point};
use crate::support::{Backend, Client, Hub, NOW, on_each, succeed, text};

/// Activates a handler and a schedule, each of which counts what it did.
async fn activate(owner: &Client) {
    handlers::activate(owner, "PLAYER").await;
    schedules::activate(owner, 1, &[("five", "5 12 * * *", "ONCE")]).await;
}

async fn paused(owner: &Client) -> [Option<Value>; 3] {
    let mut of = [None, None, None];
    for (at, name) in ["events", "schedules", "chat"].into_iter().enumerate() {
        of[at] = point(owner, name).await.get("paused").cloned();
    }
    of
}

async fn modules_wait_until_they_are_activated_again(backend: Backend) {
    let files = Files::new();
    let hub = Hub::start(backend.clone()).await;
    let owner = hub.network().await;
    activate(&owner).await;
    let file = files.path("backup");
    succeed(&backend, &["admin", "backup", text(&file)]);
    let of = |hub: &Hub| hub.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());

    let to = Backend::like(&backend).await;
    carry_key(&backend, &to);
    succeed(&to, &["admin", "restore", text(&file)]);
    let second = Hub::start(to).await;
    let (restored, other) = (of(&second), second.network().await);
    assert_eq!(paused(&restored).await, [Some(json!(true)), Some(json!(true)), None]);
    // Those of a network that came later do not wait: what they have done, the others could have.
    activate(&other).await;
    assert_eq!(paused(&other).await, [None, None, None]);
    vote(&restored, "a").await;
    vote(&other, "a").await;
    Hub::eventually("the event was handled", async || handled(&other).await == 1).await;
    schedules::go_to(&second, NOW + 5 * 60_000 + 1_000);
    schedules::pass_time(&second, "the tick has run", async || handled(&other).await == 2).await;
    assert_eq!(handled(&restored).await, 0);
    assert_eq!(point(&restored, "events").await["modules"][0]["lagEvents"], 1);
    let shown = restored.get("/api/manage/modules/counter/activation").await.expect(200).clone();
    assert_eq!(shown["links"][0]["paused"], true);

    // The same chain again; the one before it is still to be brought back.
    let link = point(&restored, "events").await["modules"][0].clone();
    assert_eq!(chain(&restored, "events", json!([link])).await.expect(200).get("paused"), None);
    Hub::eventually("the event was handled", async || handled(&restored).await == 1).await;
    let before = restored.post("/api/manage/extension-points/events/rollback", json!({})).await.expect(200).clone();
    assert_eq!(before["modules"], json!([]));
    let activation = json!({"version": 1, "grants": {"scopes": ["economy:write"]}, "points": {"schedules": {}}});
    let resumed = restored.put("/api/manage/modules/ticker/activation", activation).await.expect(200).clone();
    assert_eq!(resumed["links"][0].get("paused"), None);
    schedules::pass_time(&second, "the missed tick has run", async || handled(&restored).await == 2).await;

    let to = Backend::like(&backend).await;
    carry_key(&backend, &to);
    succeed(&to, &["admin", "restore", text(&file), "--resume-modules"]);
    let third = Hub::start(to).await;
    assert_eq!(paused(&of(&third)).await, [None, None, None]);
    assert_eq!(point(&of(&third), "schedules").await["modules"][0]["name"], "ticker");
}

on_each! { modules_wait_until_they_are_activated_again }
