//! Three nodes, their NATS and database.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hub::http_client;
use hub_testing::ports::free_port;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tempfile::TempDir;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::task::JoinSet;

use crate::client::Client;
use crate::isolation::{Link, NetworkNamespace, Postgres};

/// Time limit of retries by clients and tests. Nothing takes this long when all is well.
pub const TIMEOUT: Duration = Duration::from_secs(120);

/// The binary under test.
pub const CURRENT: &str = env!("CARGO_BIN_EXE_hub");

/// Three fleets at a time: their nodes mostly wait for each other, but the machine is small, and they compile modules.
static FLEETS: Semaphore = Semaphore::const_new(3);

pub struct Fleet {
    nodes: Vec<Node>,
    nats: Daemon,
    /// Address and port of NATS.
    bus: String,
    database: String,
    /// The binary of nodes that are started.
    binary: String,
    /// Variables of nodes that are started.
    environment: Vec<(&'static str, String)>,
    folder: TempDir,
    urls: Arc<Mutex<Vec<Option<String>>>>,
    /// The fleet's own database.
    postgres: Option<Postgres>,
    /// Namespace of the first node.
    namespace: Option<NetworkNamespace>,
    _place: SemaphorePermit<'static>,
}

struct Node {
    process: Option<Daemon>,
    address: String,
}

/// A process that is killed when the test ends.
pub struct Daemon(pub Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // A paused process does not handle signals.
        signal(&self.0, "-CONT");
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Owner of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardLease {
    pub url: String,
    pub fence: i64,
}

/// A node that was asked to stop.
pub struct StoppingNode(Daemon);

impl StoppingNode {
    /// Waits until it has stopped.
    pub fn wait(mut self) {
        assert!(self.0.0.wait().unwrap().success());
    }
}

/// Locks that a transaction holds.
pub struct TableLock(PgConnection);

impl TableLock {
    /// Waits until this many statements wait for the lock.
    pub async fn wait_for_blocked(&mut self, statements: i64) {
        let count = "SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let began = Instant::now();
        while sqlx::query_scalar::<_, i64>(count).fetch_one(&mut self.0).await.unwrap() < statements {
            assert!(began.elapsed() < TIMEOUT, "fewer than {statements} statements wait");
            // Within a transaction the activity is a snapshot.
            self.0.execute("SELECT pg_stat_clear_snapshot()").await.unwrap();
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub async fn release(mut self) {
        self.0.execute("COMMIT").await.unwrap();
    }
}

fn signal(child: &Child, name: &str) {
    let _ = Command::new("kill").args([name, &child.id().to_string()]).stderr(Stdio::null()).status();
}

impl Fleet {
    pub async fn start() -> Self {
        Self::start_with(CURRENT).await
    }

    /// Variant of [`Self::start`] with another binary.
    pub async fn start_with(binary: &str) -> Self {
        let url = std::env::var("HUB_TEST_POSTGRES").expect("HUB_TEST_POSTGRES is the URL of a PostgreSQL");
        Self::on(FLEETS.acquire().await.unwrap(), binary, vec![], &url, None, None).await
    }

    /// A fleet whose nodes have few connections to the database.
    pub async fn start_with_connections(connections: u32) -> Self {
        Self::start_with_variables(vec![("HUB_DATABASE_CONNECTIONS", connections.to_string())]).await
    }

    /// A fleet whose database has these variables.
    pub async fn start_with_database(environment: Vec<(&'static str, String)>) -> Self {
        let place = FLEETS.acquire().await.unwrap();
        let postgres = Postgres::start("127.0.0.1", free_port(), environment);
        let url = postgres.url.clone();
        Self::on(place, CURRENT, vec![], &url, Some(postgres), None).await
    }

    /// A fleet whose nodes and database have these variables.
    pub async fn start_all_with(environment: Vec<(&'static str, String)>) -> Self {
        let place = FLEETS.acquire().await.unwrap();
        let postgres = Postgres::start("127.0.0.1", free_port(), environment.clone());
        let url = postgres.url.clone();
        Self::on(place, CURRENT, environment, &url, Some(postgres), None).await
    }

    /// A fleet whose nodes run with these variables.
    pub async fn start_with_variables(environment: Vec<(&'static str, String)>) -> Self {
        let url = std::env::var("HUB_TEST_POSTGRES").expect("HUB_TEST_POSTGRES is the URL of a PostgreSQL");
        Self::on(FLEETS.acquire().await.unwrap(), CURRENT, environment, &url, None, None).await
    }

    /// A fleet whose database can be restarted and whose first node can be disconnected.
    pub async fn start_isolated() -> Self {
        let place = FLEETS.acquire().await.unwrap();
        let namespace = NetworkNamespace::new();
        let postgres = Postgres::start(&namespace.host_address(Link::Database), free_port(), vec![]);
        let url = postgres.url.clone();
        Self::on(place, CURRENT, vec![], &url, Some(postgres), Some(namespace)).await
    }

    async fn on(
        place: SemaphorePermit<'static>,
        binary: &str,
        environment: Vec<(&'static str, String)>,
        postgres_url: &str,
        postgres: Option<Postgres>,
        namespace: Option<NetworkNamespace>,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        let local = || "127.0.0.1".to_owned();
        let nats_host = namespace.as_ref().map_or_else(local, |namespace| namespace.host_address(Link::Bus));
        let bus = format!("{nats_host}:{}", free_port());
        let host = |node| match (&namespace, node) {
            (None, _) => local(),
            (Some(namespace), 0) => namespace.namespace_address(Link::Http),
            (Some(namespace), 1) => namespace.second_address(),
            (Some(namespace), _) => namespace.host_address(Link::Http),
        };
        let mut fleet = Self {
            nodes: (0..3)
                .map(|node| Node { process: None, address: format!("{}:{}", host(node), free_port()) })
                .collect(),
            nats: nats(&bus, &folder),
            bus,
            database: database(postgres_url).await,
            binary: binary.to_owned(),
            environment,
            folder,
            urls: Arc::new(Mutex::new(vec![None; 3])),
            postgres,
            namespace,
            _place: place,
        };
        wait_for(&fleet.bus).await;
        for node in 0..3 {
            fleet.start_node(node);
        }
        fleet.wait_until_ready().await;
        fleet
    }

    pub fn postgres(&self) -> &Postgres {
        self.postgres.as_ref().expect("a fleet with a database of its own")
    }

    pub fn namespace(&self) -> &NetworkNamespace {
        self.namespace.as_ref().expect("a fleet that was started isolated")
    }

    /// Starts a node, without waiting for it to be ready.
    pub fn start_node(&mut self, node: usize) {
        self.start_node_with(node, &[]);
    }

    /// Variant of [`Self::start_node`] with more variables.
    pub fn start_node_with(&mut self, node: usize, environment: &[(&str, String)]) {
        let spawned = self.spawn_node(node, environment);
        self.adopt(node, spawned);
    }

    /// Starts a node that may wait for something.
    pub fn spawn_node(&self, node: usize, environment: &[(&str, String)]) -> Daemon {
        Daemon(self.command(node, environment).spawn().unwrap())
    }

    /// Takes a node that was spawned into the fleet once it serves.
    pub fn adopt(&mut self, node: usize, mut spawned: Daemon) {
        let mut lines = BufReader::new(spawned.0.stdout.take().unwrap()).lines();
        assert!(lines.next().unwrap().unwrap().starts_with("listening on"));
        self.nodes[node].process = Some(spawned);
        self.urls.lock().unwrap()[node] = Some(self.url(node));
    }

    /// Variant of [`Self::start_node`] that makes the others reach it at this URL.
    pub fn start_node_at(&mut self, node: usize, url: &str) {
        self.start_node_with(node, &[("HUB_NODE_URL", url.to_owned())]);
    }

    /// Starts a node that is expected to refuse; returns its output.
    pub fn refused_start(&self, node: usize, environment: &[(&str, String)]) -> String {
        let child = self.command(node, environment).stderr(Stdio::piped()).spawn().unwrap();
        let mut node = Daemon(child);
        let began = Instant::now();
        while node.0.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < Duration::from_secs(15), "it runs");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(!node.0.wait().unwrap().success());
        std::io::read_to_string(node.0.stderr.take().unwrap()).unwrap()
    }

    /// Data folder of a node.
    pub fn data(&self, node: usize) -> PathBuf {
        self.folder.path().join(format!("node-{node}"))
    }

    /// URL of a node.
    pub fn url(&self, node: usize) -> String {
        format!("http://{}", self.nodes[node].address)
    }

    fn command(&self, node: usize, environment: &[(&str, String)]) -> Command {
        let mut command = match &self.namespace {
            Some(namespace) if node == 0 => namespace.command(&self.binary),
            _ => Command::new(&self.binary),
        };
        command
            .args(["serve", "--listen", &self.nodes[node].address, "--database", &self.database])
            .env("HUB_BUS", self.bus())
            .arg("--data")
            .arg(self.data(node))
            // Not an option, because an older hub under test does not know it.
            .env("HUB_BLOBS", self.blobs())
            .env("HUB_LOG", std::env::var("HUB_LOG").unwrap_or_else(|_| "error".to_owned()))
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped());
        command
    }

    /// Hundredths of a second that a running node's threads have computed, which is Linux's unit for programs.
    pub fn computed(&self, node: usize) -> u64 {
        let process = self.nodes[node].process.as_ref().unwrap().0.id();
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        // Behind the program's name, which may contain anything.
        let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    /// Waits until every running node is ready, and reports no faults.
    pub async fn wait_until_ready(&self) {
        for node in 0..3 {
            if self.nodes[node].process.is_some() {
                wait_until(async || self.faults(node).await == Some(vec![])).await;
            }
        }
    }

    /// Faults in a node's readiness report; `None` if it does not answer.
    pub async fn readiness(&self, node: usize) -> Option<Value> {
        Some(self.health(node).await?["lacks"].clone())
    }

    /// Names of all faults that a node reports; `None` if it does not answer.
    pub async fn faults(&self, node: usize) -> Option<Vec<String>> {
        let health = self.health(node).await?;
        let faults = health["faults"].as_array()?.iter();
        Some(faults.map(|fault| fault["name"].as_str().unwrap().to_owned()).collect())
    }

    /// Whole answer of a node at `/readyz`; `None` without one.
    pub async fn health(&self, node: usize) -> Option<Value> {
        let url = format!("http://{}/readyz", self.nodes[node].address);
        let answer = http_client::client().ok()?.get(url).timeout(Duration::from_secs(2)).send().await.ok()?;
        answer.json().await.ok()
    }

    /// The folder of blobs.
    pub fn blobs(&self) -> PathBuf {
        self.folder.path().join("blobs")
    }

    /// The URL of the database.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Name of the stream of events.
    pub async fn stream(&self) -> String {
        let mut connection = PgConnection::connect(&self.database).await.unwrap();
        let id = sqlx::query_scalar("SELECT cluster_id FROM hub_identity").fetch_one(&mut connection).await;
        let id: String = id.unwrap();
        format!("hub-{id}-events")
    }

    /// The URL of NATS.
    pub fn bus(&self) -> String {
        format!("nats://{}", self.bus)
    }

    /// A node's address and port.
    pub fn address(&self, node: usize) -> &str {
        &self.nodes[node].address
    }

    pub fn kill(&mut self, node: usize) {
        self.urls.lock().unwrap()[node] = None;
        if let Some(mut process) = self.nodes[node].process.take() {
            process.0.kill().unwrap();
            process.0.wait().unwrap();
        }
    }

    /// Asks a node to stop, and waits until it has.
    pub fn stop(&mut self, node: usize) -> Duration {
        let began = Instant::now();
        self.request_stop(node).wait();
        began.elapsed()
    }

    /// Asks a node to stop.
    pub fn request_stop(&mut self, node: usize) -> StoppingNode {
        self.urls.lock().unwrap()[node] = None;
        let process = self.nodes[node].process.take().unwrap();
        signal(&process.0, "-TERM");
        StoppingNode(process)
    }

    /// Restarts a node with another binary, like an operator would: clients keep its address, and the hub must hide the
    /// restart from them. Returns the time between the request to stop and the end of the node's streams.
    pub async fn replace(&mut self, node: usize, binary: &str, streams: JoinSet<()>) -> Duration {
        let began = Instant::now();
        let mut process = self.nodes[node].process.take().unwrap();
        signal(&process.0, "-TERM");
        streams.join_all().await;
        let took = began.elapsed();
        let status = tokio::task::spawn_blocking(move || process.0.wait().unwrap()).await.unwrap();
        assert!(status.success(), "{status}");
        binary.clone_into(&mut self.binary);
        self.start_node(node);
        self.wait_until_ready().await;
        took
    }

    /// Blocks every statement that needs a table, until the lock is released.
    pub async fn lock_table(&self, table: &str) -> TableLock {
        let mut connection = PgConnection::connect(&self.database).await.unwrap();
        connection.execute("BEGIN").await.unwrap();
        connection.execute(AssertSqlSafe(format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"))).await.unwrap();
        TableLock(connection)
    }

    /// Locks the rows that a `SELECT … FOR UPDATE` finds, until the lock is released; there must be some.
    pub async fn lock_rows(&self, select: String) -> TableLock {
        let mut connection = PgConnection::connect(&self.database).await.unwrap();
        connection.execute("BEGIN").await.unwrap();
        let rows = sqlx::query(AssertSqlSafe(select)).fetch_all(&mut connection).await.unwrap();
        assert!(!rows.is_empty());
        TableLock(connection)
    }

    /// Changes the database directly.
    pub async fn sql(&self, statement: &str) {
        let statement = AssertSqlSafe(statement.to_owned());
        PgConnection::connect(&self.database).await.unwrap().execute(statement).await.unwrap();
    }

    /// Number of unexpired leases on shards of the node with this URL.
    pub async fn shards_at(&self, url: &str) -> i64 {
        let mut connection = PgConnection::connect(&self.database).await.unwrap();
        let count = "SELECT COUNT(*) FROM shard_leases h JOIN hub_nodes n ON n.node = h.node
                     WHERE n.url = $1 AND h.expires_at > EXTRACT(EPOCH FROM clock_timestamp()) * 1000";
        sqlx::query_scalar(count).bind(url).fetch_one(&mut connection).await.unwrap()
    }

    /// Numeric results of a query.
    pub async fn numbers(&self, query: &str) -> Vec<i64> {
        let mut connection = PgConnection::connect(&self.database).await.unwrap();
        sqlx::query_scalar(AssertSqlSafe(query.to_owned())).fetch_all(&mut connection).await.unwrap()
    }

    /// Waits until the shards are spread over the running nodes.
    pub async fn wait_until_balanced(&self) {
        let running = self.nodes.iter().filter(|node| node.process.is_some()).count();
        wait_until(async || {
            let leases = self.leases().await;
            let owned = |node: &str| leases.values().filter(|lease| lease.url == node).count();
            (0..self.nodes.len())
                .all(|node| self.nodes[node].process.is_none() || owned(&self.url(node)) >= 250 / running)
        })
        .await;
    }

    /// The unexpired leases, by shard.
    pub async fn leases(&self) -> HashMap<i32, ShardLease> {
        let query = "SELECT h.shard, n.url, h.fence FROM shard_leases h JOIN hub_nodes n ON n.node = h.node
                     WHERE h.expires_at > EXTRACT(EPOCH FROM clock_timestamp()) * 1000";
        let mut connection = PgConnection::connect(&self.database).await.unwrap();
        let rows: Vec<(i32, String, i64)> = sqlx::query_as(query).fetch_all(&mut connection).await.unwrap();
        rows.into_iter().map(|(shard, url, fence)| (shard, ShardLease { url, fence })).collect()
    }

    /// Pauses a node's process, which it can't notice.
    pub fn pause(&self, node: usize) {
        signal(&self.nodes[node].process.as_ref().unwrap().0, "-STOP");
    }

    pub fn resume(&self, node: usize) {
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

    /// Restarts NATS; returns a copy of its store from between.
    pub async fn save_bus(&mut self) -> TempDir {
        self.stop_nats();
        let copy = TempDir::new().unwrap();
        copy_folder(&self.folder.path().join("nats"), copy.path());
        self.restart_nats().await;
        copy
    }

    /// Restarts NATS with another store, like after a power cut.
    pub async fn restore_bus(&mut self, store: TempDir) {
        self.stop_nats();
        let folder = self.folder.path().join("nats");
        std::fs::remove_dir_all(&folder).unwrap();
        copy_folder(store.path(), &folder);
        self.restart_nats().await;
    }

    pub async fn restart_nats_without_jetstream(&mut self) {
        self.stop_nats();
        let (host, port) = self.bus.split_once(':').unwrap();
        self.nats = Daemon(nats_command(host, port).spawn().unwrap());
        wait_for(&self.bus).await;
    }

    /// Creates a network; returns a client with its owner's key.
    pub fn network(&self, name: &str) -> Client {
        let output = Command::new(env!("CARGO_BIN_EXE_hub"))
            .args(["admin", "network", "create", name, "--json", "--database", &self.database, "--data"])
            .arg(self.folder.path())
            .output()
            .unwrap();
        let made: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        self.client(made["apiKey"].as_str().unwrap())
    }

    /// Confirms the clock that a process with these variables sees.
    pub fn confirm_clock(&self, environment: &[(&str, String)]) {
        let output = Command::new(env!("CARGO_BIN_EXE_hub"))
            .args(["admin", "clock", "confirm", "--database", &self.database, "--data"])
            .arg(self.folder.path())
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// At least this many networks, and as many as it takes until every node with shards owns one: they are spread at
    /// random.
    pub async fn networks_everywhere(&self, name: &str, least: usize) -> Vec<Client> {
        let leases = self.leases().await;
        let nodes: HashSet<_> = leases.values().map(|lease| &lease.url).collect();
        let (mut networks, mut owners) = (vec![], HashSet::new());
        while networks.len() < least || owners.len() < nodes.len() {
            let network = self.network(&format!("{name}-{}", networks.len()));
            owners.extend(leases.get(&shard_of(&network.key)).map(|lease| &lease.url));
            networks.push(network);
        }
        networks
    }

    pub fn client(&self, key: &str) -> Client {
        // A node may close an idle connection at any moment, also while a request is sent on it.
        let http = http_client::builder().unwrap().pool_idle_timeout(Duration::from_secs(1)).build().unwrap();
        Client::new(http, Arc::clone(&self.urls), key)
    }
}

fn nats(address: &str, folder: &TempDir) -> Daemon {
    let (host, port) = address.split_once(':').unwrap();
    let server = nats_command(host, port).args(["--jetstream", "--store_dir"]).arg(folder.path().join("nats")).spawn();
    Daemon(server.expect("nats-server is installed (Debian's package nats-server)"))
}

fn nats_command(host: &str, port: &str) -> Command {
    let mut command = Command::new("nats-server");
    command.args(["--addr", host, "--port", port]).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Waits until a process listens there.
pub async fn wait_for(address: &str) {
    wait_until(async || tokio::net::TcpStream::connect(address).await.is_ok()).await;
}

/// Creates a database.
pub async fn database(url: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("cluster_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let mut server = PgConnection::connect(url).await.unwrap();
    server.execute(AssertSqlSafe(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))).await.unwrap();
    server.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.unwrap();
    format!("{}/{name}", url.rsplit_once('/').unwrap().0)
}

/// The routing id of a key is the number of its network's shard.
pub fn shard_of(key: &str) -> i32 {
    i32::from_str_radix(&key[4..6], 16).unwrap()
}

pub async fn wait_until(holds: impl AsyncFn() -> bool) {
    let began = Instant::now();
    while !holds().await {
        assert!(began.elapsed() < TIMEOUT, "the condition does not come true");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A test player's UUID.
pub fn uuid(player: usize) -> String {
    format!("00000000-0000-4000-8000-{player:012}")
}
