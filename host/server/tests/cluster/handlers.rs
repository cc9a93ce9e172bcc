//! Events are handled once each, though the owners of their network are killed meanwhile.

use std::collections::HashSet;

use reqwest::Method;
use serde_json::json;

use crate::fleet::{Fleet, shard_of, wait_until};
use crate::handler::{grants, handler, manifest};

const KILLS: usize = 3;
const KEYS: usize = 6;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_event_is_handled_once_while_owners_are_killed() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("handled");
    let wasm = handler(1, &manifest("PLAYER", &["BALANCE_CHANGED", "MODULE_EVENT"]));
    let path = "/api/manage/modules?name=counter";
    owner
        .expect_success_with(&Method::POST, path, |request| {
            request.header("Content-Type", "application/wasm").body(wasm.clone())
        })
        .await;
    let link = json!({"modules": [{"name": "counter", "version": 1, "grants": grants()}]});
    owner.put("/api/manage/extension-points/events", link).await.expect(200);
    let mut sent: i64 = 0;
    for _ in 0..KILLS {
        for _ in 0..30 {
            let key = usize::try_from(sent).unwrap() % KEYS;
            let path = format!("/api/plugin/economy/voter/k{key}/currencies/modify");
            let change = json!({"currency": "votes", "amount": 1});
            let once = format!("vote {sent}");
            owner.send_retrying(Method::POST, &path, Some(change), Some(&once)).await.expect(200);
            sent += 1;
        }
        // Its owner, while events are queued or their calls are under way.
        let network: Vec<(i32, String)> =
            fleet.leases().await.into_iter().map(|(shard, lease)| (shard, lease.url)).collect();
        let shard = shard_of(&owner.key);
        let owning = network.iter().find(|(of, _)| *of == shard).map(|(_, url)| url.clone());
        let node = (0..3).find(|node| owning.as_ref() == Some(&fleet.url(*node))).unwrap_or(0);
        fleet.kill(node);
        fleet.start_node(node);
        fleet.wait_until_ready().await;
    }
    let handled = "SELECT CAST(COALESCE(SUM(value), 0) AS BIGINT) FROM statistics
                   WHERE owner_key = 'f1' AND name = 'handled' AND period = 'LIFETIME'";
    let waiting = "SELECT (SELECT COUNT(*) FROM handler_queue) + (SELECT COUNT(*) FROM outbox)";
    wait_until(async || fleet.numbers(waiting).await == [0]).await;
    assert_eq!(fleet.numbers(handled).await, [sent]);
    assert_eq!(fleet.numbers("SELECT COUNT(*) FROM handler_dead_letters").await, [0]);
    // In order of each key, each once.
    for key in 0..KEYS {
        let ids = format!(
            "SELECT CAST(SPLIT_PART(id, '-', 2) AS BIGINT)
             FROM module_state, LATERAL REGEXP_SPLIT_TO_TABLE(RTRIM(CONVERT_FROM(value, 'UTF8'), ';'), ';') AS id
             WHERE module = 'counter' AND key = CONVERT_TO('voter:k{key}', 'UTF8')"
        );
        let ids = fleet.numbers(&ids).await;
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), usize::try_from(sent).unwrap() / KEYS, "{ids:?}");
        assert!(ids.is_sorted(), "{ids:?}");
    }
}
