//! The database restarts under load; a node is cut off from the database, or from the bus, and nobody is told.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::apart::Link;
use crate::events::read;
use crate::fleet::{Client, Fleet, until, uuid};

/// Payers who pay and pay, and write down what they were told.
struct Payers {
    account: String,
    all: JoinSet<Vec<u64>>,
    paid: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Payers {
    fn start(owner: &Client, team: &str, count: usize) -> Self {
        let account = format!("/api/plugin/economy/team/{team}/currencies");
        let (paid, over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let mut all = JoinSet::new();
        for payer in 0..count {
            let (owner, paid, over) = (owner.clone(), Arc::clone(&paid), Arc::clone(&over));
            let (team, path) = (team.to_owned(), format!("{account}/modify"));
            all.spawn(async move {
                let mut told = vec![];
                while !over.load(Ordering::Relaxed) {
                    let body = json!({"currency": "coins", "amount": 1});
                    let key = format!("{team}-{payer}-{}", told.len());
                    let answer = owner.surely(Method::POST, &path, Some(body), Some(&key)).await;
                    told.push(answer.expect(200)["balance"].as_f64().unwrap() as u64);
                    paid.fetch_add(1, Ordering::Relaxed);
                }
                told
            });
        }
        Self { account, all, paid, over }
    }

    /// Waits until so many payments more are made.
    async fn make(&self, more: usize) {
        let goal = self.paid.load(Ordering::Relaxed) + more;
        until(async || self.paid.load(Ordering::Relaxed) >= goal).await;
    }

    /// Each payment was told another balance, and the account has them all.
    async fn settle(self, owner: &Client) {
        self.over.store(true, Ordering::Relaxed);
        let mut told = self.all.join_all().await.concat();
        told.sort_unstable();
        let paid = told.len() as u64;
        assert_eq!(told, (1..=paid).collect::<Vec<_>>());
        assert_eq!(owner.get(&self.account).await.expect(200), &json!([{"currencyName": "coins", "balance": paid}]));
    }
}

/// Waits until a node says that it lacks this.
async fn until_lacks(fleet: &Fleet, node: usize, what: &str) {
    let named = |lacks: &Value| lacks.as_array().is_some_and(|lacks| lacks.contains(&json!(what)));
    until(async || fleet.readiness(node).await.as_ref().is_some_and(named)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_the_database_loses_nothing_that_was_acknowledged() {
    let fleet = Fleet::start_apart().await;
    let owner = fleet.network("restart");
    let payers = Payers::start(&owner, "red", 8);
    for _ in 0..2 {
        payers.make(100).await;
        fleet.postgres().crash();
        for node in 0..3 {
            until_lacks(&fleet, node, "database").await;
        }
        fleet.postgres().again();
        fleet.settle().await;
    }
    payers.make(100).await;
    payers.settle(&owner).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_cut_off_from_the_database_says_so_and_the_others_go_on() {
    let fleet = Fleet::start_apart().await;
    // Some have the node for their home.
    let owners: Vec<_> = (0..6).map(|number| fleet.network(&format!("cut-{number}"))).collect();
    let everywhere: Vec<_> = owners.iter().map(|owner| Payers::start(owner, "red", 1)).collect();
    let elsewhere: Vec<_> = owners.iter().map(|owner| Payers::start(&owner.without(0), "blue", 1)).collect();
    for payers in everywhere.iter().chain(&elsewhere) {
        payers.make(10).await;
    }
    fleet.island().cut(Link::Database);
    until_lacks(&fleet, 0, "database").await;
    for payers in &elsewhere {
        payers.make(20).await;
    }
    fleet.island().heal(Link::Database);
    fleet.settle().await;
    for (red, (blue, owner)) in everywhere.into_iter().zip(elsewhere.into_iter().zip(&owners)) {
        red.make(10).await;
        red.settle(owner).await;
        blue.settle(owner).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_is_cut_off_from_the_bus_says_so_and_its_streams_catch_up() {
    let fleet = Fleet::start_apart().await;
    let owner = fleet.network("bus");
    let over = Arc::new(AtomicBool::new(false));
    // One stays with the node, the others do as connectors do.
    let readers: Vec<_> =
        (0..3).map(|reader| tokio::spawn(read(owner.clone(), format!("s-{reader}"), Arc::clone(&over)))).collect();
    let told = Arc::new(AtomicUsize::new(0));
    let writer = tokio::spawn(say(owner.clone(), Arc::clone(&told), Arc::clone(&over)));
    let heard = async |more: usize| {
        let goal = told.load(Ordering::Relaxed) + more;
        until(async || told.load(Ordering::Relaxed) >= goal).await;
    };
    heard(20).await;
    // What needs no event goes on, also where the node is home.
    let owners: Vec<_> = (0..6).map(|number| fleet.network(&format!("cut-{number}"))).collect();
    let paying: Vec<_> = owners.iter().map(|owner| Payers::start(owner, "red", 1)).collect();
    fleet.island().cut(Link::Bus);
    until_lacks(&fleet, 0, "bus").await;
    assert_eq!(fleet.readiness(0).await, Some(json!(["bus"])));
    for node in 1..3 {
        assert_eq!(fleet.readiness(node).await, Some(json!([])));
    }
    for payers in &paying {
        payers.make(10).await;
    }
    // Nor does it stay home for long, since it can publish nothing: where it was, events go on as well.
    for owner in &owners {
        until(async || {
            let line = json!({"playerUuid": uuid(1), "playerName": "p", "message": "hello", "serverId": "s-0",
                "serverType": "lobby"});
            let said = owner.once(&Method::POST, "/api/plugin/chat", Some(&line)).await;
            said.is_some_and(|said| said.status == 204)
        })
        .await;
    }
    fleet.island().heal(Link::Bus);
    fleet.settle().await;
    heard(20).await;
    for (payers, owner) in paying.into_iter().zip(&owners) {
        payers.settle(owner).await;
    }
    over.store(true, Ordering::Relaxed);
    let told = writer.await.unwrap();
    for reader in readers {
        let seen = reader.await.unwrap();
        assert_eq!(seen.iter().collect::<HashSet<_>>().len(), seen.len(), "none twice: {seen:?}");
        // Of a line that was not taken nobody knows whether it was on its way already; it may come late.
        let taken: Vec<_> = seen.into_iter().filter(|line| told.contains(line)).collect();
        assert_eq!(taken, told, "all that were taken, in order");
    }
}

/// Says one chat line after the other, each once; which were taken.
async fn say(owner: Client, told: Arc<AtomicUsize>, over: Arc<AtomicBool>) -> Vec<usize> {
    let mut taken = vec![];
    for line in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        let body = json!({"playerUuid": uuid(1), "playerName": "p", "message": line.to_string(),
            "serverId": "s-0", "serverType": "lobby"});
        let said = owner.once(&Method::POST, "/api/plugin/chat", Some(&body)).await;
        if said.is_some_and(|said| said.status == 204) {
            taken.push(line);
            told.fetch_add(1, Ordering::Relaxed);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    taken
}
