//! No slot is given twice, and no world is leased twice.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use tokio::task::JoinSet;

use crate::fleet::{Client, Fleet, uuid};

const SERVERS: usize = 4;
const SLOTS: usize = 10;
const PLAYERS: usize = 160;

/// Slots are kept for 15 s after they were given; all of this happens within them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_slot_is_given_twice() {
    let fleet = Fleet::start().await;
    let owner = fleet.network("slots");
    for server in 0..SERVERS {
        owner.register(&format!("lobby-{server}"), json!({"maxPlayers": SLOTS})).await;
    }
    let mut players = JoinSet::new();
    for player in 0..PLAYERS {
        let owner = owner.clone();
        players.spawn(async move {
            let wish = json!({"playerUuid": uuid(player), "playerName": format!("p{player}"), "serverType": "lobby"});
            let answer = owner.post("/api/plugin/matchmaking/find", wish).await;
            answer.expect(200)["matchedServer"]["serverId"].as_str().map(str::to_owned)
        });
    }
    let given = players.join_all().await;
    let mut each = HashMap::<_, usize>::new();
    for server in given.iter().flatten() {
        *each.entry(server).or_default() += 1;
    }
    assert_eq!(each.len(), SERVERS);
    assert!(each.values().all(|given| *given == SLOTS), "{each:?}");
}

/// The networks of six owners live at different nodes; some at node 0.
async fn networks(fleet: &Fleet) -> Vec<Client> {
    let networks: Vec<_> = (0..6).map(|number| fleet.network(&format!("slots-{number}"))).collect();
    for owner in &networks {
        owner.register("lobby-1", json!({"maxPlayers": SLOTS})).await;
    }
    networks
}

/// As many players as there are slots ask in each network, once; the numbers of the networks that gave one a slot.
fn ask(networks: &[Client], from: usize) -> JoinSet<Option<usize>> {
    let mut players = JoinSet::new();
    for (number, owner) in networks.iter().enumerate() {
        for player in from..from + SLOTS {
            let owner = owner.clone();
            players.spawn(async move {
                let wish =
                    json!({"playerUuid": uuid(player), "playerName": format!("p{player}"), "serverType": "lobby"});
                let answer = owner.once(&Method::POST, "/api/plugin/matchmaking/find", Some(&wish)).await;
                let given = answer.filter(|answer| answer.status == 200);
                given.is_some_and(|given| given.body["success"] == true).then_some(number)
            });
        }
    }
    players
}

async fn count(asked: impl IntoIterator<Item = JoinSet<Option<usize>>>) -> HashMap<usize, usize> {
    let mut given = HashMap::new();
    for outcome in asked {
        for number in outcome.join_all().await.into_iter().flatten() {
            *given.entry(number).or_default() += 1;
        }
    }
    given
}

/// A node that stood still while another took its networks over gives nothing more away, and what it gave away before
/// stays given.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_stood_still_gives_no_slot_twice() {
    let fleet = Fleet::start().await;
    let networks = networks(&fleet).await;
    let before = ask(&networks, 0);
    tokio::time::sleep(Duration::from_millis(30)).await;
    fleet.freeze(0);
    let during = ask(&networks, 50);
    tokio::time::sleep(Duration::from_secs(6)).await;
    let meanwhile = ask(&networks, 100);
    tokio::time::sleep(Duration::from_millis(500)).await;
    fleet.thaw(0);
    let after = ask(&networks, 200);
    let given = count([before, during, meanwhile, after]).await;
    assert!(given.values().all(|given| *given <= SLOTS), "{given:?}");
    assert!(given.values().sum::<usize>() >= SLOTS, "{given:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slots_that_were_given_survive_the_death_of_every_node() {
    let mut fleet = Fleet::start().await;
    let networks = networks(&fleet).await;
    let began = Instant::now();
    let mut given = count([ask(&networks, 0)]).await;
    for owner in &networks {
        // One arrives, and takes no second slot.
        let join = json!({"serverId": "lobby-1", "playerUuid": uuid(3), "playerName": "p3"});
        owner.post("/api/plugin/servers/players", join).await.expect(204);
    }
    for node in 0..3 {
        fleet.kill(node);
    }
    for node in 0..3 {
        fleet.begin(node);
    }
    fleet.settle().await;
    for (number, more) in count([ask(&networks, 100)]).await {
        *given.entry(number).or_default() += more;
    }
    assert!(began.elapsed() < Duration::from_secs(15), "too slow to show anything: {:?}", began.elapsed());
    assert_eq!(given, (0..networks.len()).map(|number| (number, SLOTS)).collect());
    // Those who did not come lose their slots after their time, at the nodes that took them over too.
    tokio::time::sleep(Duration::from_secs(15)).await;
    let freed = count([ask(&networks, 200)]).await;
    assert_eq!(freed, (0..networks.len()).map(|number| (number, SLOTS - 1)).collect());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_world_that_many_open_at_once_has_one_lease() {
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
                let wish = json!({"ownerScope": "party", "ownerId": format!("party-{round}"), "gameId": "islands"});
                let answer = owner.post("/api/plugin/worlds/open", wish).await;
                answer.expect(200)["worldInstanceId"].clone()
            });
        }
        if round == 2 {
            fleet.kill(1);
        }
        if round == 4 {
            fleet.begin(1);
        }
        let opened: HashSet<_> = opening.join_all().await.iter().map(ToString::to_string).collect();
        assert_eq!(opened.len(), 1, "{opened:?}");
    }
}
