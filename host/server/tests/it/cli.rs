//! The built binary, started like by its user.

use std::fs::{File, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use hub::config::Settings;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _, PgConnection};
use tempfile::TempDir;
use tokio::sync::mpsc::UnboundedSender;

use crate::support::{Backend, Client, Hub};

pub struct Installation {
    pub settings: Settings,
    _backend: Backend,
}

impl Installation {
    pub fn new(backend: Backend) -> Self {
        let mut settings = Settings::default();
        backend.apply(&mut settings);
        Self { settings, _backend: backend }
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_hub").as_ref(), arguments)
    }

    fn command_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).arg("--data").arg(&self.settings.data);
        if let Some(url) = &self.settings.database {
            command.arg("--database").arg(url);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub fn serve(&self) -> Serving {
        self.serve_with(env!("CARGO_BIN_EXE_hub").as_ref())
    }

    fn serve_with(&self, program: &Path) -> Serving {
        Self::start(self.command_of(program, &["serve", "--listen", "127.0.0.1:0"]))
    }

    pub fn serve_with_options(&self, options: &[&str]) -> Serving {
        Self::start(self.command(&[&["serve", "--listen", "127.0.0.1:0"][..], options].concat()))
    }

    /// Another hub on the same database and blobs.
    pub fn serve_elsewhere(&self, data: &Path) -> Serving {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--database", self.settings.database.as_ref().unwrap()]);
        command.arg("--data").arg(data).arg("--blobs").arg(self.settings.data.join("blobs"));
        command.arg("--secrets-key").arg(self.settings.data.join("secrets.key"));
        Self::start(command)
    }

    /// Its log, from level INFO on, is in [`Installation::log`].
    pub fn serve_logged(&self, options: &[&str], environment: &[(&str, &str)]) -> Serving {
        let mut command = self.command(&[&["serve", "--listen", "127.0.0.1:0"][..], options].concat());
        command.env("HUB_LOG", "info").envs(environment.iter().copied());
        Self::start_with(command, File::create(self.settings.data.join("log")).unwrap().into())
    }

    /// Kills a hub. Its lease, which only a hub on PostgreSQL has, would last for four seconds more and ends now.
    pub async fn kill(&self, hub: &mut Serving) {
        hub.signal("-KILL");
        hub.child.wait().unwrap();
        if let Some(url) = &self.settings.database {
            let mut database = PgConnection::connect(url).await.unwrap();
            database.execute("UPDATE hub_identity SET sole_until = 0").await.unwrap();
        }
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.settings.data.join("log")).unwrap()
    }

    fn start(command: Command) -> Serving {
        Self::start_with(command, Stdio::null())
    }

    fn start_with(mut command: Command, log: Stdio) -> Serving {
        command.stdout(Stdio::piped()).stderr(log);
        let mut child = loop {
            match command.spawn() {
                // A process that another test has just forked still has the written program open.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                    std::thread::sleep(std::time::Duration::from_millis(10));
                }
                spawned => break spawned.unwrap(),
            }
        };
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().expect("the hub prints its address").unwrap();
        let url = first.strip_prefix("listening on ").expect(&first).to_owned();
        Serving { child, url }
    }
}

pub struct Serving {
    pub child: Child,
    pub url: String,
}

impl Serving {
    pub fn client(&self, key: &str) -> Client {
        Client::new(hub::http_client::client().unwrap(), self.url.clone(), Some(key.to_owned()))
    }

    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn the_first_key_works(backend: Backend) {
    let installation = Installation::new(backend);
    let created = installation.json(&["admin", "network", "create", "demo-net", "--json"]);
    assert_eq!(created["name"], "demo-net");
    let again = installation.run(&["admin", "network", "create", "demo-net"]);
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("already exists"));

    let mut hub = installation.serve();
    let owner = hub.client(created["apiKey"].as_str().unwrap());
    owner.get("/api/manage/keys").await.expect(200);
    // Keys can be created while the hub serves.
    let network = created["networkId"].as_str().unwrap();
    let key =
        installation.json(&["admin", "key", "create", "--network", network, "--scope", "network:manage", "--json"]);
    let client = hub.client(key["apiKey"].as_str().unwrap());
    let acknowledged = client.post("/api/manage/keys", json!({"name": "k", "scopes": ["network:manage"]})).await;
    let acknowledged = acknowledged.expect(201)["apiKey"].as_str().unwrap().to_owned();

