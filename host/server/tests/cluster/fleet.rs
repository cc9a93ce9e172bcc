//! Three nodes, what they stand on, and a client that goes to the next node when one does not answer.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hub::http_client;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::apart::{Island, Link, Postgres};

/// How long a client goes on asking. Nothing takes this long when all is well.
const PATIENCE: Duration = Duration::from_secs(40);

/// The hub that is tested.
pub const CURRENT: &str = env!("CARGO_BIN_EXE_hub");

/// One fleet at a time: the machine is small.
static TURN: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

pub struct Fleet {
    nodes: Vec<Node>,
    nats: Daemon,
    /// Address and port of NATS.
    bus: String,
    database: String,
    /// What the nodes that are started run.
    binary: String,
    folder: TempDir,
    urls: Arc<Mutex<Vec<Option<String>>>>,
    /// Where the first node is on a machine of its own, and the database is the fleet's own.
    apart: Option<(Postgres, Island)>,
    _turn: tokio::sync::MutexGuard<'static, ()>,
}

struct Node {
    process: Option<Daemon>,
    address: String,
}

/// A process that ends with the test.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // One that was stopped would not notice otherwise.
        signal(&self.0, "-CONT");
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A node that was asked to end.
pub struct Ending(Daemon);

impl Ending {
    /// Waits until it has.
    pub fn wait(mut self) {
        assert!(self.0.0.wait().unwrap().success());
    }
}

/// A table that is held.
pub struct Held(PgConnection);

