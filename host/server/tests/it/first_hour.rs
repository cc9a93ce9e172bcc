//! Experience of a new user in the first hour with the binary.

use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::Installation;
use crate::support::Backend;

const HUB: &str = env!("CARGO_BIN_EXE_hub");

fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(HUB).args(arguments).current_dir(folder).output().unwrap()
}

fn errors(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn a_command_in_another_folder_makes_no_second_hub() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("hub-data");
    for arguments in [
        &["admin", "network", "list"][..],
        &["admin", "network", "set", "a", "--plan", "b"],
        &["admin", "network", "suspend", "a"],
        &["admin", "network", "resume", "a"],
        &["admin", "network", "delete", "a"],
        &["admin", "network", "export", "a", "--out", "file"],
        &["admin", "network", "import", "file"],
        &["admin", "plan", "list"],
        &["admin", "plan", "create", "a"],
        &["admin", "plan", "set", "a"],
        &["admin", "plan", "delete", "a"],
        &["admin", "key", "create", "--operator"],
        // The short form.
        &["key", "create", "--operator"],
        &["admin", "key", "list", "--operator"],
        &["admin", "key", "revoke", "a", "--operator"],
    ] {
        let error = errors(&run_in(folder.path(), arguments));
        let expected = format!("hub: no hub found in {};", data.display());
        assert!(error.starts_with(&expected), "{arguments:?}: {error}");
        assert!(!data.exists(), "{arguments:?}");
    }
    // Creating a hub reports its folder.
    let created = run_in(folder.path(), &["admin", "network", "create", "first"]);
    assert_eq!(String::from_utf8_lossy(&created.stderr), format!("created a new hub in {}\n", data.display()));
    let created = run_in(folder.path(), &["admin", "network", "create", "second"]);
    assert!(created.status.success() && created.stderr.is_empty());
    assert!(run_in(folder.path(), &["admin", "network", "list"]).status.success());
}

/// A new database would make all keys unknown.
#[test]
fn an_empty_or_missing_database_beside_a_hubs_files_is_refused() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("hub-data");
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("module-store.db"), "SQLite format 3").unwrap();
    for state in ["is missing", "is empty"] {
        for arguments in [
            &["serve", "--listen", "127.0.0.1:0"][..],
            &["admin", "network", "create", "a"],
            &["admin", "network", "list"],
        ] {
            let output = run_in(folder.path(), arguments);
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_named = error.contains(&format!("hub.db {state}")) || error.contains("no hub found in");
            assert!(!output.status.success() && is_named, "{arguments:?} with a database that {state}: {error}");
        }
        std::fs::write(data.join("hub.db"), "").unwrap();
    }
    assert_eq!(std::fs::metadata(data.join("hub.db")).unwrap().len(), 0);
    std::fs::write(data.join("hub.db"), "junk".repeat(1_024)).unwrap();
    let error = errors(&run_in(folder.path(), &["serve", "--listen", "127.0.0.1:0"]));
    let expected = "hub: cannot open the database hub-data/hub.db: file is not a database\n";
    assert!(error.ends_with(expected), "{error}");
}

/// Such a value would lead to another path of the API.
#[test]
fn an_id_or_name_of_a_command_is_one_segment_of_a_path() {
    let folder = TempDir::new().unwrap();
    for command in [
        "import show",
        "import cancel",
        "webhook show",
        "webhook delete",
        "webhook deliveries",
        "module show",
        "module logs",
        "module activate",
        "module deactivate",
        "module replay",
    ] {
        for typed in ["../keys", "..", "a?b", "a/b", "%2e%2e", ""] {
            let arguments: Vec<_> = command.split(' ').chain(["--key", "hub_0", typed]).collect();
            let error = errors(&run_in(folder.path(), &arguments));
            assert!(error.contains("it is no id or name"), "{command} {typed}: {error}");
        }
    }
}

#[tokio::test]
async fn files_of_a_hub_on_postgres_go_to_no_folder_elsewhere() {
    let backend = Backend::postgres().await;
    let folder = TempDir::new().unwrap();
    for arguments in
        [&["admin", "network", "import", "file"][..], &["admin", "network", "export", "a", "--out", "file"]]
    {
        let mut command = Command::new(HUB);
        let url = backend.options().last().unwrap().clone();
        let output = command.args(arguments).current_dir(folder.path()).env("HUB_DATABASE", url).output().unwrap();
        let error = errors(&output);
        assert!(error.contains(&format!("the data folder {}", folder.path().join("hub-data").display())), "{error}");
        assert!(!folder.path().join("hub-data").exists());
    }
}

