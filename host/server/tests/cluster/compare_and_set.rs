//! Compare-and-set holds over all nodes.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::task::JoinSet;

use crate::fleet::{Fleet, uuid};

const WRITERS: usize = 8;
const WRITES: usize = 30;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_compare_and_set_is_lost_while_nodes_are_killed() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("data");
    let path = format!("/api/plugin/players/{}/data/global/counter", uuid(1));
    owner.put(&path, json!({"data": "0"})).await.expect(200);
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (owner, path) = (owner.clone(), path.clone());
        writers.spawn(async move {
            let mut acknowledged = vec![];
            let mut attempt = 0;
            while acknowledged.len() < WRITES {
                let read = owner.get(&path).await;
                let read = read.expect(200);
                let count: usize = read["data"].as_str().unwrap().parse().unwrap();
                let body = json!({"data": (count + 1).to_string(), "version": read["version"]});
                let key = format!("{writer}-{attempt}");
                attempt += 1;
                let answer = owner.send_retrying(Method::PUT, &path, Some(body), Some(&key)).await;
                match answer.status {
                    200 => acknowledged.push(answer.body["version"].as_i64().unwrap()),
                    status => assert_eq!(status, 409, "{}", answer.body),
                }
            }
            acknowledged
        });
    }
    for node in [0, 2] {
        tokio::time::sleep(Duration::from_millis(500)).await;
        fleet.kill(node);
        tokio::time::sleep(Duration::from_millis(300)).await;
        fleet.start_node(node);
    }
    let mut acknowledged = writers.join_all().await.concat();
    acknowledged.sort_unstable();
    assert!(acknowledged.windows(2).all(|pair| pair[0] < pair[1]), "each created its own version: {acknowledged:?}");
    let last = owner.get(&path).await;
    let version = last.expect(200)["version"].as_i64().unwrap();
    assert_eq!(last.body["data"], (version - 1).to_string(), "each version was built on the one before");
    // A write whose node died before it answered conflicts with itself when it is retried.
    let unacknowledged = version - 1 - acknowledged.len() as i64;
    assert!((0..=2 * WRITERS as i64).contains(&unacknowledged), "{unacknowledged} writes were not acknowledged");
}
