//! Nodes keep their shards despite events at other nodes, in one network, and of the database's clock.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::{Answer, Client};
use crate::fleet::{Fleet, ShardLease, wait_until};

const PAY: &str = "/api/plugin/economy/team/red/currencies/modify";

/// Duration of a lease.
const LEASE: Duration = Duration::from_secs(4);

async fn networks(fleet: &Fleet, least: usize) -> Vec<Client> {
    fleet.wait_until_balanced().await;
    fleet.networks_everywhere("leases", least).await
}

fn payment() -> Value {
    json!({"currency": "coins", "amount": 1})
}

/// Every node still has each shard that it had, by the same lease.
fn assert_kept(before: &HashMap<i32, ShardLease>, now: &HashMap<i32, ShardLease>) {
    let lost: Vec<_> = before.iter().filter(|(shard, lease)| now.get(shard) != Some(lease)).collect();
    assert!(lost.is_empty(), "{} of {} leases were lost: {lost:?}", lost.len(), before.len());
}

/// The node stops within the transaction that saves its online players, which holds its lease.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_stops_in_a_transaction_costs_only_its_own_shards() {
    let fleet = Fleet::start().await;
    let owners = networks(&fleet, 12).await;
    for owner in &owners {
        owner.register("lobby-1", json!({})).await;
    }
    fleet.wait_until_balanced().await;
    let stopped = fleet.url(0);
    let lock = fleet.lock_rows(format!(
        "SELECT s.server_id FROM servers s
         JOIN shard_leases h ON h.shard = get_byte(uuid_send(s.network_id), 15)
         JOIN hub_nodes n ON n.node = h.node
         WHERE n.url = '{stopped}' FOR UPDATE OF s"
    ));
    let mut lock = lock.await;
    for owner in &owners {
        let beat = json!({"serverId": "lobby-1", "playerCount": 0});
        owner.send_once(&Method::POST, "/api/plugin/servers/heartbeat", Some(&beat)).await.unwrap();
    }
    lock.wait_for_blocked(1).await;
    let healthy: HashMap<_, _> = fleet.leases().await.into_iter().filter(|(_, lease)| lease.url != stopped).collect();
    fleet.pause(0);
    let paused_at = Instant::now();
    lock.release().await;
    let mut taken_after = None;
    while paused_at.elapsed() < Duration::from_secs(10) {
        let leases = fleet.leases().await;
        assert_kept(&healthy, &leases);
        if leases.len() == 256 && leases.values().all(|lease| lease.url != stopped) {
            taken_after.get_or_insert(paused_at.elapsed());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    println!("all shards were taken after {:?}", taken_after.expect("all shards were taken"));
    for owner in &owners {
        owner.send(1, &Method::GET, "/api/manage/servers", None, None).await.unwrap().expect(200);
    }
    fleet.resume(0);
    fleet.wait_until_ready().await;
}

/// More networks wait for locked rows than a node has connections.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn networks_that_take_all_connections_cost_no_shard() {
    let fleet = Fleet::start_with_connections(3).await;
    let owners = networks(&fleet, 24).await;
    for owner in &owners {
        owner.post(PAY, payment()).await.expect(200);
    }
    fleet.wait_until_balanced().await;
    let before = fleet.leases().await;
    let mut lock = fleet.lock_rows("SELECT balance FROM balances FOR UPDATE".to_owned()).await;
    let mut paying = JoinSet::new();
    for owner in &owners {
        let owner = owner.clone();
        paying.spawn(async move { owner.post(PAY, payment()).await });
    }
    lock.wait_for_blocked(8).await;
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(14) {
        assert_kept(&before, &fleet.leases().await);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    lock.release().await;
    for answer in paying.join_all().await {
        answer.expect(200);
    }
}

/// 40 callers of one network wait for a locked row. The others are served normally.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_balance_costs_no_shard_and_is_not_noticed_by_others() {
    let fleet = Fleet::start().await;
    let owners = networks(&fleet, 9).await;
    for owner in &owners {
        owner.post(PAY, payment()).await.expect(200);
    }
    let locked = fleet.network("locked");
    let path = "/api/plugin/economy/team/locked/currencies/modify";
    locked.post(path, payment()).await.expect(200);
    fleet.wait_until_balanced().await;
    let before = fleet.leases().await;
    let lock = fleet.lock_rows("SELECT balance FROM balances WHERE owner_key = 'locked' FOR UPDATE".to_owned()).await;
    let mut waiting = JoinSet::new();
    for _ in 0..40 {
        let locked = locked.clone();
        waiting.spawn(async move { locked.post(path, payment()).await });
    }
    let (began, mut slowest) = (Instant::now(), Duration::ZERO);
    while began.elapsed() < Duration::from_secs(14) {
        for owner in &owners {
            let asked_at = Instant::now();
            let answer = owner.send_once(&Method::POST, PAY, Some(&payment())).await;
            answer.expect("an answer").expect(200);
            slowest = slowest.max(asked_at.elapsed());
        }
        assert_kept(&before, &fleet.leases().await);
    }
    println!("the slowest payment of another network took {slowest:?}");
    // Far less than the others wait.
    assert!(slowest < Duration::from_secs(8), "{slowest:?}");
    lock.release().await;
    for answer in waiting.join_all().await {
        answer.expect(200);
    }
}