async fn keys_are_listed_and_revoked(backend: Backend) {
    let hub = Installation::new(backend);
    let created = hub.json(&["admin", "network", "create", "net", "--json"]);
    let serving = hub.serve();
    let owner = serving.client(created["apiKey"].as_str().unwrap());
    owner.get("/api/manage/keys").await.expect(200);
    let key =
        hub.json(&["admin", "key", "create", "--network", "net", "--scope", "plugin", "--name", "lobby", "--json"]);
    hub.json(&["key", "create", "--operator", "--json"]);

    let listed = hub.json(&["admin", "key", "list", "--network", "net", "--json"]);
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|key| key["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&"lobby"), "{listed}");
    assert_eq!(listed[1]["scopes"], json!(["plugin"]));
    assert_eq!(hub.json(&["admin", "key", "list", "--operator", "--json"]).as_array().unwrap().len(), 1);
    let id = key["keyId"].as_str().unwrap();
    let table = String::from_utf8(hub.run(&["admin", "key", "list", "--network", "net"]).stdout).unwrap();
    assert!(table.contains(id) && !table.contains(key["apiKey"].as_str().unwrap()), "{table}");

    let client = serving.client(key["apiKey"].as_str().unwrap());
    client.get("/api/plugin/servers").await.expect(200);
    // Not through another network's name.
    hub.json(&["admin", "network", "create", "other", "--json"]);
    assert!(errors(&hub.run(&["admin", "key", "revoke", id, "--network", "other"])).contains(id));
    let revoked = hub.json(&["admin", "key", "revoke", id, "--network", "net", "--json"]);
    assert_eq!(revoked, json!({"keyId": id, "revoked": true, "left": []}));
    for attempt in 0.. {
        let answer = client.get("/api/plugin/servers").await;
        if answer.status == 401 {
            break;
        }
        assert!(attempt < 100, "the hub does not notice");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(errors(&hub.run(&["admin", "key", "revoke", id, "--network", "net"])).contains(id));
    owner.get("/api/manage/keys").await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_listed_and_revoked_on_sqlite() {
    keys_are_listed_and_revoked(Backend::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_listed_and_revoked_on_postgres() {
    keys_are_listed_and_revoked(Backend::postgres().await).await;
}

#[test]
fn networks_and_plans_answer_json() {
    let hub = Installation::new(Backend::sqlite());
    let id = hub.json(&["admin", "network", "create", "net", "--json"])["networkId"].clone();
    assert_eq!(hub.json(&["admin", "network", "list", "--json"])[0]["networkId"], id);
    hub.json(&["admin", "plan", "create", "small", "--limit", "servers=3", "--json"]);
    assert_eq!(hub.json(&["admin", "network", "set", "net", "--plan", "small", "--json"])["plan"], "small");
    assert_eq!(hub.json(&["admin", "network", "suspend", "net", "--json"])["suspended"], true);
    let printed = hub.run(&["admin", "network", "resume", "net"]).stdout;
    assert!(String::from_utf8(printed).unwrap().trim_end().ends_with("active"));
    hub.json(&["admin", "network", "set", "net", "--plan", "default", "--json"]);
    assert_eq!(hub.json(&["admin", "plan", "delete", "small", "--json"]), json!({"name": "small", "deleted": true}));
    assert!(hub.json(&["admin", "network", "delete", "net", "--json"])["deleteAt"].is_i64());
}

#[test]
fn a_reader_that_stops_ends_the_command_quietly() {
    let mut child = Command::new(HUB).arg("openapi").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(first.starts_with(b"{"));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_missing_key_is_asked_for_by_its_name() {
    let folder = TempDir::new().unwrap();
    for arguments in [&["module", "list"][..], &["module", "push", "nothing.wasm"], &["module", "list", "--key", ""]] {
        let mut command = Command::new(HUB);
        let output = command.args(arguments).current_dir(folder.path()).env_remove("HUB_KEY").output().unwrap();
        assert!(errors(&output).starts_with("hub: no API key: set HUB_KEY"), "{arguments:?}");
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let folder = TempDir::new().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for command in ["serve", "demo"] {
        let error = errors(&run_in(folder.path(), &[command, "--listen", &address]));
        assert!(error.contains(&format!("cannot listen on {address}")) && error.contains("--listen"), "{error}");
    }
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing was made");
}

#[tokio::test]
async fn the_configuration_of_the_deployment_page_starts() {
    let hub = Installation::new(Backend::sqlite());
    let config = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/hub.toml");
    // By the variable, as in a container.
    let mut command = hub.command(&["serve", "--listen", "127.0.0.1:0"]);
    let mut child = command.env("HUB_CONFIG", config).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut first = [0; 20];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(&first, b"listening on http://");
    // Each line that is commented out is an option, too.
    let text = std::fs::read_to_string(config).unwrap();
    let is_option = |line: &str| line.split_once(" = ").is_some_and(|(name, _)| !name.contains(' '));
    let lines = text.lines().map(|line| line.strip_prefix("# ").filter(|rest| is_option(rest)).unwrap_or(line));
    let all = hub.settings.data.join("all.toml");
    std::fs::write(&all, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let hub = Installation::new(Backend::postgres().await);
    let mut command = hub.command(&["serve", "--listen", "127.0.0.1:0", "--bus", "nats://127.0.0.1:1"]);
    command.env("HUB_CONFIG", &all).env("HUB_BLOBS", hub.settings.data.join("blobs"));
    let error = errors(&command.output().unwrap());
    assert!(error.contains("/etc/hub/bus.creds"), "{error}");
}

#[test]
fn shells_complete_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let output = Command::new(HUB).args(["completions", shell]).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && printed.contains("rollback") && printed.contains("on-failure"), "{shell}");
    }
    let output = Command::new(HUB).args(["help", "admin", "key", "revoke"]).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("Usage: hub admin key revoke"));
    let output = Command::new(HUB).args(["limits", "--json"]).output().unwrap();
    let limits: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(limits.as_array().unwrap().len() > 20 && limits[0]["bound"].is_i64());
}

/// The commands of the quick start, each with its documented output.
fn transcript(page: &str) -> Vec<(String, Vec<String>)> {
    let mut commands: Vec<(String, Vec<String>)> = vec![];
    for line in page.lines().filter_map(|line| line.strip_prefix("    ")) {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), vec![]));
        } else if let Some((_, printed)) = commands.last_mut() {
            printed.push(line.to_owned());
        }
    }
    commands
}

