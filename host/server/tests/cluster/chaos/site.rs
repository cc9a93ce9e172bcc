//! The processes of a hub: nodes, PostgreSQL and NATS, and every link between them.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hub_testing::ports::free_port;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection as _, Executor as _, PgConnection};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::client::{At, Recorder, Urls};
use super::disks::Disk;
use super::links::{End, Links};
use super::report::Checked;
use super::served::Disturbance;
use super::stalls::Stalls;
use crate::fleet::{CURRENT, database};
use crate::isolation::Postgres;

/// Nodes that always run; one more joins and leaves.
pub const NODES: usize = 3;
/// Time for a node to stop or start before the run fails.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Content of the bus's disk when it comes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BusStore {
    Same,
    /// Content from this long before.
    Older(Duration),
    Empty,
}

pub struct Site {
    pub links: Links,
    pub urls: Urls,
    pub recorder: Recorder,
    pub disturbances: Mutex<Vec<Disturbance>>,
    pub stalls: Stalls,
    /// Times and amounts by which the clock of a serving node was set back.
    pub set_back: Mutex<Vec<(At, Duration)>>,
    /// Findings during faults, by history.
    pub found: Mutex<Vec<(&'static str, Checked)>>,
    nodes: Vec<tokio::sync::Mutex<Node>>,
    /// URLs of the database over the links of all nodes.
    linked_databases: Vec<String>,
    nats: tokio::sync::Mutex<Option<Child>>,
    bus: SocketAddr,
    postgres: tokio::sync::Mutex<Postgres>,
    /// URL of the database without a link.
    pub database: String,
    /// File with the offset of PostgreSQL's clock, if it can be falsified.
    database_clock: Option<PathBuf>,
    pub node_disks: Vec<Disk>,
    pub bus_disk: Disk,
    pub blob_disk: Disk,
    pub database_disk: Disk,
    pub folder: PathBuf,
}

pub struct Node {
    number: usize,
    process: Option<Child>,
    pub address: SocketAddr,
    /// Its arguments, which make it reach all services through links.
    pub arguments: Vec<String>,
    pub binary: String,
    /// File with the offset of its clock.
    clock: Option<PathBuf>,
}

impl Node {
    pub fn signal(&self, signal: Signal) {
        let pid = self.process.as_ref().and_then(Child::id).and_then(|pid| Pid::from_raw(pid as i32));
        if let Some(pid) = pid {
            let _ = kill_process(pid, signal);
        }
    }

    /// Sets its clock by the offset in the file; effective at the next start.
    pub fn set_clock(&mut self, file: Option<PathBuf>) {
        self.clock = file;
    }
}

/// The library that falsifies the clock of a process.
pub fn faketime() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten();
    folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1")).find(|library| library.exists())
}

/// Variables that set a process's clock by the offset in the file.
fn clock_variables(file: &Path) -> Vec<(&'static str, String)> {
    let library = faketime().map(|library| library.display().to_string());
    let fixed =
        [("FAKETIME_CACHE_DURATION", "1"), ("FAKETIME_DONT_FAKE_MONOTONIC", "1"), ("FAKETIME_DISABLE_SHM", "1")];
    let fixed = fixed.map(|(name, value)| (name, value.to_owned()));
    let mut variables = vec![("FAKETIME_TIMESTAMP_FILE", file.display().to_string())];
    variables.extend(library.map(|library| ("LD_PRELOAD", library)));
    variables.extend(fixed);
    variables
}

