//! The database restarts under load; a node silently loses its connection to the database or to the bus.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::events::start_readers;
use crate::fleet::{Fleet, uuid, wait_until};
use crate::isolation::Link;

/// Clients that pay until they are stopped, and record each balance they got.
struct Payers {
    account: String,
    all: JoinSet<Vec<u64>>,
    paid: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
}

impl Payers {
    fn start(owner: &Client, team: &str, count: usize) -> Self {
        let account = format!("/api/plugin/economy/team/{team}/currencies");
        let (paid, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let mut all = JoinSet::new();
        for payer in 0..count {
            let (owner, paid, stop) = (owner.clone(), Arc::clone(&paid), Arc::clone(&stop));
            let (team, path) = (team.to_owned(), format!("{account}/modify"));
            all.spawn(async move {
                let mut balances = vec![];
                while !stop.load(Ordering::Relaxed) {
                    let body = json!({"currency": "coins", "amount": 1});
                    let key = format!("{team}-{payer}-{}", balances.len());
                    let answer = owner.send_retrying(Method::POST, &path, Some(body), Some(&key)).await;
                    balances.push(answer.expect(200)["balance"].as_f64().unwrap() as u64);
                    paid.fetch_add(1, Ordering::Relaxed);
                }
                balances
            });
        }
        Self { account, all, paid, stop }
    }

    /// Waits for this many more payments.
    async fn wait_for(&self, more: usize) {
        let goal = self.paid.load(Ordering::Relaxed) + more;
        wait_until(async || self.paid.load(Ordering::Relaxed) >= goal).await;
    }

    /// Stops, and checks that each payment returned another balance and the account has them all.
    async fn finish(self, owner: &Client) {
        self.stop.store(true, Ordering::Relaxed);
        let mut balances = self.all.join_all().await.concat();
        balances.sort_unstable();
        let paid = balances.len() as u64;
        assert_eq!(balances, (1..=paid).collect::<Vec<_>>());
        assert_eq!(owner.get(&self.account).await.expect(200), &json!([{"currencyName": "coins", "balance": paid}]));
    }
}

/// Waits until a node reports this fault.
async fn wait_until_lacks(fleet: &Fleet, node: usize, what: &str) {
    let named = |lacks: &Value| lacks.as_array().is_some_and(|lacks| lacks.contains(&json!(what)));
    wait_until(async || fleet.readiness(node).await.as_ref().is_some_and(named)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_the_database_loses_nothing_that_was_acknowledged() {
    let fleet = Fleet::start_isolated().await;
    let owner = fleet.network("restart");
    let payers = Payers::start(&owner, "red", 8);
    for _ in 0..2 {
        payers.wait_for(100).await;
        fleet.postgres().crash();
        for node in 0..3 {
            wait_until_lacks(&fleet, node, "database").await;
        }
        fleet.postgres().start_server();
        fleet.wait_until_ready().await;
    }
    payers.wait_for(100).await;
    payers.finish(&owner).await;
}

/// A standby that takes over may lack the last acknowledged writes. Here rows are deleted instead, and the server
/// restarts before any lease expires.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn online_players_are_saved_again_after_a_failover() {
    let fleet = Fleet::start_isolated().await;
    fleet.wait_until_balanced().await;
    let owner = fleet.network("failover");
    owner.register("lobby-1", json!({})).await;
    let join = json!({"serverId": "lobby-1", "playerUuid": uuid(1), "playerName": "p"});
    owner.post("/api/plugin/servers/players", join).await.expect(204);
    let saved = "SELECT (SELECT count(*) FROM servers WHERE present) + (SELECT count(*) FROM server_players)";
    wait_until(async || fleet.numbers(saved).await == [2]).await;
    for _ in 0..5 {
        let before = fleet.leases().await;
        fleet.sql("DELETE FROM server_players; UPDATE servers SET present = FALSE").await;
        fleet.postgres().crash();
        fleet.postgres().start_server();
        wait_until(async || fleet.numbers(saved).await == [2]).await;
        if fleet.leases().await == before {
            return;
        }
        // The machine is busy, and the restart took longer than a lease lasts: the next owner saved them.
        fleet.wait_until_balanced().await;
    }
    panic!("the server does not start in time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_the_database_reports_it_and_the_others_continue() {
    let fleet = Fleet::start_isolated().await;
    // The node owns some of them.
    let owners: Vec<_> = (0..6).map(|number| fleet.network(&format!("cut-{number}"))).collect();
    let everywhere: Vec<_> = owners.iter().map(|owner| Payers::start(owner, "red", 1)).collect();
    let elsewhere: Vec<_> = owners.iter().map(|owner| Payers::start(&owner.without(0), "blue", 1)).collect();
    for payers in everywhere.iter().chain(&elsewhere) {
        payers.wait_for(10).await;
    }
    fleet.namespace().disconnect(Link::Database);
    wait_until_lacks(&fleet, 0, "database").await;
    for payers in &elsewhere {
        payers.wait_for(20).await;
    }
    fleet.namespace().reconnect(Link::Database);
    fleet.wait_until_ready().await;
    for (red, (blue, owner)) in everywhere.into_iter().zip(elsewhere.into_iter().zip(&owners)) {
        red.wait_for(10).await;
        red.finish(owner).await;
        blue.finish(owner).await;
    }
}

/// Includes networks whose keys are read over a connection that worked a moment before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_loses_the_database_answers_in_time() {
    let fleet = Fleet::start_isolated().await;
    let owners: Vec<_> = (0..6).map(|number| fleet.network(&format!("late-{number}"))).collect();
    let ask = |owner: &Client| {
        let request = owner.request(0, &Method::GET, "/api/plugin/economy/team/red/currencies").unwrap();
        request.timeout(Duration::from_secs(20)).send()
    };
    assert_eq!(ask(&owners[0]).await.unwrap().status(), 200);
    fleet.namespace().disconnect(Link::Database);
    let asked = owners[1..].iter().map(ask).collect::<JoinSet<_>>().join_all().await;
    assert!(asked.iter().all(|answer| answer.as_ref().is_ok_and(|answer| answer.status() == 503)), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_without_the_bus_reports_it_and_its_streams_catch_up() {
    let fleet = Fleet::start_isolated().await;
    let owner = fleet.network("bus");
    let stop = Arc::new(AtomicBool::new(false));
    // They read at one node after the other, like connectors.
    let readers = start_readers((0..3).map(|reader| (owner.clone(), format!("s-{reader}"))), &stop).await;
    let sent = Arc::new(AtomicUsize::new(0));
    let writer = tokio::spawn(chat(owner.clone(), Arc::clone(&sent), Arc::clone(&stop)));
    let wait_for_lines = async |more: usize| {
        let goal = sent.load(Ordering::Relaxed) + more;
        wait_until(async || sent.load(Ordering::Relaxed) >= goal).await;
    };
    wait_for_lines(20).await;
    // Requests that publish nothing succeed, even if the node is the owner.
    let owners: Vec<_> = (0..6).map(|number| fleet.network(&format!("cut-{number}"))).collect();
    let paying: Vec<_> = owners.iter().map(|owner| Payers::start(owner, "red", 1)).collect();
    fleet.namespace().disconnect(Link::Bus);
    wait_until_lacks(&fleet, 0, "bus").await;
    assert_eq!(fleet.readiness(0).await, Some(json!(["bus"])));
    for node in 1..3 {
        assert_eq!(fleet.readiness(node).await, Some(json!([])));
    }
    for payers in &paying {
        payers.wait_for(10).await;
    }
    // It can publish nothing, so its networks move and their events continue.
    for owner in &owners {
        wait_until(async || {
            let line = json!({"playerUuid": uuid(1), "playerName": "p", "message": "hello", "serverId": "s-0",
                "serverType": "lobby"});
            let answer = owner.send_once(&Method::POST, "/api/plugin/chat", Some(&line)).await;
            answer.is_some_and(|answer| answer.status == 204)
        })
        .await;
    }
    fleet.namespace().reconnect(Link::Bus);
    fleet.wait_until_ready().await;
    wait_for_lines(20).await;
    for (payers, owner) in paying.into_iter().zip(&owners) {
        payers.finish(owner).await;
    }
    stop.store(true, Ordering::Relaxed);
    let acknowledged = writer.await.unwrap();
    for reader in readers {
        let seen = reader.await.unwrap();
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len(), "none twice: {seen:?}");
        // A line that was not acknowledged may still have been published.
        let seen: Vec<_> = seen.into_iter().filter(|line| acknowledged.contains(line)).collect();
        assert_eq!(seen, acknowledged, "all acknowledged lines, in order");
    }
}

/// Sends one chat line after the other, each once; returns the acknowledged ones.
async fn chat(owner: Client, sent: Arc<AtomicUsize>, stop: Arc<AtomicBool>) -> Vec<usize> {
    let mut acknowledged = vec![];
    for line in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let body = json!({"playerUuid": uuid(1), "playerName": "p", "message": line.to_string(),
            "serverId": "s-0", "serverType": "lobby"});
        let answer = owner.send_once(&Method::POST, "/api/plugin/chat", Some(&body)).await;
        if answer.is_some_and(|answer| answer.status == 204) {
            acknowledged.push(line);
            sent.fetch_add(1, Ordering::Relaxed);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    acknowledged
}