/// The row of a lease is locked by hand. The networks of that shard wait, and no others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_is_locked_by_hand_costs_one_shard_and_is_named() {
    let fleet = Fleet::start().await;
    let owners = networks(&fleet, 9).await;
    let shards = "SELECT get_byte(uuid_send(network_id), 15)::BIGINT FROM networks
                  WHERE name LIKE 'leases-%' ORDER BY name";
    let shards = fleet.numbers(shards).await;
    let locked = shards[0];
    let before = fleet.leases().await;
    let lock = fleet.lock_rows(format!("SELECT shard FROM shard_leases WHERE shard = {locked} FOR UPDATE")).await;
    let mut since = [None, None, None];
    let began = Instant::now();
    while began.elapsed() < 3 * LEASE {
        for (node, since) in since.iter_mut().enumerate() {
            let Some(health) = fleet.health(node).await else { continue };
            assert_eq!(health["lacks"], json!([]), "{health}");
            let fault = &health["faults"][0];
            if fault.is_null() {
                assert!(since.is_none(), "{health}");
                continue;
            }
            assert_eq!(*since.get_or_insert_with(|| fault["since"].clone()), fault["since"]);
            assert_eq!(fault["name"], "homes");
            assert_eq!(fault["message"], "1 of 256 shards has no known owner.");
        }
        for (owner, _) in owners.iter().zip(&shards).filter(|(_, shard)| **shard != locked) {
            owner.send_once(&Method::POST, PAY, Some(&payment())).await.unwrap().expect(200);
        }
    }
    assert!(since.iter().all(Option::is_some), "{since:?}");
    for (node, since) in since.iter().enumerate() {
        let refused = owners[0].send(node, &Method::POST, PAY, Some(&payment()), None).await.unwrap();
        assert_eq!(refused.expect(503)["code"], "no_home");
        // The key of the request needs no owner.
        let health = owners[0].send(node, &Method::GET, "/readyz", None, None).await.unwrap();
        assert_eq!(health.expect(200)["faults"][0]["since"], *since.as_ref().unwrap());
    }
    let others: HashMap<_, _> = before.into_iter().filter(|(shard, _)| i64::from(*shard) != locked).collect();
    assert_kept(&others, &fleet.leases().await);
    lock.release().await;
    fleet.wait_until_ready().await;
    assert_eq!(owners[0].post(PAY, payment()).await.expect(200)["balance"], 1);
}

/// A standby whose clock is behind took over: all leases seem to last for 40 s more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_clock_that_goes_back_keeps_no_shard_from_being_taken() {
    let mut fleet = Fleet::start().await;
    fleet.wait_until_balanced().await;
    let dead = fleet.url(0);
    let healthy: HashMap<_, _> = fleet.leases().await.into_iter().filter(|(_, lease)| lease.url != dead).collect();
    fleet.kill(0);
    fleet.sql("UPDATE shard_leases SET expires_at = expires_at + 40000").await;
    let began = Instant::now();
    wait_until(async || {
        let leases = fleet.leases().await;
        assert_kept(&healthy, &leases);
        leases.values().all(|lease| lease.url != dead)
    })
    .await;
    println!("all shards were taken after {:?}", began.elapsed());
    assert!(began.elapsed() < Duration::from_secs(35), "they were taken when their leases ended");
}

/// A node is paused while payments wait for a row, and continues when others have its shards. It still acknowledges
/// payments that it booked.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_that_is_booked_while_its_network_moves_is_answered() {
    let fleet = Fleet::start().await;
    let owners = networks(&fleet, 10).await;
    for owner in &owners {
        owner.post(PAY, payment()).await.expect(200);
    }
    fleet.wait_until_balanced().await;
    let mut lock = fleet.lock_rows("SELECT balance FROM balances FOR UPDATE".to_owned()).await;
    let mut paying = JoinSet::new();
    for (number, owner) in owners.iter().enumerate() {
        for _ in 0..4 {
            let owner = owner.clone();
            let pay = async move { (number, owner.send(0, &Method::POST, PAY, Some(&payment()), None).await) };
            paying.spawn(pay);
        }
    }
    // At least one of each network: it has its share of the connections.
    lock.wait_for_blocked(10).await;
    fleet.pause(0);
    // A statement waits for a lock for 5 s.
    tokio::time::sleep(LEASE).await;
    lock.release().await;
    fleet.resume(0);
    let mut booked = vec![1.0; owners.len()];
    for (number, answer) in paying.join_all().await {
        let Answer { status, body, .. } = answer.expect("an answer");
        assert_eq!(status, 200, "{body}");
        booked[number] += 1.0;
    }
    for (owner, booked) in owners.iter().zip(booked) {
        let balances = owner.get("/api/plugin/economy/team/red/currencies").await;
        assert_eq!(balances.expect(200)[0]["balance"].as_f64(), Some(booked));
    }
}
