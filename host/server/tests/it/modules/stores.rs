//! The key-value stores of modules.

use std::time::Duration;

use hub_sandbox::contract::chat::Decision;
use serde_json::json;

use super::{chain, point, refused, say, upload, wasm};
use crate::support::on_both;

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
