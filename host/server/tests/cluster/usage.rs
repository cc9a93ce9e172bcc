//! Usage of networks is counted once, whichever node serves, forwards or dies.

use std::time::Duration;

use hub_testing::ports::free_port;
use reqwest::Method;
use serde_json::json;

use crate::client::Client;
use crate::fleet::{Fleet, uuid, wait_until};
use crate::stream::Events;

/// The value of a metric without labels.
async fn metric(address: &str, name: &str) -> Option<f64> {
    let answer = hub::http_client::client().unwrap().get(format!("http://{address}/metrics")).send().await.ok()?;
    let text = answer.text().await.ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_list_a_nodes_shards() {
    let mut fleet = Fleet::start().await;
    fleet.stop(2);
    let address = format!("127.0.0.1:{}", free_port());
    fleet.start_node_with(2, &[("HUB_METRICS", address.clone())]);
    fleet.wait_until_balanced().await;
    let url = fleet.url(2);
    wait_until(async || {
        let owned = fleet.shards_at(&url).await;
        owned > 0 && metric(&address, "hub_shards_owned").await == Some(owned as f64)
    })
    .await;
    assert!(metric(&address, "hub_shards_gained_total").await.unwrap() >= 80.0);
    let lost = metric(&address, "hub_shards_lost_total").await.unwrap();
    // The node before it dies, so that this one gets more; it returns them when the other comes back.
    fleet.kill(1);
    wait_until(async || fleet.shards_at(&url).await >= 125).await;
    fleet.start_node(1);
    fleet.wait_until_balanced().await;
    wait_until(async || metric(&address, "hub_shards_lost_total").await.is_some_and(|now| now >= lost + 40.0)).await;
}

/// A column's sum over all hours of a network.
async fn sum(fleet: &Fleet, network: &str, column: &str) -> i64 {
    let query = format!(
        "SELECT CAST(COALESCE(SUM(u.{column}), 0) AS BIGINT) FROM usage_hours u
         JOIN networks n ON n.network_id = u.network_id WHERE n.name = '{network}'"
    );
    fleet.numbers(&query).await[0]
}

async fn send(client: &Client, node: usize) {
    let path = "/api/plugin/servers";
    client.send(node, &Method::GET, path, None, None).await.unwrap().expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_sum_over_three_nodes_is_exact() {
    let mut fleet = Fleet::start().await;
    fleet.wait_until_balanced().await;
    let owners = [fleet.network("billed-0"), fleet.network("billed-1"), fleet.network("billed-2")];
    for owner in &owners {
        // Two of three are forwarded.
        for at in 0..60 {
            send(owner, at % 3).await;
        }
    }
    for network in 0..3 {
        let name = format!("billed-{network}");
        wait_until(async || sum(&fleet, &name, "requests").await >= 60).await;
        tokio::time::sleep(Duration::from_millis(1_500)).await;
        assert_eq!(sum(&fleet, &name, "requests").await, 60);
    }

    let owner = &owners[0];
    let mut streams = vec![];
    for node in 0..3 {
        streams.push(Events::open(owner.stream(node, &format!("s-{node}"), None).unwrap()).await);
    }
    for node in 0..3 {
        let line = json!({"playerUuid": uuid(1), "playerName": "p1", "message": "hello", "serverId": "s-0"});
        let said = owner.send(node, &Method::POST, "/api/plugin/chat", Some(&line), None).await.unwrap();
        said.expect(204);
    }
    for events in &mut streams {
        for _ in 0..3 {
            events.next_named("CHAT").await;
        }
    }
    wait_until(async || sum(&fleet, "billed-0", "events").await >= 9).await;
    wait_until(async || sum(&fleet, "billed-0", "peak_streams").await >= 3).await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_eq!(sum(&fleet, "billed-0", "events").await, 9);
    assert_eq!(sum(&fleet, "billed-0", "peak_streams").await, 3);
    assert_eq!(sum(&fleet, "billed-0", "requests").await, 66);

    // A stopping node stores its counts; a killed one loses a second at most.
    drop(streams);
    for _ in 0..20 {
        send(owner, 2).await;
    }
    fleet.stop(2);
    assert_eq!(sum(&fleet, "billed-0", "requests").await, 86);
    for _ in 0..20 {
        send(owner, 1).await;
    }
    wait_until(async || sum(&fleet, "billed-0", "requests").await >= 106).await;
    for _ in 0..20 {
        send(owner, 1).await;
    }
    fleet.kill(1);
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    let found = sum(&fleet, "billed-0", "requests").await;
    assert!((106..=126).contains(&found), "{found}");
}
