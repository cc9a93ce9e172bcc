//! The key-value stores of modules.

use std::time::Duration;

use hub_sandbox::contract::chat::Decision;
use serde_json::json;

use super::{chain, point, refused, say, upload, wasm};
use crate::support::{Backend, Hub, NOW, on_both};

on_both! {
    async fn a_modules_store_counts_expires_and_survives(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "counting", wasm::counting()).await.expect(201);
        chain(&owner, "chat", json!([{"name": "counting", "version": 1}])).await.expect(200);
        assert_eq!(say(&hub, &owner, "one").await.decision, Decision::Allow);
        assert_eq!(say(&hub, &owner, "two").await.decision, Decision::Allow);
        assert_eq!(refused(&say(&hub, &owner, "three").await), "slow down");

        // Another network's module of the same name counts for itself.
        let other = hub.network().await;
        upload(&other, "counting", wasm::counting()).await.expect(201);
        chain(&other, "chat", json!([{"name": "counting", "version": 1}])).await.expect(200);
        assert_eq!(say(&hub, &other, "one").await.decision, Decision::Allow);

        let hub = hub.restart(Duration::from_millis(59_999)).await;
        assert_eq!(refused(&say(&hub, &owner, "four").await), "slow down");
        hub.advance_ms(1);
        assert_eq!(say(&hub, &owner, "five").await.decision, Decision::Allow);
    }

    async fn a_modules_store_has_a_quota(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "hoarding", wasm::hoarding()).await.expect(201);
        chain(&owner, "chat", json!([{"name": "hoarding", "version": 1}])).await.expect(200);
        // 16 MiB have room for 279 times 60,000 bytes with their keys.
        for number in 0..279 {
            assert_eq!(say(&hub, &owner, &format!("line {number}")).await.decision, Decision::Allow, "{number}");
        }
        assert_eq!(refused(&say(&hub, &owner, "too much").await), "full");
        // Entries can be overwritten, and expired ones make room.
        assert_eq!(say(&hub, &owner, "line 5").await.decision, Decision::Allow);
        hub.advance_ms(60_000);
        assert_eq!(say(&hub, &owner, "room again").await.decision, Decision::Allow);
        assert_eq!(point(&owner, "chat").await["modules"][0]["failures"], 0);
    }
}

/// An older hub kept the modules' stores in its main database.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stores_of_an_older_hub_move() {
    let hub = Hub::start(Backend::sqlite()).await;
    let owner = hub.network().await;
    upload(&owner, "counting", wasm::counting()).await.expect(201);
    chain(&owner, "chat", json!([{"name": "counting", "version": 1}])).await.expect(200);
    let network = owner.network.unwrap();
    let player = b"069a79f4-44e9-4726-a5be-fca90e38aaf5".to_vec();
    let db = &hub.app.db;
    db.write("INSERT INTO module_store_usage (network_id, module, bytes) VALUES ($1, 'counting', 120)")
        .bind(network)
        .execute()
        .await
        .unwrap();
    // More than are moved at once.
    for number in 0..450_i64 {
        let key = if number == 0 { player.clone() } else { number.to_string().into_bytes() };
        db.write(
            "INSERT INTO module_store (network_id, module, key, number, expires_at, size)
             VALUES ($1, 'counting', $2, 2, $3, 120)",
        )
        .bind(network)
        .bind(key)
        .bind(NOW + 60_000)
        .execute()
        .await
        .unwrap();
    }
    let hub = hub.restart(Duration::ZERO).await;
    assert_eq!(refused(&say(&hub, &owner, "the third line").await), "slow down");
    for (db, rows) in [(&hub.app.db, 0), (&hub.app.module_store, 450)] {
        let (count,): (i64,) = db.query("SELECT count(*) FROM module_store").one().await.unwrap();
        assert_eq!(count, rows);
    }
    // They move once only: later entries stay.
    let hub = hub.restart(Duration::ZERO).await;
    assert_eq!(refused(&say(&hub, &owner, "the fourth").await), "slow down");
}