/// Writes the offset of a clock, which processes read within a second.
pub fn set_clock(file: &Path, seconds: i32) {
    // Read while it is written, an empty file would end the process.
    let new = file.with_extension("new");
    std::fs::write(&new, format!("{seconds:+}")).unwrap();
    std::fs::rename(new, file).unwrap();
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

impl Site {
    /// Starts all processes in a folder, which keeps the logs.
    pub async fn start(folder: &Path, recorder: Recorder) -> Arc<Self> {
        let disk = |name: &str, megabytes| Disk::new(folder.join(name), megabytes);
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        let database_disk = disk("postgres", 600);
        let database_clock = faketime().map(|_| folder.join("database.clock"));
        let falsified = database_clock.as_deref().map(clock_variables).unwrap_or_default();
        if let Some(file) = &database_clock {
            set_clock(file, 0);
        }
        let postgres = Postgres::start_in(database_disk.path(), "127.0.0.1", free_port(), falsified);
        let postgres_address = local(port_of(&postgres.url));
        let links = Links::default();
        let watched = links.clone();
        let stalls = Stalls::watch(recorder.clone(), move || watched.pids());
        let bus = local(free_port());
        let database = database(&postgres.url).await;
        let (node_disks, blob_disk) = ((0..=NODES).map(|node| disk(&format!("node-{node}"), 8)), disk("blobs", 64));
        let mut site = Self {
            links,
            urls: Arc::default(),
            recorder,
            disturbances: Mutex::default(),
            stalls,
            set_back: Mutex::default(),
            found: Mutex::default(),
            nodes: vec![],
            linked_databases: vec![],
            nats: tokio::sync::Mutex::default(),
            bus,
            postgres: tokio::sync::Mutex::new(postgres),
            database,
            database_clock,
            node_disks: node_disks.collect(),
            bus_disk: disk("nats", 64),
            blob_disk,
            database_disk,
            folder: folder.to_owned(),
        };
        let nats = site.start_bus().await;
        *site.nats.get_mut() = Some(nats);
        for number in 0..=NODES {
            let node = site.node_of(number, postgres_address).await;
            let at = node.arguments.iter().position(|argument| argument == "--database").unwrap();
            site.linked_databases.push(node.arguments[at + 1].clone());
            site.nodes.push(tokio::sync::Mutex::new(node));
        }
        let site = Arc::new(site);
        for number in 0..NODES {
            assert!(site.start_node(&mut *site.node(number).await, PATIENCE).await, "node {number} does not start");
        }
        for number in 0..NODES {
            site.wait_until_ready(&*site.node(number).await).await;
        }
        site
    }

    async fn node_of(&self, number: usize, postgres: SocketAddr) -> Node {
        let address = local(free_port());
        let database = self.links.to_service(number, End::Database, postgres).await;
        let bus = self.links.to_service(number, End::Bus, self.bus).await;
        let peers = self.links.to_node(number, address).await;
        let name = self.database.rsplit_once('/').unwrap().1;
        let arguments = [
            "serve",
            "--listen",
            &address.to_string(),
            "--node-url",
            &format!("http://{peers}"),
            "--database",
            &format!("postgres://postgres@{database}/{name}"),
            "--bus",
            &format!("nats://{bus}"),
            "--data",
            self.node_disks[number].path().to_str().unwrap(),
        ];
        let arguments = arguments.map(str::to_owned).to_vec();
        self.urls.lock().unwrap().push(None);
        Node { number, process: None, address, arguments, binary: CURRENT.to_owned(), clock: None }
    }

    /// A node, for operations on its process.
    pub async fn node(&self, number: usize) -> tokio::sync::MutexGuard<'_, Node> {
        self.nodes[number].lock().await
    }

    /// Starts a node like a supervisor does: again, if it ends at once. False if it does not run after this time.
    pub async fn start_node(&self, node: &mut Node, patience: Duration) -> bool {
        let give_up = self.recorder.now() + patience;
        while self.recorder.now() < give_up {
            let mut process = self.spawn(node);
            self.links.set_pid(node.number, process.id());
            let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
            let left = give_up.saturating_sub(self.recorder.now());
            let line = tokio::time::timeout(left, lines.next_line()).await;
            node.process = Some(process);
            if let Ok(Ok(Some(line))) = line {
                assert!(line.starts_with("listening on"), "{line}");
                self.urls.lock().unwrap()[node.number] = Some(format!("http://{}", node.address));
                return true;
            }
            self.kill(node).await;
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        false
    }

    fn spawn(&self, node: &Node) -> Child {
        let mut command = Command::new(&node.binary);
        command.args(&node.arguments);
        // Not an option, because an older hub under test may not know it.
        command.env("HUB_BLOBS", self.blob_disk.path());
        command.env("HUB_SECRETS_KEY", self.folder.join("secrets.key"));
        command.env("HUB_LOG", std::env::var("HUB_LOG").unwrap_or_else(|_| "info".to_owned()));
        if let Some(file) = &node.clock {
            command.envs(clock_variables(file));
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(self.log(&format!("node-{}", node.number)))
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    pub fn log(&self, name: &str) -> std::fs::File {
        let file = self.folder.join(format!("{name}.log"));
        std::fs::File::options().create(true).append(true).open(file).unwrap()
    }

    pub async fn kill(&self, node: &mut Node) {
        if let Some(mut process) = node.process.take() {
            let _ = process.kill().await;
        }
        self.links.set_pid(node.number, None);
    }

    /// Asks a node to stop, and waits until it has.
    pub async fn stop(&self, node: &mut Node) {
        node.signal(Signal::TERM);
        if let Some(process) = &mut node.process {
            let stopped = self.stalls.at_most(PATIENCE, &self.recorder, process.wait()).await;
            assert!(stopped.is_some(), "node {} does not stop", node.number);
        }
        self.kill(node).await;
    }

    /// Clients no longer know the node.
    pub fn forget_url(&self, node: &Node) {
        self.urls.lock().unwrap()[node.number] = None;
    }

    /// Waits for a node to be ready, with a time limit: a remaining fault is found by its users.
    pub async fn wait_until_ready(&self, node: &Node) {
        let url = format!("http://{}/readyz", node.address);
        let client = hub::http_client::client().unwrap();
        for _ in 0..100 {
            let answer = client.get(&url).timeout(Duration::from_secs(2)).send().await;
            if answer.is_ok_and(|answer| answer.status() == 200) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Maximum observed delay at `to` of an operation due after `from`: waits for the machine, and set-back clocks,
    /// which a node notices a moment later.
    pub fn lateness(&self, from: At, to: At) -> Duration {
        let set_back = self.set_back.lock().unwrap();
        let steps = set_back.iter().filter(|(at, _)| (from..=to).contains(at)).map(|(_, by)| *by);
        self.stalls.between(from, to) + steps.sum::<Duration>()
    }

    /// Adds to a history what a fault found out.
    pub fn note_found(&self, history: &'static str, found: Checked) {
        self.found.lock().unwrap().push((history, found));
    }

    /// URL of the database over a node's link.
    pub fn node_database(&self, number: usize) -> String {
        self.linked_databases[number].clone()
    }

    /// URL of a database of the same server that is not the hub's; none while another fault keeps the server away.
    pub async fn other_database(&self) -> Option<String> {
        let mut connection = PgConnection::connect(&self.database).await.ok()?;
        // It may exist.
        let _ = connection.execute("CREATE DATABASE other").await;
        Some(format!("{}/other", self.database.rsplit_once('/')?.0))
    }

    /// Sets the database's clock for a time.
    pub async fn skew_database(&self, seconds: i32, lasting: Duration) {
        let file = self.database_clock.as_deref().expect("a clock that can be falsified");
        set_clock(file, seconds);
        tokio::time::sleep(lasting).await;
        set_clock(file, 0);
        // Processes read it within a second.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }

    /// Replaces the database by what it was this long before: a promoted standby, or a restored copy.
    pub async fn go_back(&self, age: Duration, is_standby: bool) {
        let postgres = self.postgres.lock().await;
        let copy = self.folder.join("older-database");
        let from = self.recorder.now();
        // It is away, or its disk is full.
        if !tokio::task::block_in_place(|| postgres.back_up(&copy)) {
            return;
        }
        tokio::time::sleep(age).await;
        let wait = || tokio::time::sleep(Duration::from_millis(500));
        let stop = ["-m", "immediate", "-w", "stop"];
        let _ = tokio::task::block_in_place(|| postgres.command("pg_ctl", &stop).status());
        self.recorder.note_lost(from, self.recorder.now());
        // Another fault may keep the disk full.
        while !tokio::task::block_in_place(|| postgres.put_back(&copy, is_standby)) {
            wait().await;
        }
        while !tokio::task::block_in_place(|| postgres.try_start_server()) {
            wait().await;
        }
        while is_standby && !tokio::task::block_in_place(|| postgres.promote()) {
            wait().await;
        }
    }

    /// Records that a node could not answer since a time.
    pub fn note_disturbance(&self, node: usize, from: Duration) {
        let to = self.recorder.now();
        self.disturbances.lock().unwrap().push(Disturbance { node, from, to });
    }

    /// Crashes PostgreSQL, and starts it after this time.
    pub async fn restart_database(&self, down: Duration) {
        let postgres = self.postgres.lock().await;
        let run = |arguments: &[&str]| tokio::task::block_in_place(|| postgres.command("pg_ctl", arguments).status());
        // It may have ended by itself, on a full disk.
        let _ = run(&["-m", "immediate", "-w", "stop"]);
        tokio::time::sleep(down).await;
        // It does not start as long as another fault keeps its disk full.
        while !tokio::task::block_in_place(|| postgres.try_start_server()) {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }

    /// Kills NATS and starts it after this time.
    pub async fn restart_bus(&self, down: Duration, store: BusStore) {
        let mut nats = self.nats.lock().await;
        // The copy is elsewhere: another fault may keep the disk full.
        let (disk, copy) = (self.bus_disk.path().join("store"), self.folder.join("older-store"));
        if let BusStore::Older(age) = store {
            let pid = nats.as_ref().and_then(Child::id).and_then(|pid| Pid::from_raw(pid as i32));
            // The data written by now, like a disk whose cache is lost.
            let _ = kill_process(pid.unwrap(), Signal::STOP);
            assert!(replace(&disk, &copy));
            let _ = kill_process(pid.unwrap(), Signal::CONT);
            tokio::time::sleep(age).await;
        }
        if let Some(mut process) = nats.take() {
            let _ = process.kill().await;
        }
        match store {
            BusStore::Same => {}
            BusStore::Older(_) => {
                while !replace(&copy, &disk) {
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
            }
            BusStore::Empty => std::fs::remove_dir_all(&disk).unwrap(),
        }
        tokio::time::sleep(down).await;
        *nats = Some(self.start_bus().await);
    }

    async fn start_bus(&self) -> Child {
        // The stream reserves more than the small disk has.
        let store = self.bus_disk.path().join("store");
        let config = format!("jetstream {{ store_dir: {store:?}, max_file_store: 4GB }}");
        let file = self.folder.join("nats.conf");
        std::fs::write(&file, config).unwrap();
        let mut command = Command::new("nats-server");
        command.args(["--addr", "127.0.0.1", "--port", &self.bus.port().to_string(), "--config"]).arg(file);
        command.stdout(Stdio::null()).stderr(self.log("nats")).kill_on_drop(true);
        let process = command.spawn().expect("nats-server is installed (Debian's package nats-server)");
        while tokio::net::TcpStream::connect(self.bus).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        process
    }

    /// Creates a network; returns its owner's key.
    pub async fn network(&self, name: &str) -> String {
        let mut command = Command::new(CURRENT);
        command.args(["admin", "network", "create", name, "--json", "--database", &self.database, "--data"]);
        let output = command.arg(self.folder.join("cli")).output().await.unwrap();
        let made: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        made["apiKey"].as_str().unwrap().to_owned()
    }
}

fn port_of(url: &str) -> u16 {
    let port = url.rsplit_once(':').unwrap().1;
    port.split_once('/').unwrap().0.parse().unwrap()
}

/// Replaces a folder by a copy of another; false if the disk is full.
fn replace(from: &Path, to: &Path) -> bool {
    let _ = std::fs::remove_dir_all(to);
    std::process::Command::new("cp").arg("-r").args([from, to]).status().unwrap().success()
}
