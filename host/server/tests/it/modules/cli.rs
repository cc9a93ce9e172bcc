//! `hub module …`, as an owner uses it.

use std::process::Output;

use serde_json::{Value, json};

use super::{point, refused, say, wasm};
use crate::support::{Client, Hub, on_both};

async fn hub_module(hub: &Hub, owner: &Client, arguments: &[&str]) -> Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hub"));
    command.arg("module").args(arguments).env("HUB_URL", hub.url()).env("HUB_KEY", owner.key.as_deref().unwrap());
    command.env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

pub(super) async fn succeed(hub: &Hub, owner: &Client, arguments: &[&str]) -> String {
    let output = hub_module(hub, owner, arguments).await;
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

pub(super) async fn fail(hub: &Hub, owner: &Client, arguments: &[&str]) -> String {
    let output = hub_module(hub, owner, arguments).await;
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

on_both! {
    async fn a_module_is_pushed_activated_and_rolled_back(hub: Hub) {
        let owner = hub.network().await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("moody.wasm");
        let path = file.to_str().unwrap();
        std::fs::write(&file, wasm::moody(1)).unwrap();
        let pushed = succeed(&hub, &owner, &["push", path, "--activate", "chat"]).await;
        assert_eq!(pushed, "moody version 1 is READY\nchat: moody 1\n");
        assert_eq!(refused(&say(&hub, &owner, "R").await), "rude");

        std::fs::write(&file, wasm::moody(2)).unwrap();
        let pushed = succeed(&hub, &owner, &["push", path, "--name", "other"]).await;
        assert_eq!(pushed, "other version 1 is READY\n");
        succeed(&hub, &owner, &["push", path]).await;
        let config = folder.path().join("config.json");
        std::fs::write(&config, r#"{"a": 1}"#).unwrap();
        let from_file = format!("@{}", config.display());
        let activate = ["activate", "moody", "2", "--point", "chat", "--config", &from_file];
        assert_eq!(succeed(&hub, &owner, &activate).await, "chat: moody 2\n");
        assert_eq!(point(&owner, "chat").await["modules"][0]["config"], json!({"a": 1}));
        // The next version takes the place of the one before and keeps its configuration.
        let activate = ["activate", "moody", "1", "--point", "chat"];
        assert_eq!(succeed(&hub, &owner, &activate).await, "chat: moody 1\n");
        assert_eq!(point(&owner, "chat").await["modules"][0]["config"], json!({"a": 1}));
        let activate = ["activate", "other", "1", "--point", "chat"];
        assert_eq!(succeed(&hub, &owner, &activate).await, "chat: moody 1, then other 1\n");
        assert_eq!(succeed(&hub, &owner, &["rollback", "--point", "chat"]).await, "chat: moody 1\n");

        std::fs::write(&file, wasm::picky()).unwrap();
        succeed(&hub, &owner, &["push", path, "--name", "picky"]).await;
        let activate = ["activate", "picky", "--point", "chat", "--config", r#"{"a": 1}"#];
        let refused = fail(&hub, &owner, &activate).await;
        assert!(refused.contains("picky") && refused.contains("no thanks"), "{refused}");
        assert_eq!(point(&owner, "chat").await["modules"][0]["name"], "moody");
        let warned = hub_module(&hub, &owner, &[&activate[..], &["--force"]].concat()).await;
        let printed = String::from_utf8(warned.stderr).unwrap();
        assert!(warned.status.success() && printed.contains("WARNING: picky 1") && printed.contains("no thanks"), "{printed}");
        succeed(&hub, &owner, &["rollback", "--point", "chat"]).await;

        for line in ["G1", "G2", "G3"] {
            say(&hub, &owner, line).await;
        }
        let logs = succeed(&hub, &owner, &["logs", "moody", "--limit", "2"]).await;
        let ends: Vec<_> = logs.lines().map(|line| &line[line.len() - 2..]).collect();
        assert_eq!(ends, ["G2", "G3"]);
    }

    async fn the_newest_version_is_the_default_and_answers_are_json(hub: Hub) {
        let owner = hub.network().await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("moody.wasm");
        let path = file.to_str().unwrap();
        for version in 1..=2 {
            std::fs::write(&file, wasm::moody(version)).unwrap();
            succeed(&hub, &owner, &["push", path]).await;
        }
        assert_eq!(succeed(&hub, &owner, &["activate", "moody", "--point", "chat"]).await, "chat: moody 2\n");
        let input = json!({
            "player": {"uuid": "069a79f4-44e9-4726-a5be-fca90e38aaf5", "name": "Notch"}, "message": "R", "serverId": "s",
            "serverType": "lobby",
        });
        let dry_run = ["dry-run", "moody", "--point", "chat", "--input", &input.to_string()];
        assert!(succeed(&hub, &owner, &dry_run).await.contains("rude"));
        say(&hub, &owner, "R").await;
        let replayed = succeed(&hub, &owner, &["replay", "moody", "--point", "chat"]).await;
        assert!(replayed.starts_with("1 call: 1 same"), "{replayed}");
        let printed = fail(&hub, &owner, &["activate", "nobody", "--point", "chat"]).await;
        assert!(printed.contains("nobody"), "{printed}");

        let json = async |arguments: &[&str]| -> Value {
            serde_json::from_str(&succeed(&hub, &owner, &[arguments, &["--json"]].concat()).await).unwrap()
        };
        let pushed = json(&["push", path, "--activate", "chat"]).await;
        assert_eq!((&pushed["version"], &pushed["extensionPoints"][0]["modules"][0]["version"]), (&json!(2), &json!(2)));
        let activated = json(&["activate", "moody", "1", "--point", "chat"]).await;
        assert_eq!(activated["modules"][0]["version"], 1);
        assert_eq!(json(&["rollback", "--point", "chat"]).await["modules"][0]["version"], 2);
        assert_eq!(json(&["deactivate", "moody", "--point", "chat"]).await["modules"], json!([]));
        let cases = folder.path().join("cases.json");
        let saved = json(&["calls", "--point", "chat", "--save", cases.to_str().unwrap()]).await;
        assert_eq!((&saved["added"], &saved["leftOut"]), (&json!(1), &json!(0)));
    }

    async fn only_the_failed_calls_of_the_module_are_saved(hub: Hub) {
        let owner = hub.network().await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("moody.wasm");
        let path = file.to_str().unwrap();
        std::fs::write(&file, wasm::moody(1)).unwrap();
        for name in ["first", "second"] {
            succeed(&hub, &owner, &["push", path, "--name", name, "--activate", "chat"]).await;
        }
        std::fs::write(&file, wasm::counting()).unwrap();
        succeed(&hub, &owner, &["push", path, "--name", "fine", "--activate", "chat"]).await;
        // Both trap at it, the third does not.
        say(&hub, &owner, "T").await;
        say(&hub, &owner, "hello").await;
        let cases = folder.path().join("cases.json");
        let save = ["calls", "--point", "chat", "--failed", "--save", cases.to_str().unwrap(), "--module"];
        assert!(succeed(&hub, &owner, &[&save[..], &["fine"]].concat()).await.ends_with(": 0 cases added\n"));
        assert!(succeed(&hub, &owner, &[&save[..], &["second"]].concat()).await.ends_with(": 1 case added\n"));
        let saved: Value = serde_json::from_str(&std::fs::read_to_string(&cases).unwrap()).unwrap();
        assert_eq!(saved.as_array().unwrap().len(), 1);
        assert!(saved[0]["name"].as_str().unwrap().starts_with("second 1, call "), "{saved}");
        assert_eq!(saved[0]["expect"], json!({"failure": "trap"}));
        assert!(succeed(&hub, &owner, &save[..6]).await.ends_with(": 1 case added\n"), "that of the first");
    }

    async fn errors_are_printed(hub: Hub) {
        let owner = hub.network().await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bad.wasm");
        std::fs::write(&file, wasm::wasi()).unwrap();
        let path = file.to_str().unwrap();
        for (arguments, hint) in [
            (&["push", path][..], "WASI"),
            (&["push", "/does/not/exist.wasm"], "can't be read"),
            (&["push", folder.path().to_str().unwrap()], "Cargo.toml"),
            (&["build", folder.path().to_str().unwrap()], "Cargo.toml"),
            (&["activate", "nobody", "1", "--point", "chat"], "nobody"),
            (&["activate", "nobody", "1", "--point", "weather"], "weather"),
            (&["activate", "nobody", "1", "--point", "chat", "--config", "[]"], "JSON object"),
            (&["rollback", "--point", "chat"], "has no previous chain"),
            (&["logs", "nobody"], "nobody"),
            (&["logs", "nobody", "--hub", "http://127.0.0.1:9"], "does not answer"),
            (&["logs", "nobody", "--hub", "127.0.0.1:8080"], "`127.0.0.1:8080` is no address of a hub"),
            (&["logs", "nobody", "--hub", "localhost:8080"], "must read as http://127.0.0.1:8080 or https://hub.example"),
        ] {
            let printed = fail(&hub, &owner, arguments).await;
            assert!(printed.contains(hint), "{arguments:?}: {printed}");
        }
    }
}
