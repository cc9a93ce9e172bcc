//! A rotated secrets key reaches all nodes while they serve.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::fleet::{Fleet, shard_of, uuid, wait_until};
use crate::receiver::Receiver;
use crate::stream::Events;

/// The network's signing secret, from the node that owns the network.
async fn signing_secret(owner: &Client) -> Value {
    let server = json!({"serverId": "a", "serverType": "lobby", "host": "10.0.0.7", "port": 25565});
    owner.post("/api/plugin/servers/register", server).await.expect(201)["signingSecret"].clone()
}

/// The node's key, as its file has it.
fn key(fleet: &Fleet, node: usize) -> String {
    std::fs::read_to_string(fleet.data(node).join("secrets.key")).unwrap()
}

/// Rotates at one of the machines: the others' nodes get the key through the database. Returns the newest line.
fn rotate(fleet: &Fleet) -> String {
    let old = key(fleet, 0);
    let rotate = ["admin", "secrets", "rotate", "--database", fleet.database(), "--data"];
    let output = Command::new(env!("CARGO_BIN_EXE_hub")).args(rotate).arg(fleet.data(0)).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_ne!(key(fleet, 0), old);
    key(fleet, 0).lines().next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_goes_on_with_a_rotated_key() {
    let fleet = Fleet::start().await;
    let owners = fleet.networks_everywhere("sealed", 3).await;
    let mut before = vec![];
    for owner in &owners {
        before.push(signing_secret(owner).await);
    }
    for _ in 0..2 {
        let newest = rotate(&fleet);
        wait_until(async || (0..3).all(|node| key(&fleet, node).starts_with(&newest))).await;
        for (owner, before) in owners.iter().zip(&before) {
            assert_eq!(signing_secret(owner).await, *before);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_was_down_starts_with_a_rotated_key() {
    let mut fleet = Fleet::start().await;
    let owner = fleet.network("sealed");
    let before = signing_secret(&owner).await;
    fleet.stop(2);
    let newest = rotate(&fleet);
    assert!(!key(&fleet, 2).contains(&newest));
    fleet.start_node(2);
    fleet.wait_until_ready().await;
    assert!(key(&fleet, 2).starts_with(&newest));
    assert_eq!(signing_secret(&owner).await, before);
}

/// Keeps nodes from asking each other for the key, until it is dropped by [`HAND_OVER`].
const HOLD_BACK: &str = "CREATE FUNCTION hold_back() RETURNS TRIGGER LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER hold_back BEFORE INSERT ON key_requests FOR EACH ROW EXECUTE FUNCTION hold_back()";
const HAND_OVER: &str = "DROP TRIGGER hold_back ON key_requests";

/// Codes to appeal with, by the events that a node's stream gets.
fn codes(owner: &Client, node: usize) -> Arc<Mutex<Vec<Value>>> {
    let (codes, owner) = (Arc::<Mutex<Vec<Value>>>::default(), owner.clone());
    let seen = Arc::clone(&codes);
    tokio::spawn(async move {
        let mut last = None::<String>;
        loop {
            let request = owner.stream(node, "a", last.as_deref()).unwrap();
            let Some(response) = request.send().await.ok().filter(|response| response.status() == 200) else {
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            let mut events = Events::of(response);
            while let Some(frame) = events.next_frame().await {
                last = frame.id.or(last);
                if frame.name == "PUNISHMENT" {
                    seen.lock().push(frame.data["punishment"]["appealCode"].clone());
                }
            }
        }
    });
    codes
}

/// The only node with the newest key stops, and another one serves its network.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_lacks_the_newest_key_tells_no_code_that_is_not_true() {
    let receiver = Receiver::start("127.0.0.2:0").await;
    let networks = ("HUB_WEBHOOK_NETWORKS", "127.0.0.2/32".to_owned());
    let mut fleet = Fleet::start_with_variables(vec![networks]).await;
    fleet.sql(HOLD_BACK).await;
    let newest = rotate(&fleet);
    fleet.wait_until_balanced().await;
    let first = fleet.url(0);
    let networks = fleet.networks_everywhere("codes", 3).await;
    let leases = fleet.leases().await;
    let owner = networks.into_iter().find(|network| leases[&shard_of(&network.key)].url == first).unwrap();
    let ban = async |node: usize, player: usize| {
        let body = json!({"playerUuid": uuid(player), "playerName": "p", "type": "BAN", "reason": "x"});
        let key = format!("ban-{player}");
        owner.send(node, &Method::POST, "/api/plugin/punishments/create", Some(&body), Some(&key)).await.unwrap()
    };
    let hook = json!({"url": receiver.url(), "events": ["PUNISHMENT"]});
    let hook = owner.post("/api/manage/webhooks", hook).await.expect(201)["webhookId"].clone();
    let told = ban(0, 1).await.expect(200)["appealCode"].clone();
    wait_until(async || receiver.count() == 1).await;
    let delivery = format!("/api/manage/webhooks/{}/deliveries/1", hook.as_str().unwrap());
    let delivery = async |node: usize| owner.send(node, &Method::GET, &delivery, None, None).await.unwrap();
    assert_eq!(delivery(0).await.expect(200)["data"]["punishment"]["appealCode"], told);
    delivery(1).await.expect(503);
    // Its event waits for the bus, and then for the key.
    let seen = codes(&owner, 1);
    fleet.stop_nats();
    let waiting = ban(0, 2).await.expect(200)["appealCode"].clone();
    assert_eq!(waiting.as_str().map(str::len), Some(12));
    fleet.kill(0);
    fleet.restart_nats().await;
    wait_until(async || fleet.leases().await.get(&shard_of(&owner.key)).is_some_and(|lease| lease.url != first)).await;
    let again = ban(1, 2).await;
    assert_eq!((again.status, again.has_retry_after), (503, true), "{}", again.body);
    fleet.sql(HAND_OVER).await;
    fleet.start_node(0);
    wait_until(async || (0..3).all(|node| key(&fleet, node).starts_with(&newest))).await;
    wait_until(async || seen.lock().contains(&waiting)).await;
    wait_until(async || receiver.count() >= 2).await;
    assert!(receiver.received().iter().all(|it| it.body["data"]["punishment"]["appealCode"].is_string()));
    assert!(seen.lock().iter().all(Value::is_string), "{:?}", seen.lock());
    wait_until(async || ban(1, 2).await.status != 503).await;
    assert_eq!(ban(1, 2).await.expect(200)["appealCode"], waiting);
    assert_eq!(delivery(1).await.expect(200)["data"]["punishment"]["appealCode"], told);
}
