//! Words of the command line and of refusals: versions, help, and errors that name what somebody typed.

use std::path::Path;
use std::process::{Command, Output};

use hub::cli::ApiCommands;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::people::member;
use crate::support::{Backend, Hub, on_both};

/// Words by which an error would speak of the program, and not of what somebody typed.
const OF_THE_PROGRAM: [&str; 9] = [
    "expected struct",
    "untagged enum",
    "::",
    "Os {",
    "panicked",
    "RUST_BACKTRACE",
    "missing field `.",
    "Err(",
    "Some(",
];

/// Checks an error of the API (docs/develop/errors.md).
#[track_caller]
pub fn check_sentence(error: &str) {
    let first = error.chars().next().unwrap_or(' ');
    assert!(first.is_uppercase() || "`(0123456789".contains(first), "{error}");
    assert!(error.ends_with('.') && !OF_THE_PROGRAM.iter().any(|word| error.contains(word)), "{error}");
    // A named field says more than its place.
    assert!(!error.contains("`: ") || !error.contains(" at line "), "{error}");
}

/// Checks an error of the command line.
#[track_caller]
fn check_told(arguments: &[&str], error: &str) {
    assert!(error.starts_with("hub: ") || error.starts_with("error: "), "{arguments:?}: {error}");
    let of_request = ["In the body", "In the query", "In the path", " at line 1 column "];
    let wrong = OF_THE_PROGRAM.iter().chain(&of_request).find(|word| error.contains(**word));
    assert!(wrong.is_none(), "{arguments:?}: {error}");
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hub")).args(arguments).output().unwrap()
}

fn text(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Error of `hub serve` with a config file.
fn serve(config: &Path, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--config"]).arg(config).envs(variables.iter().copied());
    let output = command.output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_version_names_the_commit_and_its_date() {
    let version = text(&["--version"]);
    let (_, stamp) = version.trim().split_once(" (").expect(&version);
    let stamp = stamp.strip_suffix(')').unwrap();
    let is_known = stamp.split_once(' ').is_some_and(|(commit, date)| commit.len() >= 7 && date.len() == 10);
    assert!(version.starts_with("hub 0.") && (is_known || stamp == "unknown commit"), "{version}");
    assert_eq!(text(&["admin", "network", "--version"]).split_once(' ').unwrap().1, version.split_once(' ').unwrap().1);
}

#[test]
fn a_wrong_line_of_the_config_file_is_named() {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("hub.toml");
    for (line, expected) in [
        ("listne = \"127.0.0.1:0\"", "hub.toml, line 2: there is no option `listne`; did you mean `listen`?"),
        ("public_url = \"http://localhost\"", "there is no option `public_url`; did you mean `public-url`?"),
        ("colour = 1", "there is no option `colour`; `hub serve --help` lists"),
        ("lease = \"long\"", "hub.toml, `lease`: invalid type"),
    ] {
        std::fs::write(&config, format!("# The hub.\n{line}\n")).unwrap();
        let error = serve(&config, &[]);
        assert!(error.contains(expected), "{error}");
    }
    std::fs::write(&config, "").unwrap();
    let error = serve(&config, &[("HUB_LEASE", "long")]);
    assert!(error.contains("HUB_LEASE: invalid type"), "{error}");
}

#[test]
fn help_is_short_and_in_groups() {
    let help = text(&["-h"]);
    for title in ["Run a hub:", "Game servers and players:", "Your network and account:", "Options:"] {
        assert!(help.contains(title), "{help}");
    }
    assert!(help.lines().count() < 75, "{help}");
    let short = text(&["admin", "network", "create", "-h"]);
    assert!(short.contains("Storage:") && short.contains("--data") && !short.contains("--secrets-key"), "{short}");
    assert!(text(&["admin", "network", "create", "--help"]).contains("--secrets-key"));
    let short = text(&["server", "list", "-h"]);
    assert!(short.contains("Hub:") && short.contains("--profile"), "{short}");
}

#[test]
fn manual_pages_are_written() {
    let folder = TempDir::new().unwrap();
    text(&["man", folder.path().join("man1").to_str().unwrap()]);
    let page = |name: &str| std::fs::read_to_string(folder.path().join("man1").join(name)).unwrap();
    assert!(page("hub.1").contains(".TH hub 1"));
    assert!(page("hub-admin-network-create.1").contains("Create a network and its first API key"));
    assert!(!folder.path().join("man1/hub-compile-module.1").exists());
}

#[test]
fn json_is_one_line_for_programs() {
    let printed = text(&["limits", "--json"]);
    assert_eq!(printed.trim_end().lines().count(), 1, "{printed}");
    serde_json::from_str::<Value>(&printed).unwrap();
}

/// Arguments of each command of the API that nobody means: none of them fits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_of_the_api_name_what_was_typed() {
    let hub = Hub::start(Backend::sqlite()).await;
    let owner = hub.network().await;
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/api-commands.md");
    let page = std::fs::read_to_string(page).unwrap();
    let named: Vec<Vec<_>> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `hub ")?.split('`').next())
        .map(|usage| usage.split(' ').map(|word| if word == word.to_uppercase() { "/no such" } else { word }).collect())
        .filter(|words: &Vec<&str>| words[0] != "events")
        .collect();
    assert!(named.len() > 200);
    let (mut commands, mut told) = (ApiCommands::default(), 0);
    let url = hub.url();
    let of_hub = ["--hub", &url, "--key", owner.key.as_deref().unwrap()];
    for words in named {
        for more in [&["--body", "{\"a\": "], &["--body", "{}"]] {
            let arguments = [&words[..], more, &of_hub].concat();
            // Some take nothing that could be wrong.
            if let Err(error) = commands.call(&arguments).await {
                check_told(&arguments, &error);
                told += 1;
            }
        }
    }
    assert!(told > 300, "{told}");
    let refused = |arguments: &[&str], expected: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        command.args(arguments).env("HUB_URL", hub.url()).env("HUB_KEY", owner.key.as_deref().unwrap());
        let error = String::from_utf8(command.output().unwrap().stderr).unwrap();
        assert!(error.contains(expected), "{error}");
    };
    tokio::task::block_in_place(|| {
        refused(&["punishment", "create-by-name", "--player-name", " ", "--type", "BAN"], "hub: --player-name: ");
        refused(&["punishment", "list-all", "--limit", "0"], "hub: --limit: ");
        refused(&["player", "get", "nobody"], "hub: <UUID>: ");
        refused(
            &["config", "publish-document", "--group", "g", "--namespace", "n", "--doc", "{a"],
            "hub: --doc is not valid JSON: ",
        );
        refused(&["server", "list", "--hub", "hub.example"], "hub: `hub.example` is not a valid hub URL");
        refused(&["player", "get", "nobody", "--json"], "\"error\":");
    });
}