/// The line without ids, keys and secrets, which differ each time.
fn masked(line: &str) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_-…".contains(character);
    let words = line.split_inclusive(|character| !is_part(character)).map(|piece| {
        let word = piece.trim_end_matches(|character| !is_part(character));
        let is_random = word.len() >= 20 || word.ends_with('…');
        if is_random { format!("*{}", &piece[word.len()..]) } else { piece.to_owned() }
    });
    words.collect()
}

#[test]
fn the_quick_start_runs_as_it_is_written() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let commands = transcript(&std::fs::read_to_string(format!("{root}/docs/start/quick-start.md")).unwrap());
    assert!(commands.len() > 12, "{commands:?}");
    let installation = Installation::new(Backend::sqlite());
    let ((serve, _), rest) = commands.split_first().unwrap();
    let options: Vec<_> = serve.strip_prefix("hub serve ").unwrap().split(' ').collect();
    let serving = installation.serve_with_options(&options);

    let net = installation.settings.data.join("net");
    let mut script = String::new();
    for (command, _) in rest {
        let command = match command.as_str() {
            create if create.starts_with("hub admin network create") => format!("{create} | tee {}", net.display()),
            export if export.starts_with("export HUB_URL=http://127.0.0.1:8080 HUB_KEY=hub_…") => {
                format!("export HUB_URL={} HUB_KEY=$(sed -n 's/^API key *//p' {})", serving.url, net.display())
            }
            other => other.to_owned(),
        };
        script.extend(["echo @@@\n", &command, "\n"]);
    }
    let path = format!("{}:{}", Path::new(HUB).parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(root).env("PATH", path).env("HUB_DATA", &installation.settings.data);
    let output = bash.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let printed: Vec<_> = printed.split("@@@\n").skip(1).collect();
    assert_eq!(printed.len(), rest.len());
    for ((command, expected), printed) in rest.iter().zip(printed) {
        let expected: Vec<_> = expected.iter().map(|line| masked(line)).collect();
        let printed: Vec<_> = printed.lines().map(masked).collect();
        assert_eq!(printed, expected, "{command}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}
