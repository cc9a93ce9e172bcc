//! Modules that act by themselves wait after a restore.

use serde_json::{Value, json};

use super::{Files, carry_key};
use crate::modules::handlers::schedules;
use crate::modules::{chain, point};
use crate::support::{Backend, Hub, on_each, succeed, text};

async fn modules_wait_until_they_are_activated_again(backend: Backend) {
    let files = Files::new();
    let hub = Hub::start(backend.clone()).await;
    let owner = hub.network().await;
    schedules::activate(&owner, 1, &[("five", "5 12 * * *", "ONCE")]).await;
    let file = files.path("backup");
    succeed(&backend, &["admin", "backup", text(&file)]);

    let to = Backend::like(&backend).await;
    carry_key(&backend, &to);
    succeed(&to, &["admin", "restore", text(&file)]);
    let second = Hub::start(to).await;
    let restored = second.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
    assert_eq!(point(&restored, "schedules").await["paused"], true);
    assert_eq!(point(&restored, "chat").await.get("paused"), None);
    second.advance_ms(10 * 60_000);
    let tick = async || {
        let row = second.app.db.query("SELECT due_at - next_at, run_seq, last_run FROM module_schedules");
        row.one::<(i64, Option<i64>, Option<String>)>().await.unwrap()
    };
    Hub::eventually("the tick was seen, and waits", async || tick().await.0 > 0).await;
    assert_eq!((tick().await.1, tick().await.2), (None, None));
    // The same chain again.
    let link = json!([{"name": "ticker", "version": 1, "grants": {"scopes": ["economy:write"]}}]);
    assert_eq!(chain(&restored, "schedules", link).await.expect(200).get("paused"), None);
    schedules::pass_time(&second, "the missed tick has run", async || tick().await.2.is_some()).await;
    assert_eq!(point(&restored, "schedules").await.get("paused"), None);

    let to = Backend::like(&backend).await;
    carry_key(&backend, &to);
    succeed(&to, &["admin", "restore", text(&file), "--resume-modules"]);
    let third = Hub::start(to).await;
    let resumed = third.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
    let schedules: Value = point(&resumed, "schedules").await;
    assert_eq!((schedules.get("paused"), &schedules["modules"][0]["name"]), (None, &json!("ticker")));
}

on_each! { modules_wait_until_they_are_activated_again }
