//! Deliveries are told, claimed and settled at any node, and survive the death of a node.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::fleet::{Fleet, uuid};
use crate::stream::Events;

const PATH: &str = "/api/plugin/deliveries";

/// A network with a player on the server `survival-1`.
async fn playing(fleet: &Fleet, name: &str) -> Client {
    let owner = fleet.network(name);
    owner.register("survival-1", json!({"serverType": "survival"})).await;
    join(&owner).await;
    owner
}

async fn join(owner: &Client) {
    let join = json!({"serverId": "survival-1", "playerUuid": uuid(1), "playerName": "p1"});
    owner.post("/api/plugin/servers/players", join).await.expect(204);
}

async fn create(owner: &Client, node: usize, kind: &str) -> i64 {
    let body = json!({"playerUuid": uuid(1), "kind": kind, "reference": kind});
    let answer = owner.send(node, &Method::POST, PATH, Some(&body), Some(kind)).await.unwrap();
    answer.expect(201)["deliveryId"].as_i64().unwrap()
}

async fn state(owner: &Client, id: i64) -> Value {
    let list = owner.get("/api/manage/deliveries").await.expect(200).clone();
    list["items"].as_array().unwrap().iter().find(|it| it["deliveryId"] == id).unwrap()["state"].clone()
}

async fn reaches(owner: &Client, id: i64, expected: &str) {
    let began = Instant::now();
    while state(owner, id).await != expected {
        assert!(began.elapsed() < Duration::from_secs(60), "never {expected}: {}", state(owner, id).await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Claims a delivery as soon as a node that knows the player serves the network.
async fn claim(owner: &Client, id: i64) -> String {
    let (path, body) = (format!("{PATH}/{id}/claim"), json!({"serverId": "survival-1"}));
    let key = format!("claim {id}");
    let answer = owner.send_retrying(Method::POST, &path, Some(body), Some(&key)).await;
    answer.expect(200)["claim"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delivery_survives_the_death_of_a_node_between_claim_and_completion() {
    let mut fleet = Fleet::start().await;
    let owner = playing(&fleet, "deliveries").await;
    let path = "/api/plugin/events?serverId=survival-1&types=DELIVERY_READY,DELIVERY_SETTLED";
    let mut events = Events::open(owner.request(1, &Method::GET, path).unwrap()).await;
    let completed = create(&owner, 0, "kit").await;
    assert_eq!(events.next_named("DELIVERY_READY").await.data["deliveryId"], completed);
    let lost = create(&owner, 2, "rank").await;
    assert_eq!(events.next_named("DELIVERY_READY").await.data["deliveryId"], lost);
    let text = claim(&owner, completed).await;
    let lost_text = claim(&owner, lost).await;
    drop(events);
    for node in [0, 1] {
        fleet.kill(node);
        let body = json!({"claim": text});
        let path = format!("{PATH}/{completed}/complete");
        let answer = owner.send_retrying(Method::POST, &path, Some(body), None).await;
        assert_eq!(answer.expect(200)["state"], "DELIVERED");
        fleet.start_node(node);
        fleet.wait_until_ready().await;
    }
    // The claim runs out at whichever node serves the network by now.
    fleet.sql(&format!("UPDATE deliveries SET claimed_until = 1, due_at = 1 WHERE delivery_id = {lost}")).await;
    reaches(&owner, lost, "HELD").await;
    let body = json!({"claim": lost_text});
    let answer = owner.send_retrying(Method::POST, &format!("{PATH}/{lost}/complete"), Some(body), None).await;
    assert_eq!((answer.status, &answer.body["code"]), (409, &json!("stale_claim")));
    // The same order again creates nothing.
    let body = json!({"playerUuid": uuid(1), "kind": "kit", "reference": "kit"});
    let again = owner.post(PATH, body).await;
    assert_eq!((&again.expect(200)["deliveryId"], &again.body["state"]), (&json!(completed), &json!("DELIVERED")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_claims_at_all_nodes_at_once_one_wins() {
    let fleet = Fleet::start().await;
    let owner = playing(&fleet, "claims").await;
    for round in 0..5 {
        let id = create(&owner, round, &format!("kit {round}")).await;
        let mut claims = JoinSet::new();
        for node in 0..21 {
            let owner = owner.clone();
            claims.spawn(async move {
                let (path, body) = (format!("{PATH}/{id}/claim"), json!({"serverId": "survival-1"}));
                owner.send(node, &Method::POST, &path, Some(&body), None).await.unwrap()
            });
        }
        let answers = claims.join_all().await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 1, "{answers:?}");
        let lost = answers.iter().filter(|answer| answer.status != 200);
        assert!(lost.map(|answer| &answer.body["code"]).all(|code| code == "claimed"), "{answers:?}");
    }
}
