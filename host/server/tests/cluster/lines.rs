//! Waiting lines under load, with kills: order, parties, and nobody left behind.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::fleet::{Fleet, uuid};

const TICKETS: &str = "/api/plugin/matchmaking/tickets";
const SERVERS: usize = 4;
const SLOTS: usize = 10;
/// Parties of three; all others come alone.
const PARTIES: usize = 100;
const ALONE: usize = 700;
/// First players of the order that are looked at in each round.
const LOOKED_AT: usize = 48;
/// Time for which the first of the line waits at most, a party, too: smaller ones pass it for 30 s, then slots are kept
/// for it. Kills and a busy machine take the rest.
const LONGEST_AT_HEAD: Duration = Duration::from_secs(90);

/// Those of a ticket, the leader first.
fn members(number: usize) -> Vec<usize> {
    // Every eighth ticket is a party's.
    let party = number / 8;
    if number % 8 == 7 && party < PARTIES {
        return (0..3).map(|member| 10_000 + 3 * party + member).collect();
    }
    vec![number]
}

async fn beat(owner: &Client, server: &str, players: Option<Vec<usize>>) {
    let mut body = json!({"serverId": server});
    if let Some(players) = players {
        body["players"] = players.into_iter().map(|player| json!({"uuid": uuid(player)})).collect();
    }
    owner.post("/api/plugin/servers/heartbeat", body).await;
}

async fn join(owner: &Client, server: &str, player: usize) {
    let join = json!({"serverId": server, "playerUuid": uuid(player), "playerName": format!("p{player}")});
    owner.post("/api/plugin/servers/players", join).await.expect(204);
}

/// Tickets in the order of their line, as the hub lists them.
async fn order(owner: &Client) -> Vec<String> {
    let mut order = vec![];
    for page in 0.. {
        let path = format!("/api/manage/matchmaking/lines/type:arena/tickets?limit=200&page={page}");
        let answer = owner.get(&path).await.expect(200).clone();
        let items = answer["items"].as_array().unwrap();
        order.extend(items.iter().map(|it| it["ticketId"].as_str().unwrap().to_owned()));
        if items.len() < 200 {
            break;
        }
    }
    order
}

/// Kills two nodes, one after the other, at certain rounds, and starts them again.
async fn kill_in_turn(fleet: &mut Fleet, round: usize) {
    match round {
        8 => fleet.kill(1),
        16 => {
            fleet.start_node(1);
            fleet.wait_until_ready().await;
            fleet.kill(2);
        }
        24 => fleet.start_node(2),
        _ => {}
    }
}

