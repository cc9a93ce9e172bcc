//! The hub's node agent: the real one, with a real child process, driven through the hub.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempDir};

use crate::servers::register;
use crate::support::{Backend, Client, Hub};

mod vanilla;

/// A server that prints its input, and obeys it.
const GAME: &str = r#"
import os, signal, sys, threading, time

def asked(*_):
    print("terminated", flush=True)
    os._exit(0)

def ticks():
    number = 0
    while True:
        number += 1
        sys.stdout.write(f"tick {number}\n")
        sys.stdout.flush()
        time.sleep(0.02)

signal.signal(signal.SIGTERM, asked)
print("up", os.getpid(), "key" if "HUB_KEY" in os.environ else "no key", os.environ.get("COLOUR"), flush=True)
for line in sys.stdin:
    word, _, rest = line.rstrip("\n").partition(" ")
    if word == "stop":
        print("saving", flush=True)
        sys.exit(0)
    elif word == "crash":
        sys.exit(int(rest))
    elif word == "eat":
        held = bytearray(os.urandom(1 << 20) * int(rest))
        time.sleep(60)
    elif word == "java":
        print("Terminating due to java.lang.OutOfMemoryError: Java heap space", flush=True)
        sys.exit(3)
    elif word == "tick":
        threading.Thread(target=ticks, daemon=True).start()
    elif word == "spy":
        for name in ("environ", "mem"):
            try:
                with open(f"/proc/{os.getppid()}/{name}", "rb") as file:
                    print("spied", name, file.read(1), flush=True)
            except OSError as error:
                print("spied", name, type(error).__name__, flush=True)
        try:
            print("spied file", open(rest).read(), flush=True)
        except OSError as error:
            print("spied file", type(error).__name__, os.getuid(), flush=True)
    elif word == "complain":
        print(rest, file=sys.stderr, flush=True)
    else:
        print("heard", line.rstrip("\n"), flush=True)
"#;

/// Time limit of a test's wait. Real time: nothing waits this long when all is well.
const PATIENCE: Duration = Duration::from_mins(1);

async fn script(hub: &Hub) -> String {
    hub::provisioning::signed_agent(&hub.app).await.unwrap().script
}

/// An unprivileged user.
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// An agent that runs, with its server.
struct Agent {
    process: Child,
    folder: TempDir,
    owner: Client,
    /// Its output.
    log: NamedTempFile,
}

impl Agent {
    async fn start(hub: &Hub, options: &[&str]) -> Self {
        Self::start_as(hub, options, &script(hub).await, |_, _| {}).await
    }

    async fn start_as(hub: &Hub, options: &[&str], script: &str, prepare: impl FnOnce(&mut Command, &Path)) -> Self {
        Self::start_game(hub, options, script, GAME, &["agent"], prepare).await
    }

    async fn start_game(
        hub: &Hub,
        options: &[&str],
        script: &str,
        game_script: &str,
        scopes: &[&str],
        prepare: impl FnOnce(&mut Command, &Path),
    ) -> Self {
        let owner = hub.network().await;
        register(&owner, "game-1", json!({})).await;
        let key = owner.key_with(scopes).await.key.unwrap();
        let folder = TempDir::new().unwrap();
        let game = folder.path().join("game.py");
        std::fs::write(&game, game_script).unwrap();
        let agent = folder.path().join("agent.py");
        std::fs::write(&agent, script).unwrap();
        let log = NamedTempFile::new().unwrap();
        let mut command = Command::new("python3");
        command
            .arg(&agent)
            .args(["--hub", &hub.url(), "--server-id", "game-1", "--node-id", "node-1", "--env", "COLOUR=blue"])
            .arg("--workdir")
            .arg(folder.path())
            .args(options)
            .args(["--", "python3", "-u"])
            .arg(&game)
            .env("HUB_KEY", key)
            .stdin(Stdio::null())
            .stderr(log.reopen().unwrap());
        prepare(&mut command, folder.path());
        let process = command.spawn().unwrap();
        Self { process, folder, owner, log }
    }

