//! A network moves to another hub under load, through the address that its clients know: no acknowledged write is lost, and
//! each client goes on by itself.

use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{command, fail, succeed, text};
use crate::servers::{register, uuid};
use crate::support::{Backend, Client, Hub};

const PAUSE: Duration = Duration::from_millis(20);
/// Clients that write, each for a player of its own.
const WRITERS: u64 = 4;

/// Clients at work, until they are told to end.
struct Load {
    is_over: Arc<AtomicBool>,
    writers: Vec<JoinHandle<i64>>,
    reader: JoinHandle<()>,
    acknowledged: Arc<AtomicI64>,
    /// Streams that were opened, and chat lines that they brought.
    opened: Arc<AtomicU64>,
    heard: Arc<AtomicU64>,
}

impl Load {
    fn start(client: &Client) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let (opened, heard, acknowledged) = (Arc::default(), Arc::default(), Arc::default());
        let write = |number| tokio::spawn(write(client.clone(), number, is_over.clone(), Arc::clone(&acknowledged)));
        let writers = (0..WRITERS).map(write).collect();
        let reader = tokio::spawn(read(client.clone(), is_over.clone(), Arc::clone(&opened), Arc::clone(&heard)));
        Self { is_over, writers, reader, acknowledged, opened, heard }
    }

    /// Waits until all clients have done more than now.
    async fn goes_on(&self) {
        let wanted = self.acknowledged.load(Ordering::Relaxed) + 20;
        let heard = self.heard.load(Ordering::Relaxed);
        Hub::eventually("writes are acknowledged and told", async || {
            self.acknowledged.load(Ordering::Relaxed) > wanted && self.heard.load(Ordering::Relaxed) > heard
        })
        .await;
    }

    /// Ends the clients and compares what each was told with what the network has.
    async fn end(self, client: &Client) {
        self.is_over.store(true, Ordering::Relaxed);
        let mut written = 0;
        for (number, writer) in self.writers.into_iter().enumerate() {
            let acknowledged = writer.await.unwrap();
            let number = u64::try_from(number).unwrap();
            let path = format!("/api/plugin/economy/player/{}/currencies", uuid(100 + number));
            let answer = client.get(&path).await;
            let balance = answer.expect(200)[0]["balance"].as_f64().unwrap_or_else(|| panic!("{}", answer.body));
            assert!((balance - acknowledged as f64).abs() < 0.001, "{balance} instead of {acknowledged}");
            written += acknowledged;
        }
        self.reader.abort();
        println!("{written} writes acknowledged, {} streams", self.opened.load(Ordering::Relaxed));
    }
}

/// Pays one coin after the other, each until it is acknowledged. Returns their number.
async fn write(client: Client, number: u64, is_over: Arc<AtomicBool>, all: Arc<AtomicI64>) -> i64 {
    let player = uuid(100 + number);
    let path = format!("/api/plugin/economy/player/{player}/currencies/modify");
    let body = json!({"currency": "coins", "amount": 1, "reason": "test"});
    let mut acknowledged = 0;
    while !is_over.load(Ordering::Relaxed) {
        let key = format!("pay-{number}-{acknowledged}");
        loop {
            let request = client.request(Method::POST, &path).header("Idempotency-Key", &key).json(&body);
            let answer = client.send(request).await;
            match answer.status.as_u16() {
                200 => break,
                // Like the connectors.
                503 => tokio::time::sleep(PAUSE).await,
                status => panic!("{status}: {}", answer.body),
            }
        }
        acknowledged += 1;
        all.fetch_add(1, Ordering::Relaxed);
        let line = json!({"playerUuid": player, "playerName": "p1", "message": "paid", "serverId": "lobby-1"});
        let told = client.post("/api/plugin/chat", line).await;
        assert!([204, 503].contains(&told.status.as_u16()), "{}", told.body);
    }
    acknowledged
}