#[test]
fn commands_on_the_data_name_what_was_typed() {
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("none");
    let data = data.to_str().unwrap();
    for (arguments, expected) in [
        (&["admin", "network", "list", "--data", data][..], "no hub found in"),
        (&["admin", "backup", "/no/such/folder/file", "--data", data], "no hub found in"),
        (
            &["admin", "network", "create", "a", "--database", "mysql://host/hub"],
            "postgres://USER:PASSWORD@HOST/DATABASE",
        ),
        (&["admin", "key", "create", "--network", "a", "--scope", "plugins"], "unknown scope"),
        (&["admin", "plan", "create", "a", "--limit", "servers"], "--limit"),
        (&["network", "make", "a"], "unrecognized subcommand"),
        (&["logout", "--profile", "none"], "there is no profile `none`"),
        (&["man", "/proc/none"], "cannot write into /proc/none"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hub"));
        let output = command.args(arguments).env("XDG_CONFIG_HOME", folder.path()).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && error.contains(expected), "{arguments:?}: {error}");
        check_told(arguments, &error);
    }
}

on_both! {
    async fn a_short_password_is_a_wrong_one(hub: Hub) {
        let owner = hub.network().await;
        member(&hub, &owner, "alex@example.org", "VIEWER").await;
        for password in ["", "short", &"long".repeat(1_000)] {
            let body = json!({"email": "alex@example.org", "password": password});
            hub.anonymous().post("/api/people/sign-in", body).await.expect_error(401, "wrong_credentials");
        }
    }

    async fn a_webhook_to_the_own_machine_names_the_option(hub: Hub) {
        let owner = hub.network().await;
        for url in ["https://localhost/hub", "https://hub.localhost", "https://127.0.0.1", "https://10.0.0.1"] {
            let answer = owner.post("/api/manage/webhooks", json!({"url": url, "events": ["CHAT"]})).await;
            answer.expect_error(400, "invalid_request");
            let error = answer.body["error"].as_str().unwrap();
            assert!(error.contains("--webhook-networks") && error.contains("hub webhook listen"), "{error}");
        }
    }
}
