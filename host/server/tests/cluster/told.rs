//! Changes are announced once at every node, though nodes are killed and callers hang up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::events::start_readers_of;
use crate::fleet::{Fleet, wait_until};

const KILLS: usize = 6;
const CALLERS: usize = 6;

/// Bans until it is stopped; every third caller hangs up early.
async fn ban(client: Client, caller: usize, sent: Arc<AtomicUsize>, stop: Arc<AtomicBool>) {
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let body = json!({"playerName": format!("p{caller}_{number}"), "type": "BAN"});
        let sending =
            client.send(caller + number, &Method::POST, "/api/plugin/punishments/create-by-name", Some(&body), None);
        let patience =
            if number % 3 == 0 { Duration::from_millis((number % 17) as u64) } else { Duration::from_secs(10) };
        if tokio::time::timeout(patience, sending).await.is_ok_and(|answer| answer.is_some()) {
            sent.fetch_add(1, Ordering::Relaxed);
        } else {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_change_is_announced_once_while_nodes_are_killed_and_callers_hang_up() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("told");
    let (stop, stop_reading) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let id = |data: &serde_json::Value| data["punishment"]["id"].as_u64().unwrap() as usize;
    let servers = (0..3).map(|reader| (owner.clone(), format!("s-{reader}")));
    let readers = start_readers_of("PUNISHMENT", id, servers, &stop_reading).await;
    let sent = Arc::new(AtomicUsize::new(0));
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        callers.spawn(ban(owner.clone(), caller, Arc::clone(&sent), Arc::clone(&stop)));
    }
    for kill in 0..KILLS {
        let goal = sent.load(Ordering::Relaxed) + 50;
        wait_until(async || sent.load(Ordering::Relaxed) >= goal).await;
        fleet.kill(kill % 3);
        let goal = sent.load(Ordering::Relaxed) + 20;
        wait_until(async || sent.load(Ordering::Relaxed) >= goal).await;
        fleet.start_node(kill % 3);
    }
    stop.store(true, Ordering::Relaxed);
    callers.join_all().await;
    wait_until(async || fleet.numbers("SELECT COUNT(*) FROM outbox").await == [0]).await;
    stop_reading.store(true, Ordering::Relaxed);
    let mut changed: Vec<_> =
        fleet.numbers("SELECT id FROM punishments").await.into_iter().map(|id| id as usize).collect();
    changed.sort_unstable();
    assert!(changed.len() > KILLS * 50, "{} bans", changed.len());
    for reader in readers {
        let mut seen = reader.await.unwrap();
        seen.sort_unstable();
        let untold: Vec<_> = changed.iter().filter(|id| seen.binary_search(id).is_err()).collect();
        let doubled: Vec<_> = seen.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
        assert!(untold.is_empty(), "{} of {} untold: {untold:?}", untold.len(), changed.len());
        assert!(doubled.is_empty(), "{} of {} doubled: {doubled:?}", doubled.len(), changed.len());
        assert_eq!(seen, changed);
    }
}