    // Bound ones, too.
    let bound = |address: &str| {
        let common =
            ["admin", "key", "create", "--network", network, "--scope", "network:manage", "--server", "lobby-1"];
        let key = installation.json(&[&common[..], &["--server", "lobby-2", "--address", address, "--json"]].concat());
        hub.client(key["apiKey"].as_str().unwrap())
    };
    bound("203.0.113.0/24").get("/api/manage/keys").await.expect_error(403, "forbidden_origin");
    let listed = bound("127.0.0.0/8").get("/api/manage/keys").await.expect(200).clone();
    let last = listed["items"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["servers"], &last["addresses"]), (&json!(["lobby-1", "lobby-2"]), &json!(["127.0.0.0/8"])));

    // Acknowledged writes survive a kill. The next one waits for the end of the lease.
    hub.signal("-KILL");
    hub.child.wait().unwrap();
    let mut hub = installation.serve();
    hub.client(&acknowledged).get("/api/manage/keys").await.expect(200);

    // SIGTERM is a clean end.
    hub.signal("-TERM");
    assert!(hub.child.wait().unwrap().success());
}

/// Two hubs would not see each other's state in memory.
#[tokio::test]
async fn a_folder_is_served_by_one_hub() {
    let installation = Installation::new(Backend::sqlite());
    let mut first = installation.serve();
    let second = installation.run(&["serve", "--listen", "127.0.0.1:0"]);
    let error = String::from_utf8_lossy(&second.stderr).into_owned();
    assert!(!second.status.success() && error.contains("another `hub serve` uses this folder"), "{error}");
    // The folder is free again however the hub ended.
    first.signal("-KILL");
    first.child.wait().unwrap();
    installation.serve();
}

