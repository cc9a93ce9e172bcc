//! An older copy takes the database's place: what it lacks was acknowledged, told, and numbered.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;
use sqlx::{Connection as _, PgConnection};

use crate::bus_losses::{chat, read};
use crate::client::Client;
use crate::fleet::{Fleet, uuid, wait_until};

async fn put(client: &Client, data: &str, version: Option<i64>) -> (u16, i64) {
    let path = format!("/api/plugin/players/{}/data/global/inventory", uuid(1));
    let mut body = json!({"data": json!(data).to_string()});
    if let Some(version) = version {
        body["version"] = json!(version);
    }
    let answer = client.send_retrying(Method::PUT, &path, Some(body), None).await;
    (answer.status, answer.body["version"].as_i64().unwrap_or(0))
}

async fn allow(client: &Client, node: &str) {
    let group = json!({"groupId": "default", "displayName": "d", "priority": 1,
                       "permissions": [{"node": node, "value": true}]});
    client.put("/api/plugin/permissions/groups/default", group).await.expect(204);
}

/// Status and `ETag` of a player's permissions.
async fn permissions(client: &Client, known: Option<&str>) -> (u16, String) {
    let path = format!("/api/plugin/permissions/users/{}/effective", uuid(1));
    let mut request = client.request(1, &Method::GET, &path).unwrap();
    if let Some(known) = known {
        request = request.header("If-None-Match", known);
    }
    let answer = request.send().await.unwrap();
    (answer.status().as_u16(), answer.headers()["etag"].to_str().unwrap().to_owned())
}

/// Waits until each node remembers a position that the copy lacks. Of two readings, the answer to the first has arrived.
async fn count_on(fleet: &Fleet) {
    let positions = async || {
        let mut connection = PgConnection::connect(fleet.database()).await.unwrap();
        let query = "SELECT position FROM database_positions ORDER BY node";
        sqlx::query_scalar::<_, i64>(query).fetch_all(&mut connection).await.unwrap()
    };
    let copied = positions().await;
    wait_until(async || positions().await.iter().zip(&copied).all(|(now, copied)| *now >= copied + 2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_database_repeats_no_number_and_is_told_to_all_streams() {
    let fleet = Fleet::start_with_database(vec![]).await;
    let owner = fleet.network("older");
    for server in 0..3 {
        owner.register(&format!("s-{server}"), json!({})).await;
    }
    let readers: Vec<_> = (0..3).map(|node| read(owner.clone(), node)).collect();
    for (earlier, is_standby) in [true, false].into_iter().enumerate() {
        // A stream that has seen no event is a new one to its client.
        wait_until(async || {
            chat(&owner, earlier..earlier + 1).await;
            readers.iter().all(|(seen, _)| seen.lock().lines.contains(&earlier))
        })
        .await;
        put(&owner, "before", None).await;
        allow(&owner, "before").await;
        let copy = fleet.postgres().copy();
        fleet.wait_until_ready().await;
        count_on(&fleet).await;
        let (_, lost_version) = put(&owner, "lost", None).await;
        allow(&owner, "lost").await;
        let (_, lost_tag) = permissions(&owner, None).await;
        fleet.postgres().go_back(&copy, is_standby);
        std::fs::remove_dir_all(&copy).unwrap();
        fleet.wait_until_ready().await;
        wait_until(async || readers.iter().all(|(seen, _)| seen.lock().resyncs > earlier)).await;
        let (_, version) = put(&owner, "after", None).await;
        assert!(version > lost_version, "standby {is_standby}: {version} {lost_version}");
        assert_eq!(put(&owner, "by one who read what is lost", Some(lost_version)).await.0, 409);
        allow(&owner, "after").await;
        let (status, tag) = permissions(&owner, Some(&lost_tag)).await;
        assert!(status == 200 && tag != lost_tag, "standby {is_standby}: {status} {tag}");
    }
    join_all(readers.into_iter().map(async |(_, reading)| reading.abort())).await;
}