    /// Waits until it has printed this text.
    async fn until_printed(&self, text: &str) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let said = std::fs::read_to_string(self.log.path()).unwrap();
            if said.contains(text) {
                return;
            }
            assert!(tokio::time::Instant::now() < deadline, "not said: {text}, but {said}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Sends a command, like the owner; returns the agent's answer.
    async fn ask(&self, what: &str, body: Value) -> Value {
        let answer = self.owner.post(&format!("/api/manage/servers/game-1/{what}"), body).await;
        answer.expect(200).clone()
    }

    async fn say(&self, line: &str) {
        assert_eq!(self.ask("console", json!({"line": line})).await["ok"], true, "{line}");
    }

    async fn control(&self) -> Value {
        self.owner.get("/api/manage/servers/game-1").await.expect(200)["control"].clone()
    }

    /// Waits until `control` meets the condition.
    async fn until(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let control = self.control().await;
            if wanted(&control) {
                return control;
            }
            assert!(tokio::time::Instant::now() < deadline, "{what}: {control}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn until_state(&self, state: &str) -> Value {
        self.until(state, |control| control["containerState"] == state).await
    }

    /// The shipped lines, the oldest first; some twice if more came meanwhile.
    async fn shipped(&self) -> Vec<(String, String)> {
        let mut lines = vec![];
        for page in 0.. {
            let path = format!("/api/manage/servers/game-1/logs/recent?limit=200&page={page}");
            let answer = self.owner.get(&path).await;
            let items = answer.expect(200)["items"].as_array().unwrap().clone();
            if items.is_empty() {
                break;
            }
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            lines.extend(items.iter().map(|line| (text(&line["stream"]), text(&line["text"]))));
        }
        lines.reverse();
        lines
    }

    /// Waits for a line with this prefix; returns the last such line.
    async fn until_line(&self, begin: &str) -> (String, String) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let lines = self.shipped().await;
            if let Some(line) = lines.iter().rev().find(|(_, text)| text.starts_with(begin)) {
                return line.clone();
            }
            assert!(tokio::time::Instant::now() < deadline, "{begin}: {lines:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Terminates the agent, and waits until it has ended.
    async fn terminate(&mut self) {
        let pid = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                return;
            }
            assert!(tokio::time::Instant::now() < deadline, "the agent goes on");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Cleans up after a failed test: the agent, then its child, which ends with its console.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until the server is up as another process than this.
async fn until_other(agent: &Agent, pid: &str) {
    let process = format!("as process {pid}");
    agent
        .until("another process", |control| {
            control["containerState"] == "RUNNING"
                && !control["containerStatus"].as_str().unwrap().ends_with(&process)
                && !control["containerStatus"].as_str().unwrap().contains("told to")
        })
        .await;
}

/// Number of the server's process, from its last start message.
async fn game_pid(agent: &Agent) -> String {
    let (_, line) = agent.until_line("up ").await;
    line.split(' ').nth(1).unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_lives_and_dies_as_its_owner_wants() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let mut agent = Agent::start(&hub, &["--no-start", "--stop-command", "stop"]).await;
    let control = agent.until_state("CREATED").await;
    assert_eq!((&control["nodeId"], &control["exitCode"]), (&json!("node-1"), &Value::Null));
    assert!(control["capabilities"].as_array().unwrap().contains(&json!("console")));
    assert_eq!(agent.ask("console", json!({"line": "hello"})).await["ok"], false);
    assert_eq!(
        agent.ask("stop", json!({})).await,
        json!({"ok": true, "error": null, "data": {"alreadyStopped": true}})
    );

    let started = agent.ask("start", json!({})).await;
    assert_eq!(started["ok"], true);
    agent.until_state("RUNNING").await;
    let first = game_pid(&agent).await;
    assert_eq!(started["data"]["pid"].to_string(), first);
    agent.until_line(&format!("up {first} no key blue")).await;
    assert_eq!(agent.ask("start", json!({})).await["data"], json!({"alreadyRunning": true}));

    agent.say("hello Wörld").await;
    assert_eq!(agent.until_line("heard hello").await, ("stdout".to_owned(), "heard hello Wörld".to_owned()));
    agent.say("complain it hurts").await;
    assert_eq!(agent.until_line("it hurts").await.0, "stderr");
    let output = agent.owner.get("/api/manage/servers/game-1/logs?lines=2").await;
    assert_eq!(output.expect(200)["content"], "heard hello Wörld\nit hurts");

    // A restart goes by the stop command, and comes up as another process.
    assert_eq!(agent.ask("restart", json!({})).await["ok"], true);
    until_other(&agent, &first).await;
    agent.until_line("saving").await;
    agent.say("again").await;
    agent.until_line("heard again").await;
    assert_ne!(game_pid(&agent).await, first);

    assert_eq!(agent.ask("stop", json!({})).await["ok"], true);
    let control = agent.until_state("EXITED").await;
    assert_eq!((&control["exitCode"], &control["outOfMemory"]), (&json!(0), &json!(false)));

    agent.ask("start", json!({})).await;
    agent.until_state("RUNNING").await;
    agent.say("crash 3").await;
    let control = agent.until_state("EXITED").await;
    assert_eq!((&control["exitCode"], &control["outOfMemory"]), (&json!(3), &json!(false)));
    assert!(control["containerStatus"].as_str().unwrap().starts_with("Exited (3) after "));

    agent.ask("start", json!({})).await;
    agent.until_state("RUNNING").await;
    assert_eq!(agent.ask("kill", json!({})).await["ok"], true);
    let control = agent.until_state("EXITED").await;
    assert_eq!((&control["exitCode"], &control["outOfMemory"]), (&json!(137), &json!(false)));

    // The agent ends its server, cleanly, and reports it.
    agent.ask("start", json!({})).await;
    agent.until_state("RUNNING").await;
    let before = agent.shipped().await.iter().filter(|(_, text)| text == "saving").count();
    agent.terminate().await;
    let control = agent.control().await;
    assert_eq!((&control["containerState"], &control["exitCode"]), (&json!("EXITED"), &json!(0)));
    assert_eq!(agent.shipped().await.iter().filter(|(_, text)| text == "saving").count(), before + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ran_out_of_memory_is_shown_as_such() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let agent = Agent::start(&hub, &["--memory-limit", "120M"]).await;
    let first = game_pid(&agent).await;
    agent.say("eat 20").await;
    agent.ask("restart", json!({})).await;
    // The server's memory limit allows this much: it was still there to be stopped.
    agent.until_line("terminated").await;
    until_other(&agent, &first).await;
    agent.say("eat 200").await;
    let control = agent.until_state("EXITED").await;
    assert_eq!((&control["exitCode"], &control["outOfMemory"]), (&json!(137), &json!(true)));
    assert!(control["containerStatus"].as_str().unwrap().ends_with("out of memory"));
    // A Java server reports it itself.
    agent.ask("start", json!({})).await;
    let control = agent.until_state("RUNNING").await;
    assert_eq!((&control["exitCode"], &control["outOfMemory"]), (&Value::Null, &json!(false)));
    agent.say("java").await;
    let control = agent.until_state("EXITED").await;
    assert_eq!((&control["exitCode"], &control["outOfMemory"]), (&json!(3), &json!(true)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_updates_itself_and_its_server_does_not_notice() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let current = script(&hub).await;
    let older = format!("{current}\n# An older version.\n");
    let agent = Agent::start_as(&hub, &["--update-interval", "3"], &older, |_, _| {}).await;
    let pid = game_pid(&agent).await;
    agent.say("tick").await;
    let deadline = tokio::time::Instant::now() + PATIENCE;
    let file = agent.folder.path().join("agent.py");
    while std::fs::read_to_string(&file).unwrap() != current {
        assert!(tokio::time::Instant::now() < deadline, "no update");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    // The same process, restarted by the previous version.
    let taken_over = || std::fs::read_to_string(agent.log.path()).unwrap().contains("the server went on");
    for number in 0.. {
        // Until then the old one answers; either way the server gets it.
        let over = taken_over();
        agent.say(&format!("hello {number}")).await;
        agent.until_line(&format!("heard hello {number}")).await;
        if over {
            break;
        }
        assert!(tokio::time::Instant::now() < deadline, "the new version does not take over");
    }
    let control = agent.until_state("RUNNING").await;
    assert!(control["containerStatus"].as_str().unwrap().contains(&format!("as process {pid}")), "{control}");
    // The new one knows the command that ends it.
    agent.ask("stop", json!({})).await;
    let control = agent.until_state("EXITED").await;
    assert_eq!(control["exitCode"], 0);
    agent.until_line("terminated").await;
    // No line was lost, doubled or torn.
    let lines = agent.shipped().await;
    assert_eq!(lines.iter().filter(|(_, text)| text.starts_with("up ")).count(), 1);
    let ticks: Vec<_> =
        lines.iter().filter_map(|(_, text)| text.strip_prefix("tick ")?.parse::<usize>().ok()).collect();
    assert!(ticks.len() > 100 && ticks.iter().copied().eq(1..=ticks.len()), "{ticks:?}");
    assert_eq!(agent.folder.path().read_dir().unwrap().count(), 2, "something was left");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_that_the_hub_did_not_sign_is_not_run() {
    let (hub, other) = (Hub::start_in_real_time(Backend::sqlite()).await, Hub::start(Backend::sqlite()).await);
    // Another server answers under the hub's name.
    let of_other = script(&other).await;
    assert_ne!(of_other, script(&hub).await);
    let agent = Agent::start_as(&hub, &["--update-interval", "0.2"], &of_other, |_, _| {}).await;
    agent.until_printed("the script is not signed by the hub of this one").await;
    assert_eq!(std::fs::read_to_string(agent.folder.path().join("agent.py")).unwrap(), of_other);
    agent.say("still there").await;
    agent.until_line("heard still there").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_cannot_read_its_agents_key() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    // Both run as one user. Root may read everything.
    let prepare = |command: &mut Command, folder: &Path| {
        if is_root() {
            for path in [folder.to_owned(), folder.join("agent.py"), folder.join("game.py")] {
                std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
            command.uid(NOBODY).gid(NOBODY).env("PATH", "/usr/bin:/bin");
        }
    };
    let current = script(&hub).await;
    let older = format!("{current}\n# An older version.\n");
    let agent = Agent::start_as(&hub, &["--update-interval", "0.5"], &older, prepare).await;
    let spied = async || {
        agent.say("spy /nowhere").await;
        agent.until_line("spied file").await;
        let lines = agent.shipped().await.into_iter().map(|(_, text)| text);
        let mut spied: Vec<_> = lines.filter(|text| text.starts_with("spied ") && !text.contains("file")).collect();
        spied.dedup();
        spied
    };
    game_pid(&agent).await;
    assert_eq!(spied().await, ["spied environ PermissionError", "spied mem PermissionError"]);
    // Nor from the version after.
    agent.until_printed("the server went on").await;
    for line in spied().await {
        assert!(line.ends_with("PermissionError"), "{line}");
    }
}

/// Needs root, as the option itself does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_another_user_cannot_read_the_file_of_the_key() {
    if !is_root() {
        return;
    }
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let key = NamedTempFile::new().unwrap();
    let prepare = |command: &mut Command, folder: &Path| {
        std::fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
        let text = command.get_envs().find(|(name, _)| *name == "HUB_KEY").unwrap().1.unwrap().to_owned();
        std::fs::write(key.path(), text.as_encoded_bytes()).unwrap();
        command.env_remove("HUB_KEY").env("HUB_KEY_FILE", key.path()).env("PATH", "/usr/bin:/bin");
    };
    let user = ["--user", "nobody", "--no-start"];
    let agent = Agent::start_as(&hub, &user, &script(&hub).await, prepare).await;
    // Installed files belong to the server's user.
    let plugins = agent.folder.path().join("plugins");
    std::fs::create_dir(&plugins).unwrap();
    std::os::unix::fs::chown(&plugins, Some(NOBODY), None).unwrap();
    install(&hub, &agent, "right", None).await;
    until_exists(&plugins.join("right.jar")).await;
    assert_eq!(std::fs::metadata(plugins.join("right.jar")).unwrap().uid(), NOBODY);
    assert_eq!(agent.ask("start", json!({})).await["ok"], true);
    agent.say(&format!("spy {}", key.path().display())).await;
    assert_eq!(agent.until_line("spied file").await.1, format!("spied file PermissionError {NOBODY}"));
    assert_eq!(agent.ask("kill", json!({})).await["ok"], true);
    agent.until_state("EXITED").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plain_http_is_for_the_own_machine() {
    let hub = Hub::start(Backend::sqlite()).await;
    let folder = TempDir::new().unwrap();
    let agent = folder.path().join("agent.py");
    std::fs::write(&agent, script(&hub).await).unwrap();
    let run = |url: &str| {
        let mut command = Command::new("python3");
        command
            .arg(&agent)
            .args(["--hub", url, "--server-id", "a", "--", "true"])
            .env("HUB_KEY", "key")
            .output()
            .unwrap()
    };
    for url in ["http://192.0.2.1:8080", "http://hub.example", "http://localhost.example"] {
        let output = run(url);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains("--allow-plain-http"), "{url}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_outlives_its_hub() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let agent = Agent::start(&hub, &[]).await;
    let pid = game_pid(&agent).await;
    let hub = hub.restart(Duration::ZERO).await;
    agent.until_state("RUNNING").await;
    agent.say("still there").await;
    agent.until_line("heard still there").await;
    assert_eq!(game_pid(&agent).await, pid);
    drop(hub);
}

/// Makes the agent install a plugin; returns its bytes.
async fn install(hub: &Hub, agent: &Agent, name: &str, sha256: Option<String>) -> Vec<u8> {
    use hub::auth::Origin;
    use hub::cluster::RequestLease;
    use hub::control::{Action, service};
    use sha2::{Digest as _, Sha256};

    // Any stable download without a key.
    let url = format!("{}/api/version", hub.url());
    let bytes = hub::http_client::client().unwrap().get(&url).send().await.unwrap().bytes().await.unwrap();
    let right = Sha256::digest(&bytes).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let (network, server) = (agent.owner.network.unwrap(), "game-1".parse().unwrap());
    let (name, sha256) = (name.to_owned(), sha256.unwrap_or(right));
    let action = Action::Install { url, name, version: "1.0.0".to_owned(), sha256 };
    let until = hub.app.clock.now() + 60_000;
    let (lease, origin) = (RequestLease::default(), Origin::command_line(&hub.app.clock, &hub.app.ids));
    service::queue_action(&hub.app, network, &server, action, until, &lease, &origin).await.unwrap();
    bytes.to_vec()
}

async fn until_exists(file: &Path) {
    let deadline = tokio::time::Instant::now() + PATIENCE;
    while !file.exists() {
        assert!(tokio::time::Instant::now() < deadline, "no {}", file.display());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plugin_is_installed_if_its_hash_matches() {
    let hub = Hub::start_in_real_time(Backend::sqlite()).await;
    let agent = Agent::start(&hub, &["--no-start"]).await;
    agent.until_state("CREATED").await;
    install(&hub, &agent, "wrong", Some("0".repeat(64))).await;
    install(&hub, &agent, "../outside", None).await;
    let bytes = install(&hub, &agent, "right", None).await;
    let plugins = agent.folder.path().join("plugins");
    until_exists(&plugins.join("right.jar")).await;
    assert_eq!(std::fs::read(plugins.join("right.jar")).unwrap(), bytes);
    // Downloads take turns, so the others are over.
    assert!(!plugins.join("wrong.jar").exists() && !agent.folder.path().join("outside.jar").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_served_script_has_the_announced_hash() {
    use sha2::{Digest as _, Sha256};

    let hub = Hub::start(Backend::sqlite()).await;
    let agent = hub.network().await.key_with(&["agent"]).await;
    let served = agent.get("/api/plugin/provisioning/agent-script").await;
    assert!(served.headers["content-type"].to_str().unwrap().starts_with("text/x-python"));
    let text = served.expect(200).as_str().unwrap();
    assert_eq!(text, script(&hub).await);
    let sha256 = Sha256::digest(text).iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let version = agent.get("/api/plugin/provisioning/agent-version").await;
    assert_eq!(version.expect(200)["sha256"], sha256);
    assert_eq!(version.body["signature"].as_str().unwrap().len(), 128);
}

/// The script's own tests, which need no hub.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_script_passes_its_own_tests() {
    let hub = Hub::start(Backend::sqlite()).await;
    let folder = TempDir::new().unwrap();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("agent/test_hub_agent.py");
    std::fs::copy(tests, folder.path().join("test_hub_agent.py")).unwrap();
    std::fs::write(folder.path().join("hub_agent.py"), script(&hub).await).unwrap();
    let tests = Command::new("python3")
        .args(["-B", "-m", "unittest", "-q", "test_hub_agent"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(tests.status.success(), "{}", String::from_utf8_lossy(&tests.stderr));
}