#[tokio::test]
async fn a_host_name_to_listen_on_is_resolved() {
    let installation = Installation::new(Backend::sqlite());
    let hub = Installation::start(installation.command(&["serve", "--listen", "localhost:0"]));
    assert!(hub.url.starts_with("http://127.0.0.1:"), "{}", hub.url);
    hub.client("").get("/healthz").await.expect(200);
    drop(hub);
    for (option, address, expected) in [
        ("--listen", "no-such-host.invalid:8080", "--listen: the host name no-such-host.invalid has no address"),
        ("--metrics", "no-such-host.invalid:9090", "--metrics: the host name no-such-host.invalid has no address"),
        ("--listen", "localhost", "'--listen <ADDR>': must be an address and a port"),
        ("--listen", "127.0.0.1:808080", "'--listen <ADDR>': must be an address and a port"),
    ] {
        let mut command = installation.command(&["serve", option, address]);
        if option != "--listen" {
            command.args(["--listen", "localhost:0"]);
        }
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(expected), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sighup_changes_nothing() {
    let installation = Installation::new(Backend::sqlite());
    let key =
        installation.json(&["admin", "network", "create", "demo-net", "--json"])["apiKey"].as_str().unwrap().to_owned();
    let mut hub = installation.serve_logged(&[], &[]);
    let owner = hub.client(&key);
    hub.signal("-HUP");
    Hub::eventually("the signal is noted", async || installation.log().contains("SIGHUP changes nothing")).await;
    owner.get("/api/manage/keys").await.expect(200);
    hub.signal("-TERM");
    assert!(hub.child.wait().unwrap().success());
}

/// Pays one coin under the key; returns the answer's body, if one came.
async fn pay(client: &Client, key: &str) -> Option<Value> {
    let path = "/api/plugin/economy/team/red/currencies/modify";
    let request = client.request(reqwest::Method::POST, path).header("Idempotency-Key", key);
    let response = request.json(&json!({"currency": "coins", "amount": 1})).send().await.ok()?;
    assert_eq!(response.status(), 200);
    response.json().await.ok()
}

/// Payments in flight when the hub is killed, retried on its successor, take effect once each. Several kills, since one
/// must fall between an effect and its answer to matter.
async fn a_kill_doubles_and_loses_no_payment(backend: Backend) {
    const KILLS: usize = 6;

    let installation = Installation::new(backend);
    let key =
        installation.json(&["admin", "network", "create", "demo-net", "--json"])["apiKey"].as_str().unwrap().to_owned();
    let mut hub = installation.serve();
    let mut paid = 0;
    for kill in 0..KILLS {
        let sent = pay_until_killed(&installation, &mut hub, &key, kill).await;
        hub = installation.serve();
        let owner = hub.client(&key);
        for (key, answer) in &sent {
            let again = pay(&owner, key).await.unwrap();
            assert!(answer.as_ref().is_none_or(|answer| *answer == again), "{answer:?}, then {again}");
        }
        paid += sent.len();
    }
    let owner = hub.client(&key);
    let balances = owner.get("/api/plugin/economy/team/red/currencies").await;
    assert_eq!(balances.expect(200), &json!([{"currencyName": "coins", "balance": paid}]));
    assert_eq!(owner.get("/api/manage/economy/team/red/ledger").await.expect(200)["total"], paid);
}

/// Kills the hub during payments; returns their keys and the answers received.
async fn pay_until_killed(
    installation: &Installation,
    hub: &mut Serving,
    key: &str,
    kill: usize,
) -> Vec<(String, Option<Value>)> {
    const AT_ONCE: usize = 8;
    const ANSWERS: usize = 10;

    let mut payers = tokio::task::JoinSet::new();
    let (answered, mut answers) = tokio::sync::mpsc::unbounded_channel();
    for payer in 0..AT_ONCE {
        let (client, answered) = (hub.client(key), answered.clone());
        payers.spawn(async move {
            let mut sent = vec![];
            loop {
                let key = format!("{kill}-{payer}-{}", sent.len());
                let answer = pay(&client, &key).await;
                let is_killed = answer.is_none();
                sent.push((key, answer));
                if is_killed || answered.send(()).is_err() {
                    return sent;
                }
            }
        });
    }
    for _ in 0..AT_ONCE * ANSWERS {
        answers.recv().await.unwrap();
    }
    installation.kill(hub).await;
    payers.join_all().await.concat()
}

/// Bans one player after the other until the hub is gone.
async fn ban_until_killed(client: Client, round: usize, banner: usize, answered: UnboundedSender<()>) {
    for number in 0.. {
        let body = json!({"playerName": format!("p{round}_{banner}_{number}"), "type": "BAN"});
        let request = client.request(Method::POST, "/api/plugin/punishments/create-by-name").json(&body);
        if request.send().await.is_err() || answered.send(()).is_err() {
            return;
        }
    }
}

/// Changes committed but not published by a killed hub are announced after the restart, to clients that were there
/// before.
async fn a_kill_leaves_no_change_unannounced(backend: Backend) {
    const KILLS: usize = 6;

    let installation = Installation::new(backend);
    let key =
        installation.json(&["admin", "network", "create", "demo-net", "--json"])["apiKey"].as_str().unwrap().to_owned();
    let (mut last, mut left, mut left_in_all) = (None::<String>, vec![], 0);
    for round in 0..=KILLS {
        let mut hub = installation.serve();
        let client = hub.client(&key);
        let mut events = client.events(None, last.as_deref()).await;
        let (answered, mut answers) = tokio::sync::mpsc::unbounded_channel();
        for banner in 0..8 {
            tokio::spawn(ban_until_killed(client.clone(), round, banner, answered.clone()));
        }
        if round > 0 {
            assert_eq!(events.next().await.unwrap().name, "RESYNC");
        }
        let reading = tokio::spawn(async move {
            let mut seen = vec![];
            while let Some(event) = events.next().await {
                seen.push(event);
            }
            seen
        });
        for _ in 0..80 {
            answers.recv().await.unwrap();
        }
        installation.kill(&mut hub).await;
        let seen = reading.await.unwrap();
        last = seen.last().and_then(|event| event.id.clone()).or(last);
        let told: Vec<_> = seen.iter().map(|event| event.data["punishment"]["id"].as_i64().unwrap()).collect();
        assert!(told.len() >= 40 && left.iter().all(|id| told.contains(id)), "{left:?} of {told:?}");
        assert!(told.iter().all(|id| told.iter().filter(|other| *other == id).count() == 1), "{told:?}");
        let db = hub_db::Db::connect(&installation.settings.database()).await.unwrap();
        let waiting: Vec<(String,)> = db.query("SELECT data FROM outbox").all().await.unwrap();
        db.close().await;
        let waiting = waiting.iter().map(|(data,)| serde_json::from_str::<Value>(data).unwrap());
        left = waiting.map(|data| data["punishment"]["id"].as_i64().unwrap()).collect();
        left_in_all += left.len();
    }
    assert!(left_in_all > 0, "each kill came when nothing waited");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_leaves_no_change_unannounced_on_sqlite() {
    a_kill_leaves_no_change_unannounced(Backend::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_leaves_no_change_unannounced_on_postgres() {
    a_kill_leaves_no_change_unannounced(Backend::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_doubles_and_loses_no_payment_on_sqlite() {
    a_kill_doubles_and_loses_no_payment(Backend::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kill_doubles_and_loses_no_payment_on_postgres() {
    a_kill_doubles_and_loses_no_payment(Backend::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_key_works_on_sqlite() {
    the_first_key_works(Backend::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_key_works_on_postgres() {
    the_first_key_works(Backend::postgres().await).await;
}

/// Like during an upgrade: the new program is at the path while the old one runs.
#[tokio::test]
async fn a_hub_whose_program_was_replaced_still_compiles() {
    let installation = Installation::new(Backend::sqlite());
    let created = installation.json(&["admin", "network", "create", "demo-net", "--json"]);
    let program = installation.settings.data.join("hub");
    std::fs::copy(env!("CARGO_BIN_EXE_hub"), &program).unwrap();
    let hub = installation.serve_with(&program);
    std::fs::remove_file(&program).unwrap();
    std::fs::copy("/bin/false", &program).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/region-first/region-first.wasm");
    let client = hub.client(created["apiKey"].as_str().unwrap());
    let upload = client.request(Method::POST, "/api/manage/modules?name=region-first");
    client.send(upload.body(std::fs::read(file).unwrap())).await.expect(201);
}

/// Mode of every file and folder that others than the user may use.
fn open_to_others(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mode = |path: &Path| std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777;
    let mut found: Vec<_> = [folder.to_owned()].into();
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    found.extend(files);
    let here = found.into_iter().map(|path| (path.clone(), mode(&path))).filter(|(_, mode)| mode & 0o077 != 0);
    here.chain(folders.iter().flat_map(|folder| open_to_others(folder))).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_data_folder_is_its_users_alone() {
    let installation = Installation::new(Backend::sqlite());
    let data = &installation.settings.data;
    std::fs::create_dir_all(data.join("blobs/old")).unwrap();
    std::fs::write(data.join("blobs/old/file"), "of another user").unwrap();
    let chmod = |path: &Path, mode| std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    chmod(&data.join("blobs/old/file"), 0o644);
    chmod(&data.join("blobs/old"), 0o755);
    chmod(data, 0o755);
    let created = installation.json(&["admin", "network", "create", "demo-net", "--json"]);
    let mut hub = installation.serve();
    let owner = hub.client(created["apiKey"].as_str().unwrap());
    let upload = owner.request(Method::POST, "/api/manage/artifacts?name=a&version=1");
    owner.send(upload.body("bytes")).await.expect(201);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/region-first/region-first.wasm");
    let upload = owner.request(Method::POST, "/api/manage/modules?name=region-first");
    owner.send(upload.body(std::fs::read(file).unwrap())).await.expect(201);
    assert_eq!(open_to_others(data), []);
    assert!(data.join("hub.db-wal").exists() && data.join("blobs").read_dir().unwrap().count() > 1);
    hub.signal("-TERM");
    assert!(hub.child.wait().unwrap().success());
    assert_eq!(open_to_others(data), []);
}

#[tokio::test]
async fn the_password_of_the_bus_is_never_shown() {
    let installation = Installation::new(Backend::postgres().await);
    let (blobs, log) = (installation.settings.data.join("blobs"), installation.settings.data.join("log"));
    for (bus, said) in [
        ("nats://hub:s3cret@127.0.0.1:1", "waiting: the bus at nats://127.0.0.1:1"),
        ("nats://s3cret@127.0.0.1:1", "waiting: the bus at nats://127.0.0.1:1"),
        ("https://hub:s3cret@127.0.0.1:1", "hub: invalid address of the bus"),
        ("s3cret@", "hub: invalid address of the bus"),
    ] {
        let mut command = installation.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.env("HUB_BLOBS", &blobs).env("HUB_BUS", bus).env("HUB_LOG", "debug").stdout(Stdio::null());
        let mut hub = command.stderr(File::create(&log).unwrap()).spawn().unwrap();
        Hub::eventually("it says why", async || std::fs::read_to_string(&log).unwrap().contains(said)).await;
        hub.kill().unwrap();
        hub.wait().unwrap();
        let error = std::fs::read_to_string(&log).unwrap();
        assert!(!error.contains("s3cret"), "{error}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_named_and_change_nothing() {
    let installation = Installation::new(Backend::sqlite());
    installation.json(&["admin", "network", "create", "somebody", "--json"]);
    for (arguments, hint) in [
        (&["admin", "key", "create", "--network", "nobody", "--scope", "plugin"][..], "No network `nobody`"),
        (
            &["admin", "key", "create", "--network", "7a4d0c3e-0000-4000-8000-000000000000", "--scope", "plugin"],
            "No network",
        ),
        (&["admin", "key", "create", "--network", "x", "--scope", "root"], "unknown scope"),
        (&["admin", "key", "create", "--network", "x", "--scope", "operator"], "--operator"),
        (
            &["admin", "key", "create", "--network", "x", "--scope", "plugin", "--address", "10.0.0.0/99"],
            "IP address or range",
        ),
        (&["admin", "key", "create", "--operator", "--server", "a"], "cannot be used with"),
        (&["admin", "network", "create", "  "], "blank"),
        (&["serve", "--listen", "nowhere"], "invalid"),
        (&["serve", "--listen", "127.0.0.1:0", "--config", "/does/not/exist.toml"], "does not exist"),
        (&["serve", "--listen", "127.0.0.1:0", "--bus", "nats://127.0.0.1:1"], "--blobs"),
        (&["serve", "--listen", "127.0.0.1:0", "--blobs", "s3://nobody"], "s3://KEY:SECRET@HOST"),
        (
            &["serve", "--listen", "127.0.0.1:0", "--database", "mysql://user@host/hub"],
            "postgres://USER:PASSWORD@HOST/DATABASE",
        ),
    ] {
        let output = installation.run(arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(hint), "{arguments:?}: {error}");
    }
}

#[tokio::test]
async fn options_come_from_the_file_the_environment_and_the_command_line() {
    let folder = TempDir::new().unwrap();
    let (by_file, by_environment) = (folder.path().join("file"), folder.path().join("environment"));
    let config = folder.path().join("hub.toml");
    std::fs::write(&config, format!("data = {by_file:?}\n")).unwrap();
    let create = |name: &str, environment: Option<&Path>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        command.args(["admin", "network", "create", name, "--config"]).arg(&config);
        if let Some(data) = environment {
            command.env("HUB_DATA", data);
        }
        assert!(command.output().unwrap().status.success());
    };
    create("one", None);
    assert!(by_file.join("hub.db").exists());
    create("one", Some(&by_environment));
    assert!(by_environment.join("hub.db").exists());
}

/// `hub demo` on an empty folder, until its modules decide.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_brings_up_all_it_promises() {
    let installation = Installation::new(Backend::sqlite());
    let mut command = installation.command(&["demo", "--listen", "127.0.0.1:0"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let url = lines.find_map(|line| line.strip_prefix("listening on ").map(str::to_owned)).unwrap();
    let key = lines.find_map(|line| line.split_once("HUB_KEY=").map(|(_, key)| key.to_owned())).unwrap();
    let mut hub = Serving { child, url };
    // The simulation stops when the pipe is full, so it is read.
    let matches = std::thread::spawn(move || lines.filter(|line| line.starts_with("  match ")).count());
    let owner = hub.client(&key);
    for (point, name) in [("matchmaking", "region-first"), ("chat", "chat-guard"), ("punishment", "escalation")] {
        let chain = owner.get(&format!("/api/manage/extension-points/{point}")).await;
        assert_eq!(chain.expect(200)["modules"][0]["name"], name);
    }
    assert_eq!(owner.get("/api/manage/servers?online=true").await.expect(200)["total"], 8);
    // Beside those of the demo's own shop.
    let order = json!({"playerName": "Player01", "kind": "kit", "payload": {"kit": "starter"}, "reference": "order-1"});
    let bought = owner.post("/api/plugin/deliveries", order).await.expect(201)["deliveryId"].clone();
    Hub::eventually("the game is full, and others wait", async || {
        let lines = owner.get("/api/manage/matchmaking/lines").await;
        let lines = lines.expect(200)["items"].as_array().unwrap().clone();
        lines.iter().any(|line| line["line"] == "type:duels" && line["waiting"].as_u64() > Some(0))
    })
    .await;
    Hub::eventually("both purchases are delivered", async || {
        let delivered = owner.get("/api/manage/deliveries?state=DELIVERED").await;
        let delivered = delivered.expect(200)["items"].as_array().unwrap().clone();
        delivered.len() > 1 && delivered.iter().any(|delivery| delivery["deliveryId"] == bought)
    })
    .await;
    let mut events = owner.events(None, None).await;
    // On a busy machine the module may miss its deadline, which lets the line through. Each attempt uses another
    // player, because of the flood control.
    let mut messages = vec![];
    while messages.len() < 50 && messages.last().is_none_or(|message| message != "you ****") {
        let player = format!("069a79f4-44e9-4726-a5be-{:012}", messages.len());
        let line = json!({"playerUuid": player, "playerName": "Notch", "serverId": "x", "message": "you noob"});
        owner.post("/api/plugin/chat", line).await.expect(204);
        let event = loop {
            let event = events.next_named("CHAT").await.data;
            if event["playerName"] == "Notch" {
                break event;
            }
        };
        messages.push(event["message"].as_str().unwrap().to_owned());
    }
    assert_eq!(messages.last().unwrap(), "you ****");
    hub.signal("-TERM");
    assert!(hub.child.wait().unwrap().success());
    assert!(matches.join().unwrap() > 0, "no player was matched");
}