impl Held {
    /// Waits until so many statements wait for it.
    pub async fn holds_up(&mut self, statements: i64) {
        let count = "SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let began = Instant::now();
        while sqlx::query_scalar::<_, i64>(count).fetch_one(&mut self.0).await.unwrap() < statements {
            assert!(began.elapsed() < PATIENCE, "fewer than {statements} wait");
            // What a transaction was told of activity it is told again.
            self.0.execute("SELECT pg_stat_clear_snapshot()").await.unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub async fn let_go(mut self) {
        self.0.execute("COMMIT").await.unwrap();
    }
}

fn signal(child: &Child, name: &str) {
    let _ = Command::new("kill").args([name, &child.id().to_string()]).stderr(Stdio::null()).status();
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

impl Fleet {
    pub async fn start() -> Self {
        Self::start_with(CURRENT).await
    }

    /// As [`Self::start`], with another binary.
    pub async fn start_with(binary: &str) -> Self {
        let url = std::env::var("HUB_TEST_POSTGRES").expect("HUB_TEST_POSTGRES is the URL of a PostgreSQL");
        Self::on(TURN.lock().await, binary, &url, "127.0.0.1", None).await
    }

    /// A fleet whose database can be restarted and whose first node can be cut off.
    pub async fn start_apart() -> Self {
        let turn = TURN.lock().await;
        let island = Island::new();
        let postgres = Postgres::start(&island.here(Link::Database), free_port());
        let (url, nats_host) = (postgres.url.clone(), island.here(Link::Bus));
        Self::on(turn, CURRENT, &url, &nats_host, Some((postgres, island))).await
    }

    async fn on(
        turn: tokio::sync::MutexGuard<'static, ()>,
        binary: &str,
        postgres: &str,
        nats_host: &str,
        apart: Option<(Postgres, Island)>,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let bus = format!("{nats_host}:{}", free_port());
        let host = |node| match (&apart, node) {
            (None, _) => "127.0.0.1".to_owned(),
            (Some((_, island)), 0) => island.there(Link::Http),
            (Some((_, island)), _) => island.here(Link::Http),
        };
        let mut fleet = Self {
            nodes: (0..3)
                .map(|node| Node { process: None, address: format!("{}:{}", host(node), free_port()) })
                .collect(),
            nats: nats(&bus, &folder),
            bus,
            database: database(postgres).await,
            binary: binary.to_owned(),
            folder,
            urls: Arc::new(Mutex::new(vec![None; 3])),
            apart,
            _turn: turn,
        };
        wait_for(&fleet.bus).await;
        for node in 0..3 {
            fleet.begin(node);
        }
        fleet.settle().await;
        fleet
    }

    pub fn postgres(&self) -> &Postgres {
        &self.apart.as_ref().expect("a fleet that was started apart").0
    }

    pub fn island(&self) -> &Island {
        &self.apart.as_ref().expect("a fleet that was started apart").1
    }

    /// Starts a node, without waiting for it to be ready.
    pub fn begin(&mut self, node: usize) {
        let address = self.nodes[node].address.clone();
        let mut command = match &self.apart {
            Some((_, island)) if node == 0 => island.command(&self.binary),
            _ => Command::new(&self.binary),
        };
        let mut child = command
            .args(["serve", "--listen", &address, "--database", &self.database])
            .args(["--bus", &format!("nats://{}", self.bus), "--data"])
            .arg(self.folder.path().join(format!("node-{node}")))
            // No option: an older hub that is tested does not know it.
            .env("HUB_BLOBS", self.folder.path().join("blobs"))
            .env("HUB_LOG", std::env::var("HUB_LOG").unwrap_or_else(|_| "error".to_owned()))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().starts_with("listening on"));
        self.nodes[node].process = Some(Daemon(child));
        self.urls.lock().unwrap()[node] = Some(format!("http://{address}"));
    }

    /// Waits until every node that runs is ready.
    pub async fn settle(&self) {
        for node in 0..3 {
            if self.nodes[node].process.is_some() {
                until(async || self.readiness(node).await == Some(json!([]))).await;
            }
        }
    }

    /// What a node says it lacks; none where it does not answer.
    pub async fn readiness(&self, node: usize) -> Option<Value> {
        let url = format!("http://{}/readyz", self.nodes[node].address);
        let answer = http_client::client().ok()?.get(url).timeout(Duration::from_secs(2)).send().await.ok()?;
        Some(answer.json::<Value>().await.ok()?["lacks"].clone())
    }

    pub fn kill(&mut self, node: usize) {
        self.urls.lock().unwrap()[node] = None;
        if let Some(mut process) = self.nodes[node].process.take() {
            process.0.kill().unwrap();
            process.0.wait().unwrap();
        }
    }

    /// Asks a node to end, and waits until it has.
    pub fn end(&mut self, node: usize) -> Duration {
        let began = Instant::now();
        self.ask_to_end(node).wait();
        began.elapsed()
    }

    /// Asks a node to end.
    pub fn ask_to_end(&mut self, node: usize) -> Ending {
        self.urls.lock().unwrap()[node] = None;
        let process = self.nodes[node].process.take().unwrap();
        signal(&process.0, "-TERM");
        Ending(process)
    }

    /// Puts another binary in the place of a node's, as an operator would: clients still know where it was, and what they
    /// notice of it is up to the hub. How long the node took to end its streams after it was asked to stop.
    pub async fn replace(&mut self, node: usize, binary: &str, streams: JoinSet<()>) -> Duration {
        let began = Instant::now();
        let mut process = self.nodes[node].process.take().unwrap();
        signal(&process.0, "-TERM");
        streams.join_all().await;
        let took = began.elapsed();
        let status = tokio::task::spawn_blocking(move || process.0.wait().unwrap()).await.unwrap();
        assert!(status.success(), "{status}");
        binary.clone_into(&mut self.binary);
        self.begin(node);
        self.settle().await;
        took
    }

    /// Holds up whatever needs a table, until it is let go.
    pub async fn hold(&self, table: &str) -> Held {
        let mut connection = PgConnection::connect(&self.database).await.unwrap();
        connection.execute("BEGIN").await.unwrap();
        connection.execute(AssertSqlSafe(format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))).await.unwrap();
        Held(connection)
    }

    /// Changes the database behind the hub's back.
    pub async fn sql(&self, statement: &'static str) {
        PgConnection::connect(&self.database).await.unwrap().execute(statement).await.unwrap();
    }

    /// A node stands still, and does not know it.
    pub fn freeze(&self, node: usize) {
        signal(&self.nodes[node].process.as_ref().unwrap().0, "-STOP");
    }

    pub fn thaw(&self, node: usize) {
        signal(&self.nodes[node].process.as_ref().unwrap().0, "-CONT");
    }

    pub fn stop_nats(&mut self) {
        let _ = self.nats.0.kill();
        let _ = self.nats.0.wait();
    }

    pub async fn restart_nats(&mut self) {
        self.stop_nats();
        self.nats = nats(&self.bus, &self.folder);
        wait_for(&self.bus).await;
    }

    /// A new network's owner.
    pub fn network(&self, name: &str) -> Client {
        let output = Command::new(env!("CARGO_BIN_EXE_hub"))
            .args(["network", "create", name, "--json", "--database", &self.database, "--data"])
            .arg(self.folder.path())
            .output()
            .unwrap();
        let made: Value = serde_json::from_slice(&output.stdout).unwrap();
        self.client(made["apiKey"].as_str().unwrap())
    }

    pub fn client(&self, key: &str) -> Client {
        // A connection that was idle for longer may be closed at any moment, also while something is sent on it.
        let http = http_client::builder().unwrap().pool_idle_timeout(Duration::from_secs(1)).build().unwrap();
        Client { http, urls: Arc::clone(&self.urls), key: key.to_owned(), next: Arc::default() }
    }
}

fn nats(address: &str, folder: &TempDir) -> Daemon {
    let (host, port) = address.split_once(':').unwrap();
    let server = Command::new("nats-server")
        .args(["--addr", host, "--port", port, "--jetstream", "--store_dir"])
        .arg(folder.path().join("nats"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Daemon(server.expect("nats-server is installed (Debian's package nats-server)"))
}

async fn wait_for(address: &str) {
    until(async || tokio::net::TcpStream::connect(address).await.is_ok()).await;
}

/// A database of its own on a PostgreSQL.
async fn database(url: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("cluster_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let mut server = PgConnection::connect(url).await.unwrap();
    server.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).await.unwrap();
    server.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    format!("{}/{name}", url.rsplit_once('/').unwrap().0)
}

pub async fn until(holds: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < PATIENCE, "it does not come about");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What came back.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Answer {
    pub fn expect(&self, status: u16) -> &Value {
        assert_eq!(self.status, status, "{}", self.body);
        &self.body
    }
}

/// A connector that knows all nodes.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    urls: Arc<Mutex<Vec<Option<String>>>>,
    pub key: String,
    next: Arc<AtomicUsize>,
}

impl Client {
    /// The same caller, who does not know of a node.
    pub fn without(&self, node: usize) -> Self {
        let mut urls = self.urls.lock().unwrap().clone();
        urls[node] = None;
        Self { urls: Arc::new(Mutex::new(urls)), ..self.clone() }
    }

    /// Asks one node once; none where no answer came.
    pub async fn ask(
        &self,
        node: usize,
        method: &Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Option<Answer> {
        let mut request = self.request(node, method, path)?;
        if let Some(body) = body {
            request = request.json(body);
        }
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        let response = request.timeout(Duration::from_secs(10)).send().await.ok()?;
        let status = response.status().as_u16();
        let bytes = response.bytes().await.ok()?;
        Some(Answer { status, body: serde_json::from_slice(&bytes).unwrap_or_default() })
    }

    /// Asks the next node, once.
    pub async fn once(&self, method: &Method, path: &str, body: Option<&Value>) -> Option<Answer> {
        self.ask(self.turn(), method, path, body, None).await
    }

    fn turn(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Asks one node after the other until one answers. `key`: what makes it one effect.
    pub async fn surely(&self, method: Method, path: &str, body: Option<Value>, key: Option<&str>) -> Answer {
        let began = Instant::now();
        loop {
            match self.ask(self.turn(), &method, path, body.as_ref(), key).await {
                Some(answer) if answer.status != 503 => return answer,
                other => assert!(began.elapsed() < PATIENCE, "no node answers {path}: {other:?}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.surely(Method::GET, path, None, None).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        self.surely(Method::POST, path, Some(body), None).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Answer {
        self.surely(Method::PUT, path, Some(body), None).await
    }

    /// A request to a node; none where it is known to be down.
    pub fn request(&self, node: usize, method: &Method, path: &str) -> Option<RequestBuilder> {
        let url = self.urls.lock().unwrap()[node % 3].clone()?;
        Some(self.http.request(method.clone(), format!("{url}{path}")).header("X-Service-Api-Key", &self.key))
    }

    /// Asks as a client that goes to the next node where one refuses its connection, and takes nothing else.
    pub async fn strictly(&self, method: Method, path: &str, body: Value, key: Option<&str>) -> Value {
        let with = |request: RequestBuilder| match key {
            Some(key) => request.json(&body).header("Idempotency-Key", key),
            None => request.json(&body),
        };
        self.strictly_with(&method, path, with).await
    }

    /// As [`Self::strictly`], with something else in the request.
    pub async fn strictly_with(
        &self,
        method: &Method,
        path: &str,
        with: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Value {
        for _ in 0..100 {
            let request = with(self.request(self.turn(), method, path).unwrap());
            match request.timeout(Duration::from_secs(10)).send().await {
                Ok(answer) => {
                    let status = answer.status();
                    let body = answer.bytes().await.unwrap();
                    assert!(status.is_success(), "{method} {path}: {status} {}", String::from_utf8_lossy(&body));
                    return serde_json::from_slice(&body).unwrap_or_default();
                }
                Err(error) => assert!(error.is_connect(), "{method} {path}: {error:?}"),
            }
        }
        panic!("no node takes a connection");
    }

    /// A stream's request, at a node.
    pub fn stream(&self, node: usize, server: &str, last: Option<&str>) -> Option<RequestBuilder> {
        let request = self.request(node, &Method::GET, &format!("/api/plugin/events?serverId={server}"))?;
        Some(match last {
            Some(last) => request.header("Last-Event-ID", last),
            None => request,
        })
    }

    pub async fn register(&self, server: &str, more: Value) {
        let mut body = json!({"serverId": server, "serverType": "lobby", "gameType": "MINECRAFT", "role": "GAME",
            "maxPlayers": 10, "host": "10.0.0.1", "port": 25565});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post("/api/plugin/servers/register", body).await.expect(201);
    }
}

/// The UUID of a made-up player.
pub fn uuid(player: usize) -> String {
    format!("00000000-0000-4000-8000-{player:012}")
}
