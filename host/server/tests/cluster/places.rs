//! No slot is given twice, and no world is leased twice.

use std::collections::{HashMap, HashSet};

use serde_json::json;
use tokio::task::JoinSet;

use crate::fleet::{Fleet, uuid};

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