/// Reads the events, from stream to stream.
async fn read(client: Client, is_over: Arc<AtomicBool>, opened: Arc<AtomicU64>, heard: Arc<AtomicU64>) {
    let mut last: Option<String> = None;
    while !is_over.load(Ordering::Relaxed) {
        let mut request = client.request(Method::GET, "/api/plugin/events");
        if let Some(id) = &last {
            request = request.header("Last-Event-ID", id);
        }
        let response = request.send().await.unwrap();
        if response.status() == 503 {
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        opened.fetch_add(1, Ordering::Relaxed);
        let mut events = crate::support::Events::of(response);
        while let Some(event) = events.next_frame().await {
            last = event.id.or(last);
            if event.name == "CHAT" {
                heard.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Error of `hub admin …` on the data of a hub.
fn text_of_failure(hub: &Hub, arguments: &[&str]) -> String {
    crate::support::fail(hub.backend(), &[&["admin"], arguments].concat())
}

/// Options of the other hub's storage.
fn options_to(hub: &Hub) -> Vec<String> {
    let mut options = vec!["--to".to_owned(), hub.url(), "--to-data".to_owned(), text(hub.data()).to_owned()];
    let database = hub.backend().options();
    if let Some(at) = database.iter().position(|it| it == "--database") {
        options.extend(["--to-database".to_owned(), database[at + 1].clone()]);
    }
    options
}

/// The arguments of a move.
fn move_of<'a>(network: &'a str, to: &'a [String]) -> Vec<&'a str> {
    ["move", network, "--json"].into_iter().chain(to.iter().map(String::as_str)).collect()
}

async fn moved(hub: &Hub, network: &str, target: &Hub) -> Value {
    let (backend, network, to) = (hub.backend().clone(), network.to_owned(), options_to(target));
    let output = tokio::task::spawn_blocking(move || succeed(&backend, &move_of(&network, &to))).await.unwrap();
    serde_json::from_str(&output).unwrap()
}

/// The reason for which a move does not begin.
async fn refused(hub: &Hub, network: &str, to: &[String]) -> String {
    let (backend, network, to) = (hub.backend().clone(), network.to_owned(), to.to_vec());
    tokio::task::spawn_blocking(move || fail(&backend, &move_of(&network, &to))).await.unwrap()
}

async fn a_network_moves_under_load(from: Backend, to: Backend) {
    let (first, second) = (Hub::start_in_real_time(from).await, Hub::start_in_real_time(to).await);
    let owner = first.network().await;
    let network = owner.network.unwrap().to_string();
    register(&owner, "lobby-1", json!({})).await;
    let load = Load::start(&owner);
    load.goes_on().await;

    // Not to an address where that hub is not: what leaves would be served nowhere.
    let mut astray = options_to(&second);
    for (address, reason) in [(first.url(), "is not the address"), ("http://127.0.0.1:1".to_owned(), "no hub at")] {
        astray[1] = address;
        let refused = refused(&first, &network, &astray).await;
        assert!(refused.contains(reason), "{refused}");
        owner.get("/api/manage/keys").await.expect(200);
    }
    let report = moved(&first, &network, &second).await;
    println!("{report}");
    load.goes_on().await;
    let answer = owner.get("/api/manage/keys").await;
    answer.expect(200);
    assert_eq!(answer.headers["hub-moved-to"], second.url().as_str());
    let there = second.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
    there.get("/api/manage/keys").await.expect(200);
    // A repeated command changes nothing, and nobody serves a second copy.
    let again = moved(&first, &network, &second).await;
    assert_eq!(again["frozenMs"], Value::Null);
    assert!(fail(first.backend(), &["resume", &network]).contains("is moving"));
    // The other hub's address may change.
    let mut elsewhere = options_to(&second);
    elsewhere[1] = second.url().replace("127.0.0.1", "localhost");
    let readdressed = elsewhere.clone();
    let (backend, name) = (first.backend().clone(), network.clone());
    tokio::task::spawn_blocking(move || succeed(&backend, &move_of(&name, &readdressed))).await.unwrap();
    Hub::eventually("it is forwarded to the new address", async || {
        let answer = owner.get("/api/manage/keys").await;
        answer.status == 200 && answer.headers["hub-moved-to"] == elsewhere[1].as_str()
    })
    .await;
    let endless = owner.request(Method::GET, "/api/manage/keys").header("Hub-Forwarded", "4");
    owner.send(endless).await.expect_error(503, "network_moving");

    // Keys are the other hub's now: here nothing of them would hold.
    let key = owner.key.as_deref().unwrap().split('_').nth(1).unwrap();
    for arguments in [
        &["key", "create", "--network", &network, "--scope", "plugin"][..],
        &["key", "revoke", key, "--network", &network],
    ] {
        let refused = text_of_failure(&first, arguments);
        assert!(refused.contains(&format!("has moved to {}", elsewhere[1])), "{refused}");
    }
    // A network that is to be deleted here would be deleted when it is back.
    succeed(first.backend(), &["delete", &network]);
    let back = refused(&second, &network, &options_to(&first)).await;
    assert!(back.contains("is already being deleted"), "{back}");
    let keep = "DELETE FROM network_deletions WHERE network_id = $1";
    first.app.db.write(keep).bind(owner.network.unwrap()).execute().await.unwrap();

    // And back, while the clients know the first address, and one the second.
    let report = moved(&second, &network, &first).await;
    println!("{report}");
    load.goes_on().await;
    let answer = there.get("/api/manage/keys").await;
    answer.expect(200);
    assert_eq!(answer.headers["hub-moved-to"], first.url().as_str());
    assert!(!owner.get("/api/manage/keys").await.headers.contains_key("hub-moved-to"));
    load.end(&owner).await;

    let ended = succeed(second.backend(), &["forget-move", &network]);
    assert!(ended.contains("no longer forwarded"), "{ended}");
    Hub::eventually("it is not forwarded", async || there.get("/api/manage/keys").await.status == 403).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_sqlite_to_postgres_and_back() {
    a_network_moves_under_load(Backend::sqlite(), Backend::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn from_postgres_to_sqlite_and_back() {
    a_network_moves_under_load(Backend::postgres().await, Backend::sqlite()).await;
}

/// A move that is killed so long after the freeze. Returns true if it was done by then.
async fn killed(hub: &Hub, network: &str, target: &Hub, after: Duration, is_frozen: impl AsyncFn() -> bool) -> bool {
    let to = options_to(target);
    let mut command = command(hub.backend(), &move_of(network, &to));
    let mut child: Child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    Hub::eventually("the network is frozen", async || is_frozen().await).await;
    tokio::time::sleep(after).await;
    let was_done = child.try_wait().unwrap().is_some();
    let _ = child.kill();
    tokio::task::block_in_place(|| child.wait()).unwrap();
    was_done
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_move_is_run_again_or_cancelled_and_never_two_hubs_serve() {
    let (first, second) =
        (Hub::start_in_real_time(Backend::sqlite()).await, Hub::start_in_real_time(Backend::sqlite()).await);
    let owner = first.network().await;
    let network = owner.network.unwrap().to_string();
    register(&owner, "lobby-1", json!({})).await;
    let there = second.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
    let load = Load::start(&owner);
    load.goes_on().await;
    let state = async |hub: &Hub| -> Option<String> {
        let sql = "SELECT state FROM network_moves WHERE network_id = $1";
        let row: Option<(String,)> = hub.app.db.query(sql).bind(owner.network.unwrap()).optional().await.unwrap();
        row.map(|(state,)| state)
    };
    let (mut cancelled, mut after) = (0, Duration::ZERO);
    loop {
        let is_frozen = async || state(&first).await.is_some();
        let was_done = killed(&first, &network, &second, after, is_frozen).await;
        let here = state(&first).await;
        // The other hub serves nothing that has not left this one.
        if here.as_deref() != Some("LEFT") {
            let status = there.get("/api/manage/keys").await.status.as_u16();
            assert!([401, 503].contains(&status), "{status} while it is {here:?} here");
        }
        match here.as_deref() {
            Some("LEAVING") => {
                cancelled += 1;
                let at_other = ["--to-data", text(second.data())];
                let storage: &[&str] = if cancelled % 2 == 1 { &at_other } else { &[] };
                succeed(first.backend(), &[&["move", &network, "--cancel"], storage].concat());
                // Nothing stays behind there if the command knows that storage.
                assert!(storage.is_empty() || state(&second).await.is_none());
                assert!(!first.data().join(format!("moving-{network}")).exists(), "the network's secrets lie about");
                load.goes_on().await;
            }
            Some("LEFT") => break,
            other => panic!("{other:?}, {was_done}"),
        }
        after += Duration::from_millis(80);
    }
    assert!(cancelled > 0, "no move was killed while the network was frozen");
    assert!(fail(first.backend(), &["move", &network, "--cancel"]).contains("it has left"));
    moved(&first, &network, &second).await;
    load.goes_on().await;
    load.end(&owner).await;
}
