//! Inspecting modules in production with `hub module …`.

use serde_json::{Value, json};

use super::cli::{fail, succeed};
use super::{chain, point, say, upload, wasm};
use crate::support::on_both;

on_both! {
    async fn recorded_calls_are_listed_saved_and_replayed(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "guard", wasm::moody(1)).await.expect(201);
        upload(&owner, "guard", wasm::rude()).await.expect(201);
        let link = json!({"name": "guard", "version": 1, "config": {"k": 1}});
        chain(&owner, "chat", json!([link])).await.expect(200);
        for line in ["hello", "D", "W"] {
            say(&hub, &owner, line).await;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (module, cases) = (path("guard.wasm"), path("cases.json"));
        std::fs::write(&module, wasm::moody(1)).unwrap();

        let listed = succeed(&hub, &owner, &["calls", "--point", "chat"]).await;
        assert!(listed.contains("guard 1: trap") && listed.ends_with("3 of 3\n"), "{listed}");
        let failed = succeed(&hub, &owner, &["calls", "--point", "chat", "--failed", "--module", "guard", "--json"]).await;
        let failed: Value = serde_json::from_str(&failed).unwrap();
        assert_eq!(failed["total"], 1);
        let id = failed["items"][0]["callId"].as_str().unwrap().to_owned();

        // Recorded calls become test cases, each once.
        for added in ["3 cases added", "0 cases added"] {
            let saved = succeed(&hub, &owner, &["calls", "--point", "chat", "--save", &cases]).await;
            assert!(saved.contains(added), "{saved}");
        }
        let tested = succeed_alone(&["test", &module, &cases, "--time-limit", "5000"]).await;
        assert!(tested.ends_with("3 cases: 3 ok, 0 failed\n"), "{tested}");

        // On the hub and locally, with the same result.
        let there = succeed(&hub, &owner, &["replay", "guard", "1", "--call", &id]).await;
        let here = succeed(&hub, &owner, &["replay", "--call", &id, "--local", &module]).await;
        for printed in [&there, &here] {
            for hint in [&id, r#"then    {"failure": "trap"}"#, r#"config  {"k": 1}"#, "failed  trap", "recurse"] {
                assert!(printed.contains(hint), "{hint}: {printed}");
            }
        }
        let fuel = |printed: &str| printed.split(", ").find(|part| part.contains(" fuel")).unwrap_or(printed).to_owned();
        let cost = |printed: &str| fuel(printed.lines().find(|line| line.starts_with("cost")).unwrap());
        assert_eq!(cost(&there).trim_start_matches("cost    "), cost(&here));
        let here = succeed(&hub, &owner, &["replay", "--point", "chat", "--call", &id, "--local", &module, "--json"]).await;
        let here: Value = serde_json::from_str(&here).unwrap();
        assert_eq!((&here["same"], &here["unrecorded"], &here["input"]["message"]), (&json!(true), &json!(0), &json!("D")));

        let many = succeed(&hub, &owner, &["replay", "guard", "2", "--point", "chat", "--last", "2"]).await;
        assert!(many.starts_with("2 calls: 0 same, 2 different, 0 failed\n"), "{many}");
        assert!(many.contains(r#"answer  {"decision": {"refuse": "no"}, "mute": null}"#), "{many}");

        for (arguments, hint) in [
            (&["replay", "guard", "1", "--call", "none"][..], "no recorded call none"),
            (&["replay", "guard", "1"], "--point"),
            (&["replay", "--point", "chat"], "NAME"),
            (&["replay", "guard", "9", "--point", "chat"], "guard version 9"),
            (&["replay", "--call", &id, "--local", "/does/not/exist.wasm"], "cannot read"),
            (&["calls", "--point", "weather"], "weather"),
        ] {
            let printed = fail(&hub, &owner, arguments).await;
            assert!(printed.contains(hint), "{arguments:?}: {printed}");
        }
    }

    async fn versions_run_as_shadow_and_canary_before_they_are_active(hub: Hub) {
        let owner = hub.network().await;
        upload(&owner, "guard", wasm::moody(1)).await.expect(201);
        chain(&owner, "chat", json!([{"name": "guard", "version": 1, "config": {"k": 1}}])).await.expect(200);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("guard.wasm");
        std::fs::write(&file, wasm::rude()).unwrap();
        let path = file.to_str().unwrap();
        let pushed = succeed(&hub, &owner, &["push", path, "--activate", "chat", "--mode", "shadow"]).await;
        assert_eq!(pushed, "guard version 2 is READY\nchat: guard 1, then guard 2 (shadow)\n");
        assert_eq!(point(&owner, "chat").await["modules"][1]["config"], json!({"k": 1}));
        let canary = ["activate", "guard", "2", "--point", "chat", "--mode", "canary", "--percent", "100"];
        let activated = succeed(&hub, &owner, &canary).await;
        assert_eq!(activated, "chat: guard 1, then guard 2 (canary, 100 %)\n");
        // Version 1 becomes the shadow of the active one.
        succeed(&hub, &owner, &["activate", "guard", "1", "--point", "chat", "--mode", "shadow"]).await;
        say(&hub, &owner, "hello").await;
        let shown = succeed(&hub, &owner, &["show", "guard"]).await;
        for hint in ["guard  2        READY", "chat: guard 2 (canary, 100 %), breaker CLOSED", "calls     1, of which 0 failed", "shadow    same"] {
            assert!(shown.contains(hint), "{hint}: {shown}");
        }
        let listed = succeed(&hub, &owner, &["list"]).await;
        assert!(listed.contains("matchmaking: the built-in behaviour\nchat: guard 1, then guard 1 (shadow), then guard 2 (canary, 100 %)\npunishment: the built-in behaviour\n"), "{listed}");
        let activated = succeed(&hub, &owner, &["activate", "guard", "2", "--point", "chat"]).await;
        assert_eq!(activated, "chat: guard 2, then guard 1 (shadow)\n");
        let deactivate = ["deactivate", "guard", "--point", "chat", "--mode", "shadow"];
        assert_eq!(succeed(&hub, &owner, &deactivate).await, "chat: guard 2\n");
        assert!(fail(&hub, &owner, &deactivate).await.contains("guard is not in the chain"));

        let line = r#"{"player": {"uuid": "u", "name": "n"}, "message": "T", "serverId": "s", "serverType": "t"}"#;
        let dry = succeed(&hub, &owner, &["dry-run", "guard", "2", "--point", "chat", "--input", line]).await;
        assert!(dry.starts_with("failed  trap\n") && dry.contains("cost    "), "{dry}");
        for (arguments, hint) in [
            (&["activate", "guard", "1", "--point", "chat", "--mode", "canary"][..], "--percent"),
            (&["activate", "guard", "1", "--point", "chat", "--percent", "5"], "--mode canary"),
            (&["activate", "guard", "1", "--point", "chat", "--mode", "loud"], "shadow"),
            (&["dry-run", "guard", "2", "--point", "chat", "--input", "5"], "input must be one JSON object"),
            (&["show", "nobody"], "nobody"),
        ] {
            let printed = fail(&hub, &owner, arguments).await;
            assert!(printed.contains(hint), "{arguments:?}: {printed}");
        }
    }
}

/// A command that needs no hub.
async fn succeed_alone(arguments: &[&str]) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hub"));
    command.arg("module").args(arguments).env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).unwrap()
}
