//! No slot is reserved twice, and no world is leased twice.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::fleet::{Fleet, uuid};

const SERVERS: usize = 4;
const SLOTS: usize = 10;
const PLAYERS: usize = 160;
/// Time that a reservation lasts.
const RESERVED: Duration = Duration::from_secs(15);

/// Counts reservations on a new fleet before any of them expires; once more where the machine is too busy for that.
async fn in_time<Counted>(count: impl AsyncFn(&mut Fleet) -> Counted) -> (Fleet, Counted) {
    for _ in 0..5 {
        let mut fleet = Fleet::start().await;
        let began = Instant::now();
        let counted = count(&mut fleet).await;
        if began.elapsed() < RESERVED {
            return (fleet, counted);
        }
    }
    panic!("too slow to show anything")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_slot_is_reserved_twice() {
    let (_fleet, each) = in_time(async |fleet| reserve_all(fleet).await).await;
    assert_eq!(each.len(), SERVERS);
    assert!(each.values().all(|reserved| *reserved == SLOTS), "{each:?}");
}

/// Number of slots that many players got on each server.
async fn reserve_all(fleet: &Fleet) -> HashMap<String, usize> {
    let owner = fleet.network("slots");
    for server in 0..SERVERS {
        owner.register(&format!("lobby-{server}"), json!({"maxPlayers": SLOTS})).await;
    }
    let mut players = JoinSet::new();
    for player in 0..PLAYERS {
        let owner = owner.clone();
        players.spawn(async move {
            let request =
                json!({"playerUuid": uuid(player), "playerName": format!("p{player}"), "serverType": "lobby"});
            let answer = owner.post("/api/plugin/matchmaking/find", request).await;
            answer.expect(200)["matchedServer"]["serverId"].as_str().map(str::to_owned)
        });
    }
    let reserved = players.join_all().await;
    let mut each = HashMap::new();
    for server in reserved.into_iter().flatten() {
        *each.entry(server).or_default() += 1;
    }
    each
}

/// Six networks, spread over the nodes; some are owned by node 0.
async fn networks(fleet: &Fleet) -> Vec<Client> {
    let networks: Vec<_> = (0..6).map(|number| fleet.network(&format!("slots-{number}"))).collect();
    for owner in &networks {
        owner.register("lobby-1", json!({"maxPlayers": SLOTS})).await;
    }
    networks
}

/// In each network, as many players as there are slots request one, once; returns the numbers of the networks that
/// reserved one.
fn find_servers(networks: &[Client], first_player: usize) -> JoinSet<Option<usize>> {
    let mut players = JoinSet::new();
    for (number, owner) in networks.iter().enumerate() {
        for player in first_player..first_player + SLOTS {
            let owner = owner.clone();
            players.spawn(async move {
                let request =
                    json!({"playerUuid": uuid(player), "playerName": format!("p{player}"), "serverType": "lobby"});
                let answer = owner.send_once(&Method::POST, "/api/plugin/matchmaking/find", Some(&request)).await;
                let reserved = answer.filter(|answer| answer.status == 200);
                reserved.is_some_and(|reserved| reserved.body["success"] == true).then_some(number)
            });
        }
    }
    players
}

async fn count(searches: impl IntoIterator<Item = JoinSet<Option<usize>>>) -> HashMap<usize, usize> {
    let mut reserved = HashMap::new();
    for search in searches {
        for number in search.join_all().await.into_iter().flatten() {
            *reserved.entry(number).or_default() += 1;
        }
    }
    reserved
}

/// A node that was paused while another took over its networks reserves nothing more, and its earlier reservations
/// remain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_node_reserves_no_slot_twice() {
    let (_fleet, reserved) = in_time(async |fleet| {
        let networks = networks(fleet).await;
        let before = find_servers(&networks, 0);
        tokio::time::sleep(Duration::from_millis(30)).await;
        fleet.pause(0);
        let during = find_servers(&networks, 50);
        tokio::time::sleep(Duration::from_secs(6)).await;
        let meanwhile = find_servers(&networks, 100);
        tokio::time::sleep(Duration::from_millis(500)).await;
        fleet.resume(0);
        let after = find_servers(&networks, 200);
        count([before, during, meanwhile, after]).await
    })
    .await;
    assert!(reserved.values().all(|reserved| *reserved <= SLOTS), "{reserved:?}");
    assert!(reserved.values().sum::<usize>() >= SLOTS, "{reserved:?}");
}

