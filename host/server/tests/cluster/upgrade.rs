//! Nodes are replaced one after the other, and clients do not notice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::Method;
use serde_json::json;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::events::start_readers;
use crate::fleet::{CURRENT, Fleet, uuid};
use crate::stream::Events;

const POST: Method = Method::POST;
const NETWORKS: usize = 4;
/// Streams end when a node begins to stop, in two seconds; this is for a busy machine.
const STREAMS_END_WITHIN: Duration = Duration::from_secs(8);

/// Uses a network until it is stopped. Every request must succeed; returns the money paid and the chat lines sent.
async fn play(owner: Client, network: usize, stop: Arc<AtomicBool>) -> (usize, Vec<usize>) {
    let (mut paid, mut sent) = (0, vec![]);
    for round in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let beat = json!({"serverId": "lobby-1", "serverType": "lobby"});
        owner.expect_success(POST, "/api/plugin/servers/heartbeat", beat, None).await;
        let request = json!({"playerUuid": uuid(round), "playerName": "p", "serverType": "lobby"});
        let found = owner.expect_success(POST, "/api/plugin/matchmaking/find", request, None).await;
        assert_eq!(found["matchedServer"]["serverId"], "lobby-1", "{found}");
        let payment = json!({"currency": "coins", "amount": 1});
        let (path, key) = ("/api/plugin/economy/team/red/currencies/modify", format!("{network}-{round}"));
        let balance = owner.expect_success(POST, path, payment, Some(&key)).await;
        paid += 1;
        assert_eq!(balance["balance"].as_f64(), Some(f64::from(paid)));
        let line = json!({"playerUuid": uuid(1), "playerName": "p", "message": round.to_string(), "serverId": "s"});
        owner.expect_success(POST, "/api/plugin/chat", line, None).await;
        sent.push(round);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (paid as usize, sent)
}

/// From the binary in `HUB_PREVIOUS_BINARY`, if it is set, to the one under test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_are_replaced_one_after_the_other_without_an_error() {
    let previous = std::env::var("HUB_PREVIOUS_BINARY").unwrap_or_else(|_| CURRENT.to_owned());
    let mut fleet = Fleet::start_with(&previous).await;
    let owners: Vec<_> = (0..NETWORKS).map(|number| fleet.network(&format!("upgrade-{number}"))).collect();
    for owner in &owners {
        owner.register("lobby-1", json!({"maxPlayers": 100_000})).await;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let readers = start_readers(owners.iter().map(|owner| (owner.clone(), "s".to_owned())), &stop).await;
    let players = owners.iter().cloned().enumerate();
    let players: Vec<_> = players.map(|(number, owner)| tokio::spawn(play(owner, number, Arc::clone(&stop)))).collect();
    for node in 0..3 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let mut streams = JoinSet::new();
        for (number, owner) in owners.iter().enumerate() {
            let mut events = Events::open(owner.stream(node, &format!("t-{number}"), None).unwrap()).await;
            streams.spawn(async move { while events.next().await.is_some() {} });
        }
        let took = fleet.replace(node, CURRENT, streams).await;
        assert!(took < STREAMS_END_WITHIN, "the streams of node {node} ended after {took:?}");
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.store(true, Ordering::Relaxed);
    for ((owner, player), reader) in owners.iter().zip(players).zip(readers) {
        let (paid, sent) = player.await.unwrap();
        let balances = owner.get("/api/plugin/economy/team/red/currencies").await;
        assert_eq!(balances.expect(200)[0]["balance"], paid);
        assert_eq!(reader.await.unwrap(), sent, "every line arrived, in order and once");
    }
}
