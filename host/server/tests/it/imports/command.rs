//! `hub import …`, and a hub that is killed meanwhile.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use super::files;
use crate::cli::{Installation, Serving};
use crate::support::{Backend, Hub, on_each};

fn run(hub: &Serving, key: &str, arguments: &[&str]) -> Output {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_hub"));
    command.arg("import").args(arguments).env("HUB_URL", &hub.url).env("HUB_KEY", key).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

async fn owners_import_by_command(backend: Backend) {
    let installation = Installation::new(backend);
    let key =
        installation.json(&["admin", "network", "create", "mine", "--json"])["apiKey"].as_str().unwrap().to_owned();
    let hub = installation.serve();
    let folder = tempfile::TempDir::new().unwrap();
    let userdata = folder.path().join("userdata");
    fs::create_dir(&userdata).unwrap();
    for at in 0..3 {
        fs::write(userdata.join(format!("{}.yml", files::player(at))), format!("money: '{at}.25'\n")).unwrap();
    }
    let path = userdata.to_str().unwrap();
    let dry = run(&hub, &key, &["balances", path, "--currency", "coins", "--dry-run"]);
    assert!(dry.status.success(), "{}", text(&dry));
    assert!(
        text(&dry).contains("nothing was written") && text(&dry).contains("balances             3"),
        "{}",
        text(&dry)
    );
    let done = run(&hub, &key, &["balances", path, "--currency", "coins", "--json"]);
    let done: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&done["state"], &done["report"]["counts"][0]["created"]), (&json!("DONE"), &json!(3)));
    let wrong = folder.path().join("export.json.gz");
    fs::write(&wrong, files::gzip(b"{\"groups\":\n[]}")).unwrap();
    let failed = run(&hub, &key, &["luckperms", wrong.to_str().unwrap()]);
    assert!(!failed.status.success() && text(&failed).contains("line 2: "), "{}", text(&failed));
    let listed = run(&hub, &key, &["list"]);
    assert_eq!(text(&listed).lines().count(), 3, "{}", text(&listed));
    let id = done["importId"].as_str().unwrap();
    for command in ["show", "cancel"] {
        let shown = run(&hub, &key, &[command, id]);
        assert!(text(&shown).contains(&format!("import {id} of BALANCES: DONE")), "{}", text(&shown));
    }
    let unknown = run(&hub, &key, &["litebans", "/does/not/exist.sql"]);
    assert!(!unknown.status.success() && text(&unknown).contains("/does/not/exist.sql"), "{}", text(&unknown));
}

/// Serves, waits until some of the import is written, and kills the hub.
async fn kill_within(installation: &Installation, mut hub: Serving, key: &str, path: &str, least: u64) -> Serving {
    Hub::eventually("a part of it is written", async || {
        let import = hub.client(key).get(path).await.expect(200).clone();
        import["done"].as_u64().unwrap() > least || import["state"] == "DONE"
    })
    .await;
    assert_eq!(hub.client(key).get(path).await.expect(200)["state"], "RUNNING", "it was done before it was killed");
    installation.kill(&mut hub).await;
    installation.serve()
}

async fn an_import_survives_a_kill(backend: Backend) {
    const BALANCES: usize = 12_000;
    let installation = Installation::new(backend);
    let key =
        installation.json(&["admin", "network", "create", "mine", "--json"])["apiKey"].as_str().unwrap().to_owned();
    let hub = installation.serve();
    let made = super::upload(&hub.client(&key), "kind=balances&currency=coins", files::balances(BALANCES)).await;
    let path = format!("{}/{}", super::IMPORTS, made.expect(201)["importId"].as_str().unwrap());
    let hub = kill_within(&installation, hub, &key, &path, 0).await;
    let done = super::finished(&hub.client(&key), path.rsplit('/').next().unwrap()).await;
    assert_eq!((&done["state"], &done["done"], &done["total"]), (&json!("DONE"), &json!(BALANCES), &json!(BALANCES)));
    assert_eq!(super::counts(&done, "BALANCES"), [i64::try_from(BALANCES).unwrap(), 0, 0, 0]);
    for at in [0, 700, BALANCES / 2, BALANCES - 1] {
        let owner = format!("player/{}", files::player(at));
        let balance = hub.client(&key).get(&format!("/api/plugin/economy/{owner}/currencies")).await;
        #[allow(clippy::cast_precision_loss)]
        let expected = at as f64 + 0.5;
        assert_eq!(balance.expect(200)[0]["balance"].as_f64(), Some(expected), "{at}");
        let ledger = hub.client(&key).get(&format!("/api/manage/economy/{owner}/ledger")).await;
        assert_eq!(ledger.expect(200)["total"], 1, "{at}");
    }
    let again = super::import(&hub.client(&key), "kind=balances&currency=coins", files::balances(BALANCES)).await;
    assert_eq!(super::counts(&again, "BALANCES"), [0, 0, i64::try_from(BALANCES).unwrap(), 0]);
}

async fn an_import_whose_hub_ends_twice_fails_and_may_be_repeated(backend: Backend) {
    const BALANCES: usize = 12_000;
    let installation = Installation::new(backend);
    let key =
        installation.json(&["admin", "network", "create", "mine", "--json"])["apiKey"].as_str().unwrap().to_owned();
    let hub = installation.serve();
    let made = super::upload(&hub.client(&key), "kind=balances&currency=coins", files::balances(BALANCES)).await;
    let path = format!("{}/{}", super::IMPORTS, made.expect(201)["importId"].as_str().unwrap());
    let hub = kill_within(&installation, hub, &key, &path, 0).await;
    let written = hub.client(&key).get(&path).await.expect(200)["done"].as_u64().unwrap();
    let hub = kill_within(&installation, hub, &key, &path, written).await;
    let failed = super::finished(&hub.client(&key), path.rsplit('/').next().unwrap()).await;
    assert_eq!(failed["state"], "FAILED");
    assert!(failed["error"]["message"].as_str().unwrap().contains("ended twice"), "{failed}");
    let again = super::import(&hub.client(&key), "kind=balances&currency=coins", files::balances(BALANCES)).await;
    assert_eq!(again["state"], "DONE");
    let [created, changed, unchanged, skipped] = super::counts(&again, "BALANCES");
    assert_eq!((created + unchanged, changed, skipped), (i64::try_from(BALANCES).unwrap(), 0, 0));
    assert!(unchanged >= i64::try_from(written).unwrap());
}

on_each! {
    owners_import_by_command an_import_survives_a_kill an_import_whose_hub_ends_twice_fails_and_may_be_repeated
}
