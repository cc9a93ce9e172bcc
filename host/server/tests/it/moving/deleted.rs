//! Deletion of networks: all their data is deleted, and nothing of another.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::Duration;

use hub::components::tables;
use hub::values::NetworkId;
use hub_db::Db;
use reqwest::Method;
use serde_json::json;

use super::{command, sample, succeed};
use crate::support::{Backend, Client, Hub, NOW, on_each};

/// Number of a network's rows in each of its tables.
async fn rows(hub: &Hub, owner: &Client) -> BTreeMap<&'static str, i64> {
    let mut rows = BTreeMap::new();
    for table in tables().of_networks() {
        let sql: &'static str =
            Box::leak(format!("SELECT COUNT(*) FROM {} WHERE network_id = $1", table.name).into_boxed_str());
        let count = async |db: &Db| db.query(sql).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap().0;
        let is_module_store = table.name.starts_with("module_store");
        rows.insert(table.name, count(if is_module_store { &hub.app.module_store } else { &hub.app.db }).await);
    }
    rows
}

/// Fills every table of the networks, and waits until all events of it are published.
async fn fill(hub: &Hub, networks: [&Client; 2]) {
    for network in networks {
        sample::fill(hub, network).await;
    }
    Hub::eventually("all is published", async || {
        hub.app.db.query("SELECT COUNT(*) FROM outbox").one::<(i64,)>().await.unwrap().0 == 0
    })
    .await;
}

fn path(owner: &Client) -> String {
    format!("/api/admin/networks/{}", owner.network.unwrap())
}

/// Waits until a network is deleted.
async fn is_deleted(operator: &Client, owner: &Client) {
    Hub::eventually("the network is deleted", async || {
        !operator.get(&path(owner)).await.expect(200)["deletedAt"].is_null()
    })
    .await;
}

fn blobs(hub: &Hub, owner: &Client) -> usize {
    let name = owner.network.unwrap().to_string();
    hub.blobs().iter().filter(|blob| blob.to_str().unwrap().contains(&name)).count()
}

async fn nothing_but_the_name_is_left(backend: Backend) {
    let hub = Hub::start(backend).await;
    let (owner, other) = (hub.network().await, hub.network().await);
    fill(&hub, [&owner, &other]).await;
    let operator = hub.operator().await;
    let before = rows(&hub, &owner).await;
    // Indexes are complete by now.
    let is_empty = |name: &str| name.starts_with("waitlist") || name == "collection_index_builds";
    for table in tables().moved().iter().filter(|table| !is_empty(table.name)) {
        assert!(before[table.name] > 0, "no rows of {}", table.name);
    }
    assert!(before["network_usage"] > 0 && blobs(&hub, &owner) > 0);
    let (others, other_blobs) = (rows(&hub, &other).await, blobs(&hub, &other));
    let name = operator.get(&path(&owner)).await.expect(200)["name"].clone();
    let mut stream = owner.events(None, None).await;

    operator.delete(&format!("{}?now=true", path(&owner))).await.expect(204);
    owner.get("/api/manage/keys").await.expect_error(403, "network_suspended");
    let deleting = operator.get(&path(&owner)).await.expect(200).clone();
    assert_eq!((&deleting["suspended"], &deleting["deleteAt"]), (&json!(true), &json!(NOW + 2_000)));
    // Not yet: other nodes have to notice.
    assert_eq!(rows(&hub, &owner).await["players"], before["players"]);
    hub.advance_ms(2_000);
    is_deleted(&operator, &owner).await;
    while stream.next().await.is_some() {}

    let left = operator.get(&path(&owner)).await.expect(200).clone();
    let expected = json!({"networkId": owner.network.unwrap(), "name": name, "deletedAt": NOW + 2_000});
    assert_eq!(left, expected);
    for (table, count) in rows(&hub, &owner).await {
        assert_eq!(count, 0, "{table}");
    }
    assert_eq!(blobs(&hub, &owner), 0);
    if hub.app.db.backend() == hub_db::Backend::Sqlite {
        let numbers = "SELECT network_id FROM player_search_networks";
        let left: Vec<(NetworkId,)> = hub.app.db.query(numbers).all().await.unwrap();
        assert_eq!(left, [(other.network.unwrap(),)]);
    }
    assert_eq!((rows(&hub, &other).await, blobs(&hub, &other)), (others, other_blobs));
    sample::answers(&other).await;
    owner.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
    operator.delete(&path(&owner)).await.expect_error(404, "unknown_network");
    // The name is free, and late writes are deleted, too.
    operator.post("/api/admin/networks", json!({"name": name})).await.expect(201);
    let late = "INSERT INTO config_documents (network_id, doc_group, namespace, doc) VALUES ($1, 'a', 'b', '1')";
    hub.app.db.write(late).bind(owner.network.unwrap()).execute().await.unwrap();
    hub.advance_ms(20 * 60 * 1000);
    Hub::eventually("late rows are deleted", async || rows(&hub, &owner).await.values().all(|count| *count == 0)).await;
    assert_eq!(*operator.get(&path(&owner)).await.expect(200), expected);
}

