//! `hub module …`, as an owner uses it.

use std::process::Output;

use serde_json::json;

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
        let activate = ["activate", "picky", "1", "--point", "chat", "--config", r#"{"a": 1}"#];
        let warned = hub_module(&hub, &owner, &activate).await;
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
            (&["rollback", "--point", "chat"], "never had another"),
            (&["logs", "nobody"], "nobody"),
            (&["logs", "nobody", "--hub", "http://127.0.0.1:9"], "does not answer"),
        ] {
            let printed = fail(&hub, &owner, arguments).await;
            assert!(printed.contains(hint), "{arguments:?}: {printed}");
        }
    }
}
