//! A tick that is under way when the owner of its network is killed runs once.

use reqwest::Method;
use serde_json::json;

use crate::fleet::{Fleet, shard_of, wait_until};
use crate::ticker::{manifest, ticker};

const KILLS: i64 = 3;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tick_is_committed_once_though_its_owner_is_killed() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("scheduled");
    let wasm = ticker(1, &manifest(&[("yearly", "0 0 1 1 *", "ONCE")]));
    let path = "/api/manage/modules?name=ticker";
    owner
        .expect_success_with(&Method::POST, path, |request| {
            request.header("Content-Type", "application/wasm").body(wasm.clone())
        })
        .await;
    let link = json!({"modules": [{"name": "ticker", "version": 1, "grants": {"scopes": ["economy:write"]}}]});
    owner.put("/api/manage/extension-points/schedules", link).await.expect(200);
    let handled = "SELECT CAST(COALESCE(SUM(value), 0) AS BIGINT) FROM statistics
                   WHERE owner_key = 'f1' AND name = 'handled' AND period = 'LIFETIME'";
    let running = "SELECT COUNT(*) FROM module_schedules WHERE run_seq IS NOT NULL";
    for round in 1..=KILLS {
        let leases = fleet.leases().await;
        let shard = shard_of(&owner.key);
        let owning = leases.into_iter().find(|(of, _)| *of == shard).map(|(_, lease)| lease.url);
        let node = (0..3).find(|node| owning.as_ref() == Some(&fleet.url(*node))).unwrap_or(0);
        owner.post("/api/manage/modules/ticker/schedules/yearly/run", json!({})).await.expect(202);
        // While the call is under way, or has just been committed.
        fleet.kill(node);
        fleet.start_node(node);
        fleet.wait_until_ready().await;
        wait_until(async || fleet.numbers(running).await == [0]).await;
        assert_eq!(fleet.numbers(handled).await, [round]);
    }
    assert_eq!(fleet.numbers("SELECT COUNT(*) FROM handler_dead_letters").await, [0]);
}