async fn a_killed_deletion_is_gone_on_with(backend: Backend) {
    let hub = Hub::start(backend.clone()).await;
    let (owner, other) = (hub.network().await, hub.network().await);
    fill(&hub, [&owner, &other]).await;
    let others = rows(&hub, &other).await;
    let key = owner.key.clone().unwrap();
    hub.app
        .db
        .transaction(async |mut tx| {
            for number in 0..20_000_i64 {
                tx.query(
                    "INSERT INTO player_names (network_id, player_uuid, name_folded, last_seen) VALUES ($1, $2, $3, 1)",
                )
                .bind(owner.network.unwrap())
                .bind(uuid::Uuid::from_u128(u128::try_from(number).unwrap()))
                .bind("n")
                .execute()
                .await?;
            }
            Ok::<_, hub_db::Error>(())
        })
        .await
        .unwrap();
    let mut settings = hub.app.settings.clone();
    backend.apply(&mut settings);
    let config = settings.database();
    hub.stop().await;

    let id = owner.network.unwrap().to_string();
    let mut killed = command(&backend, &["delete", &id, "--now"]).stdout(Stdio::null()).spawn().unwrap();
    let db = Db::connect(&config).await.unwrap();
    let names = async || {
        let count = "SELECT COUNT(*) FROM player_names WHERE network_id = $1";
        db.query(count).bind(owner.network.unwrap()).one::<(i64,)>().await.unwrap().0
    };
    while names().await > 20_000 {}
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(names().await > 0, "it was killed too late to show anything");
    db.close().await;

    let hub = Hub::start(backend).await;
    let operator = hub.operator().await;
    // The remaining data is refused until it is deleted.
    let refused = hub.with_key(&key).get("/api/manage/keys").await.status.as_u16();
    assert!(matches!(refused, 401 | 403), "{refused}");
    is_deleted(&operator, &owner).await;
    assert!(rows(&hub, &owner).await.values().all(|count| *count == 0));
    let mut left = rows(&hub, &other).await;
    // The started hub has counted the existing data.
    left.insert("network_usage", others["network_usage"]);
    assert_eq!(left, others);
}

async fn a_deletion_can_be_taken_back(backend: Backend) {
    let hub = Hub::start(backend.clone()).await;
    let (owner, operator) = (hub.network().await, hub.operator().await);
    operator.delete(&path(&owner)).await.expect(204);
    let week = 7 * 24 * 3_600_000;
    assert_eq!(operator.get(&path(&owner)).await.expect(200)["deleteAt"], NOW + week);
    hub.advance_ms(60_000);
    // Once more changes nothing.
    operator.delete(&path(&owner)).await.expect(204);
    assert_eq!(operator.get(&path(&owner)).await.expect(200)["deleteAt"], NOW + week);
    owner.get("/api/manage/keys").await.expect_error(403, "network_suspended");
    let resume = operator.request(Method::PATCH, &path(&owner)).json(&json!({"suspended": false}));
    assert_eq!(operator.send(resume).await.expect(200)["deleteAt"], serde_json::Value::Null);
    owner.get("/api/manage/keys").await.expect(200);
    hub.advance_ms(u64::try_from(2 * week).unwrap());
    owner.get("/api/manage/keys").await.expect(200);

    succeed(&backend, &["delete", &owner.network.unwrap().to_string()]);
    let at = operator.get(&path(&owner)).await.expect(200)["deleteAt"].as_i64().unwrap();
    assert!(at > 0);
    succeed(&backend, &["resume", &owner.network.unwrap().to_string()]);
    assert_eq!(operator.get(&path(&owner)).await.expect(200)["deleteAt"], serde_json::Value::Null);
}

async fn after_seven_days_it_is_gone(backend: Backend) {
    let hub = Hub::start(backend).await;
    let (owner, operator) = (hub.network().await, hub.operator().await);
    operator.delete(&path(&owner)).await.expect(204);
    hub.advance_ms(7 * 24 * 3_600_000 - 1);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(operator.get(&path(&owner)).await.expect(200)["deletedAt"].is_null());
    hub.advance_ms(1_001);
    is_deleted(&operator, &owner).await;
}

on_each! {
    nothing_but_the_name_is_left
    a_killed_deletion_is_gone_on_with
    a_deletion_can_be_taken_back
    after_seven_days_it_is_gone
}
