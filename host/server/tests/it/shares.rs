//! One network's work beside another's.

use std::time::Duration;

use hub::values::NetworkId;
use hub_db::{Backend as Database, Db, with_tenant};
use serde_json::json;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::support::on_both;

/// Reads of a network that end when they are cancelled, many more than there are connections.
fn occupy(db: &Db, network: Uuid) -> JoinSet<()> {
    let sql = match db.backend() {
        Database::Sqlite => "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c",
        Database::Postgres => "SELECT pg_sleep(60)",
    };
    let mut tasks = JoinSet::new();
    for _ in 0..64 {
        let db = db.clone();
        tasks.spawn(with_tenant(network, async move { drop(db.query(sql).execute().await) }));
    }
    tasks
}

/// Waits until a new network finds no free connection.
async fn until_occupied(db: &Db) {
    for tenant in 1_000_u128.. {
        let read = with_tenant(Uuid::from_u128(tenant), async { db.query("SELECT 1").execute().await });
        if tokio::time::timeout(Duration::from_millis(200), read).await.is_err() {
            return;
        }
        assert!(tenant < 3_000, "connections are left");
    }
}

async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work).await.expect("it waits behind other networks")
}

on_both! {
    async fn a_network_that_occupies_its_connections_delays_no_other(hub: Hub) {
        let (noisy, quiet) = (hub.network().await, hub.network().await);
        let NetworkId(id) = noisy.network.unwrap();
        let mut reads = occupy(&hub.app.db, id);
        tokio::time::sleep(Duration::from_millis(100)).await;
        let group = json!({"groupId": "g", "nodes": []});
        soon(quiet.put("/api/plugin/permissions/groups/g", group)).await.expect(204);
        soon(quiet.get("/api/plugin/permissions/groups/g")).await.expect(200);
        reads.shutdown().await;
        if hub.app.db.backend() == Database::Sqlite {
            // Cancelled ones are interrupted.
            soon(noisy.get("/api/plugin/permissions/groups")).await.expect(200);
        }
    }

    async fn a_key_is_checked_whatever_all_networks_do(hub: Hub) {
        let callers = [hub.network().await, hub.network().await];
        let mut networks: Vec<_> = (0..40).map(|network| occupy(&hub.app.db, Uuid::from_u128(network))).collect();
        until_occupied(&hub.app.db).await;
        for caller in &callers {
            // Needs the key and nothing else of the database.
            soon(caller.get("/api/plugin/matchmaking/regions")).await.expect(200);
            let cut = caller.with_key(&caller.key.as_deref().unwrap()[1..]);
            soon(cut.get("/api/plugin/matchmaking/regions")).await.expect_error(401, "unauthenticated");
        }
        for network in &mut networks {
            network.shutdown().await;
        }
    }
}
