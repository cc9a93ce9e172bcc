//! Player sessions on three nodes: fences never repeat, and players who switch at random while nodes are killed lose and
//! double nothing.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::fleet::{Fleet, uuid};

const SERVERS: usize = 4;
const PLAYERS: usize = 40;
const SWITCHES: usize = 8;
const KILLS: usize = 3;

type Fences = Arc<Mutex<HashSet<i64>>>;

fn path(player: usize) -> String {
    format!("/api/plugin/players/{}/session", uuid(player))
}

fn server(number: usize) -> String {
    format!("lobby-{number}")
}

/// Opens a session. Returns its fence and the number of items of the player.
async fn open(owner: &Client, player: usize, at: usize, fences: &Fences) -> (i64, i64) {
    let body = json!({"serverId": server(at), "waitMs": 2_000});
    let opened = loop {
        let answer = owner.post(&path(player), body.clone()).await;
        // The node that took over may not have heard of the server yet.
        if answer.body["code"] != "unknown_server" {
            break answer.expect(200).clone();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let fence = opened["fence"].as_i64().unwrap();
    assert!(fences.lock().unwrap().insert(fence), "the fence {fence} was given twice");
    let items = opened["profile"]["namespaces"].as_array().unwrap().iter().find(|it| it["namespace"] == "items");
    (fence, items.map_or(0, |it| it["data"].as_str().unwrap().parse().unwrap()))
}

async fn save(owner: &Client, player: usize, fence: i64, items: i64, close: bool) -> Value {
    let body = json!({"data": [{"namespace": "items", "data": items.to_string()}], "close": close});
    let answer = owner.put(&format!("{}/{fence}", path(player)), body).await;
    json!({"status": answer.status, "body": answer.body})
}

/// A player who gets an item on each server and goes to the next, while the server before may still save.
async fn play(owner: Client, player: usize, fences: Fences) {
    let (mut items, mut before): (i64, Option<i64>) = (0, None);
    let mut at = player;
    for switch in 0..SWITCHES {
        at = (at + 1 + (player * 7 + switch * 3) % (SERVERS - 1)) % SERVERS;
        let (fence, found) = open(&owner, player, at, &fences).await;
        assert_eq!(found, items, "player {player} after {switch} switches");
        if let Some(before) = before {
            assert!(fence > before);
            let late = save(&owner, player, before, -1, false).await;
            assert_eq!((&late["status"], &late["body"]["code"]), (&json!(409), &json!("stale_session")), "{late}");
        }
        items += 1;
        // Some servers save before they close, and some never close.
        if (player + switch).is_multiple_of(3) {
            assert_eq!(save(&owner, player, fence, items, false).await["status"], 200);
            items += 1;
        }
        let closes = !(player + switch).is_multiple_of(5);
        let saved = save(&owner, player, fence, items, closes).await;
        assert_eq!(saved["status"], 200, "{saved}");
        before = Some(fence);
    }
    let (_, found) = open(&owner, player, player % SERVERS, &fences).await;
    assert_eq!(found, items);
}

/// Keeps the servers online.
async fn beat(owner: Client, is_over: Arc<AtomicBool>) {
    while !is_over.load(Ordering::Relaxed) {
        for number in 0..SERVERS {
            let body = json!({"serverId": server(number)});
            let sent = owner.send_once(&Method::POST, "/api/plugin/servers/heartbeat", Some(&body)).await;
            if sent.is_some_and(|answer| answer.body["code"] == "unknown_server") {
                owner.register(&server(number), json!({})).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn players_who_switch_lose_and_double_nothing() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("sessions");
    for number in 0..SERVERS {
        owner.register(&server(number), json!({})).await;
    }
    let (fences, is_over) = (Fences::default(), Arc::new(AtomicBool::new(false)));
    let beating = tokio::spawn(beat(owner.clone(), Arc::clone(&is_over)));
    let mut players = JoinSet::new();
    for player in 0..PLAYERS {
        players.spawn(play(owner.clone(), player, Arc::clone(&fences)));
    }
    for kill in 0..KILLS {
        tokio::time::sleep(Duration::from_secs(2)).await;
        fleet.kill(kill % 3);
        tokio::time::sleep(Duration::from_secs(2)).await;
        fleet.start_node(kill % 3);
    }
    players.join_all().await;
    is_over.store(true, Ordering::Relaxed);
    beating.await.unwrap();
    assert!(fences.lock().unwrap().len() >= PLAYERS * (SWITCHES + 1));
}

/// A stream at one node is asked by the network's owner, wherever that is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_asked_at_whichever_node_it_listens() {
    let fleet = Fleet::start().await;
    for number in 0..3 {
        let owner = fleet.network(&format!("sessions-{number}"));
        for server in ["a", "b"] {
            owner.register(server, json!({})).await;
        }
        for node in 0..3 {
            let query = "/api/plugin/events?serverId=a&types=SESSION_REQUESTED";
            let request = owner.request(node, &Method::GET, query).unwrap();
            let mut stream = crate::stream::Events::open(request).await;
            let fences = Fences::default();
            let (fence, _) = open_at(&owner, node, "a", &fences).await;
            let asking = owner.clone();
            let asked = tokio::spawn(async move {
                asking.post(&path(node), json!({"serverId": "b", "waitMs": 10_000})).await.expect(200).clone()
            });
            let request = stream.next_named("SESSION_REQUESTED").await.data;
            assert_eq!((&request["fence"], &request["serverId"]), (&json!(fence), &json!("b")));
            assert_eq!(save(&owner, node, fence, 5, true).await["status"], 200);
            let opened = asked.await.unwrap();
            assert_eq!((&opened["takenOver"], &opened["previousState"]), (&json!(false), &json!("CLOSED")));
        }
    }
}

async fn open_at(owner: &Client, player: usize, server: &str, fences: &Fences) -> (i64, i64) {
    let opened = owner.post(&path(player), json!({"serverId": server})).await.expect(200).clone();
    let fence = opened["fence"].as_i64().unwrap();
    assert!(fences.lock().unwrap().insert(fence));
    (fence, 0)
}