/// A caller refused because the database does not answer holds no slot, nor do its companions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_reservation_frees_its_slot() {
    let (_fleet, reserved) = in_time(async |fleet| {
        let owner = fleet.network("refused");
        owner.register("lobby-1", json!({"maxPlayers": SLOTS})).await;
        let lock = fleet.lock_table("slot_reservations").await;
        let mut finds = JoinSet::new();
        // Alone, with a party, and with a party that does not name the requesting player.
        let party = |members: std::ops::Range<usize>| members.map(uuid).collect::<Vec<_>>();
        let mut requests = vec![
            json!({"playerUuid": uuid(4), "playerName": "p4", "serverType": "lobby", "party": party(5..7)}),
            json!({"serverType": "lobby", "party": party(7..9)}),
            json!({"serverType": "lobby"}),
        ];
        requests.extend((0..4).map(|player| json!({"playerUuid": uuid(player), "serverType": "lobby"})));
        for (node, request) in requests.iter().enumerate() {
            let find = owner.request(node, &Method::POST, "/api/plugin/matchmaking/find").unwrap();
            finds.spawn(find.json(request).timeout(Duration::from_secs(20)).send());
        }
        let refused = finds.join_all().await;
        assert!(refused.iter().all(|answer| answer.as_ref().unwrap().status() == 503), "{refused:?}");
        lock.release().await;
        count([find_servers(&[owner], 100)]).await
    })
    .await;
    assert_eq!(reserved, HashMap::from([(0, SLOTS)]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reservations_survive_the_death_of_every_node() {
    let (_fleet, (networks, reserved)) = in_time(async |fleet| {
        let networks = networks(fleet).await;
        let mut reserved = count([find_servers(&networks, 0)]).await;
        for owner in &networks {
            // One player arrives, and takes no second slot.
            let join = json!({"serverId": "lobby-1", "playerUuid": uuid(3), "playerName": "p3"});
            owner.post("/api/plugin/servers/players", join).await.expect(204);
        }
        for node in 0..3 {
            fleet.kill(node);
        }
        for node in 0..3 {
            fleet.start_node(node);
        }
        fleet.wait_until_ready().await;
        for (number, more) in count([find_servers(&networks, 100)]).await {
            *reserved.entry(number).or_default() += more;
        }
        (networks, reserved)
    })
    .await;
    assert_eq!(reserved, (0..networks.len()).map(|number| (number, SLOTS)).collect());
    // The other reservations expire, also at the nodes that took over the networks.
    tokio::time::sleep(RESERVED).await;
    let freed = count([find_servers(&networks, 200)]).await;
    assert_eq!(freed, (0..networks.len()).map(|number| (number, SLOTS - 1)).collect());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_world_opened_concurrently_has_one_lease() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("worlds");
    for server in 0..3 {
        owner.register(&format!("islands-{server}"), json!({"serverType": "islands"})).await;
    }
    for round in 0..6 {
        let mut opening = JoinSet::new();
        for _ in 0..12 {
            let owner = owner.clone();
            opening.spawn(async move {
                let request = json!({"ownerScope": "party", "ownerId": format!("party-{round}"), "gameId": "islands"});
                let answer = owner.post("/api/plugin/worlds/open", request).await;
                answer.expect(200)["worldInstanceId"].clone()
            });
        }
        if round == 2 {
            fleet.kill(1);
        }
        if round == 4 {
            fleet.start_node(1);
        }
        let opened: HashSet<_> = opening.join_all().await.iter().map(ToString::to_string).collect();
        assert_eq!(opened.len(), 1, "{opened:?}");
    }
}