/// The first of the line with the time since when they are, who must not be for long.
fn expect_turn(head: (String, Instant), first: Option<&String>) -> (String, Instant) {
    let waited = head.1.elapsed();
    match first {
        Some(first) if *first == head.0 => assert!(waited < LONGEST_AT_HEAD, "{first} is first since {waited:?}"),
        Some(first) => return (first.clone(), Instant::now()),
        None => {}
    }
    head
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_players_get_forty_slots_by_turns() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("lines");
    owner.register("lobby", json!({"serverType": "lobby", "maxPlayers": 0})).await;
    for server in 0..SERVERS {
        owner.register(&format!("arena-{server}"), json!({"serverType": "arena", "maxPlayers": SLOTS})).await;
    }
    let players: Vec<_> = (0..ALONE + PARTIES).flat_map(members).collect();
    assert_eq!(players.len(), ALONE + 3 * PARTIES);
    beat(&owner, "lobby", Some(players)).await;
    // Nobody of the line has a slot yet.
    let mut present: HashMap<usize, usize> = HashMap::new();
    for player in 0..SERVERS * SLOTS {
        join(&owner, &format!("arena-{}", player / SLOTS), 50_000 + player).await;
        present.insert(50_000 + player, player / SLOTS);
    }
    let mut taking = JoinSet::new();
    let mut tickets = HashMap::new();
    for number in 0..ALONE + PARTIES {
        let owner = owner.clone();
        taking.spawn(async move {
            let members = members(number);
            let party: Vec<_> = members[1..].iter().map(|member| uuid(*member)).collect();
            let request = json!({"playerUuid": uuid(members[0]), "serverType": "arena", "party": party});
            let ticket = owner.post(TICKETS, request).await.expect(200).clone();
            assert_eq!(ticket["state"], "WAITING", "{ticket}");
            (ticket["ticketId"].as_str().unwrap().to_owned(), members)
        });
        if taking.len() >= 8 {
            let (id, members) = taking.join_next().await.unwrap().unwrap();
            tickets.insert(id, members);
        }
    }
    tickets.extend(taking.join_all().await);
    let mut waiting = order(&owner).await;
    assert_eq!(waiting.len(), tickets.len());
    // A network that moves keeps the order.
    fleet.kill(0);
    assert_eq!(order(&owner).await, waiting, "after the death of a node");
    fleet.start_node(0);
    let began = Instant::now();
    let (mut random, mut rounds, mut beaten) = (StdRng::seed_from_u64(33), 0, Instant::now());
    let mut joined = HashSet::new();
    let mut head = (waiting[0].clone(), began);
    while !waiting.is_empty() {
        assert!(began.elapsed() < Duration::from_secs(240), "{} still wait", waiting.len());
        rounds += 1;
        kill_in_turn(&mut fleet, rounds).await;
        if beaten.elapsed() > Duration::from_secs(4) {
            beaten = Instant::now();
            for server in ["lobby", "arena-0", "arena-1", "arena-2", "arena-3"] {
                beat(&owner, server, None).await;
            }
        }
        // Slots come free at random.
        let mut there: Vec<_> = present.keys().copied().collect();
        there.sort_unstable();
        let mut leaving = JoinSet::new();
        for player in there {
            if random.random_bool(0.6) {
                present.remove(&player);
                let owner = owner.clone();
                leaving.spawn(async move { join(&owner, "lobby", player).await });
            }
        }
        leaving.join_all().await;
        let looked_at: Vec<_> = waiting.iter().take(LOOKED_AT).cloned().collect();
        let mut states = vec![];
        for id in &looked_at {
            states.push(owner.get(&format!("{TICKETS}/{id}")).await.expect(200).clone());
        }
        for (number, ticket) in states.iter().enumerate().filter(|(_, it)| it["state"] == "MATCHED") {
            let id = ticket["ticketId"].as_str().unwrap();
            if tickets[id].len() == 1 {
                // Those before it who come alone have their slots, too.
                for earlier in looked_at[..number].iter().filter(|id| tickets[*id].len() == 1) {
                    let now = owner.get(&format!("{TICKETS}/{earlier}")).await.expect(200).clone();
                    assert_ne!(now["state"], "WAITING", "{now} was passed by {ticket}");
                }
            }
            let server = ticket["match"]["matchedServer"]["serverId"].as_str().unwrap();
            let index: usize = server.strip_prefix("arena-").unwrap().parse().unwrap();
            for player in &tickets[id] {
                join(&owner, server, *player).await;
                present.insert(*player, index);
            }
            assert!(present.values().filter(|at| **at == index).count() <= SLOTS, "too many on {server}");
            joined.insert(id.to_owned());
        }
        waiting.retain(|id| !joined.contains(id));
        head = expect_turn(head, waiting.first());
        for ticket in &states {
            assert!(["WAITING", "MATCHED"].contains(&ticket["state"].as_str().unwrap()), "{ticket}");
        }
    }
    println!("{} tickets in {rounds} rounds, {:?}", tickets.len(), began.elapsed());
    for (id, members) in tickets.iter().filter(|(_, members)| members.len() > 1) {
        let ticket = owner.send_retrying(Method::GET, &format!("{TICKETS}/{id}"), None, None).await;
        assert_eq!(ticket.expect(200)["state"], Value::from("JOINED"), "{members:?}");
    }
}
