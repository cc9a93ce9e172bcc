//! Chat history: lines of one node are read at all, outlive nodes, and go with their player and their time.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::client::{Answer, Client};
use crate::fleet::{Fleet, TIMEOUT, shard_of, uuid, wait_until};

const DAY: i64 = 24 * 60 * 60 * 1_000;

/// Sends a request to a node, or to the next one while it does not answer.
async fn send(
    owner: &Client,
    node: usize,
    method: Method,
    path: &str,
    body: Option<Value>,
    key: Option<&str>,
) -> Answer {
    let began = Instant::now();
    for attempt in 0.. {
        match owner.send(node + attempt, &method, path, body.as_ref(), key).await {
            Some(answer) if answer.status != 503 => return answer,
            other => assert!(began.elapsed() < TIMEOUT, "{path}: {other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    unreachable!()
}

async fn get(owner: &Client, node: usize, path: &str) -> Value {
    send(owner, node, Method::GET, path, None, None).await.expect(200).clone()
}

/// Says something once, at a node.
async fn say(owner: &Client, node: usize, player: usize, message: &str) {
    let line =
        json!({"playerUuid": uuid(player), "playerName": format!("p{player}"), "message": message, "serverId": "s"});
    send(owner, node, Method::POST, "/api/plugin/chat", Some(line), Some(message)).await.expect(204);
}

/// Texts of the history, newest first, as a node lists them.
async fn texts(owner: &Client, node: usize, query: &str) -> Vec<String> {
    let page = get(owner, node, &format!("/api/manage/chat?limit=200{query}")).await;
    page["items"].as_array().unwrap().iter().map(|line| line["message"].as_str().unwrap().to_owned()).collect()
}

/// The node that serves the network.
async fn owning(fleet: &Fleet, owner: &Client) -> usize {
    let url = fleet.leases().await[&shard_of(&owner.key)].url.clone();
    (0..3).find(|node| fleet.url(*node) == url).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_is_read_at_all_nodes_and_outlives_the_one_that_kept_it() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("history");
    let mut said: Vec<String> = vec![];
    for kill in 0..3 {
        for number in 0..12 {
            let line = format!("line {number} of round {kill}");
            say(&owner, number, number % 4, &line).await;
            said.insert(0, line);
            // At once, wherever it is asked for.
            assert_eq!(texts(&owner, number + 1, "").await, said);
        }
        for node in 0..3 {
            assert_eq!(texts(&owner, node, &format!("&playerUuid={}", uuid(1))).await.len(), 3 * (kill + 1));
            assert_eq!(texts(&owner, node, &format!("&search=ROUND%20{kill}")).await.len(), 12);
        }
        // All were read, and so all are stored.
        let node = owning(&fleet, &owner).await;
        fleet.kill(node);
        assert_eq!(texts(&owner, node + 1, "").await, said, "after the death of node {node}");
        fleet.start_node(node);
        fleet.wait_until_ready().await;
    }
    // Ids rise with time, whichever node gave them out.
    let ids = fleet.numbers("SELECT chat_id FROM chat_lines ORDER BY at, chat_id").await;
    assert!(ids.is_sorted() && ids.len() == said.len(), "{ids:?}");
    assert_eq!(texts(&owner, 0, "").await, said);
}

/// Lines that nobody has read yet are written before a node stops.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_line_is_lost_when_a_network_moves() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("moving-history");
    for round in 0..2 {
        let node = owning(&fleet, &owner).await;
        let other = (node + 1) % 3;
        for number in 0..20 {
            say(&owner, other, number, &format!("line {number} of round {round}")).await;
        }
        fleet.stop(node);
        assert_eq!(get(&owner, other, "/api/manage/chat").await["total"], 20 * (round + 1));
        fleet.start_node(node);
        fleet.wait_until_ready().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_go_with_their_player_and_with_their_time_at_all_nodes() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("erased-history");
    for (node, (player, line)) in [(1, "of one"), (2, "of another"), (1, "of one again")].into_iter().enumerate() {
        say(&owner, node, player, line).await;
    }
    let report = json!({"reporterUuid": uuid(2), "playerUuid": uuid(1), "reason": "Insults"});
    let made = send(&owner, 2, Method::POST, "/api/plugin/reports", Some(report), None).await;
    assert_eq!(made.expect(201)["chat"].as_array().unwrap().len(), 2);
    // One that is stored when the erasure comes, and one that may not be.
    say(&owner, 0, 1, "at the last moment").await;
    send(&owner, 1, Method::DELETE, &format!("/api/manage/players/{}", uuid(1)), None, None).await.expect(204);
    for node in 0..3 {
        assert_eq!(texts(&owner, node, "").await, ["of another"], "node {node}");
        assert_eq!(get(&owner, node, "/api/manage/reports").await["total"], 0);
    }
    wait_until(async || fleet.numbers("SELECT COUNT(*) FROM chat_lines").await == [1]).await;

    // Three days pass for what was said.
    say(&owner, 1, 3, "today").await;
    assert_eq!(texts(&owner, 2, "").await, ["today", "of another"]);
    let older = "UPDATE chat_lines SET chat_id = chat_id - {0}000, at = at - {0} WHERE line LIKE '%of another%'";
    fleet.sql(&older.replace("{0}", &(3 * DAY).to_string())).await;
    for (node, days, expected) in [(0, 4, 2), (1, 2, 1), (2, 0, 0)] {
        let kept = json!({"chatHistoryDays": days});
        send(&owner, node, Method::PATCH, "/api/manage/network", Some(kept), None).await.expect(200);
        for other in 0..3 {
            // The change reaches other nodes within a second.
            wait_until(async || texts(&owner, other, "").await.len() == expected).await;
        }
    }
    say(&owner, 0, 3, "kept nowhere").await;
    for node in 0..3 {
        assert!(texts(&owner, node, "").await.is_empty());
    }
    assert_eq!(fleet.numbers("SELECT COUNT(*) FROM chat_lines WHERE line LIKE '%nowhere%'").await, [0]);
}
