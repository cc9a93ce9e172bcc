//! Backups that are made while the hub serves, and restored.

mod everything_lost;
mod litestream;
mod no_key;
mod paused;
mod postgres_wal;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hub::components::tables;
use hub_db::{Db, Sql};
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::moving::sample;
use crate::player_sessions;
use crate::servers::{register, uuid};
use crate::support::{Backend, Client, Hub, S3, command, fail, on_both, on_each, succeed, text};

/// Folder for the backups of a test.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Puts the key of a hub's secrets where its backup is restored.
fn carry_key(from: &Backend, to: &Backend) {
    std::fs::copy(from.data().join("secrets.key"), to.data().join("secrets.key")).unwrap();
}

/// Waits for a command while the test continues.
async fn beside(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

/// Moves money until it is stopped; returns the number of payments.
async fn pay_until(owner: Client, is_over: Arc<AtomicBool>) -> u64 {
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        let operations = json!({"operations": [
            {"ownerType": "player", "ownerKey": uuid(1), "currency": "coins", "amount": -1},
            {"ownerType": "player", "ownerKey": uuid(2), "currency": "coins", "amount": 1},
        ]});
        owner.post("/api/plugin/economy/transactions", operations).await.expect(200);
        let path = format!("/api/manage/artifacts?name=a{count}&version=1");
        let made = owner.send(owner.request(Method::POST, &path).body("some bytes")).await.expect(201).clone();
        // Its file must stay until the backup has it.
        owner.delete(&format!("/api/manage/artifacts/{}", made["artifactId"].as_str().unwrap())).await.expect(204);
        count += 1;
    }
    count
}

/// Balance of each player, checked against their ledger, which always agrees.
async fn money(db: &Db, owner: &Client) -> Vec<(String, i64)> {
    let network = owner.network.unwrap();
    let balances =
        "SELECT owner_key, balance FROM balances WHERE network_id = $1 AND currency = 'coins' ORDER BY owner_key";
    let ledger = "SELECT owner_key, CAST(SUM(balance - balance_before) AS BIGINT) FROM currency_ledger
                  WHERE network_id = $1 AND currency = 'coins' GROUP BY owner_key ORDER BY owner_key";
    let balances: Vec<(String, i64)> = db.query(balances).bind(network).all().await.unwrap();
    let ledger: Vec<(String, i64)> = db.query(ledger).bind(network).all().await.unwrap();
    assert_eq!(balances, ledger, "the tables are not of one moment");
    balances
}

async fn under_load(from: Backend, to: Backend) {
    let files = Files::new();
    let hub = Hub::start(from.clone()).await;
    let (still, busy) = (hub.network().await, hub.network().await);
    sample::fill(&hub, &still).await;
    for player in [uuid(1), uuid(2)] {
        let pay = json!({"currency": "coins", "amount": 100_000});
        busy.post(&format!("/api/plugin/economy/player/{player}/currencies/modify"), pay).await.expect(200);
    }
    let sum = |money: Vec<(String, i64)>| money.iter().map(|(_, balance)| balance).sum::<i64>();
    let before = sum(money(&hub.app.db, &busy).await);
    let answers = sample::answers(&still).await;
    succeed(
        &from,
        &["admin", "network", "export", &still.network.unwrap().to_string(), "--out", text(&files.path("export"))],
    );
    let is_over = Arc::new(AtomicBool::new(false));
    let paying = tokio::spawn(pay_until(busy.clone(), Arc::clone(&is_over)));

    let file = files.path("backup");
    let output = beside(command(&from, &["admin", "backup", text(&file), "--json"])).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    is_over.store(true, Ordering::Relaxed);
    assert!(paying.await.unwrap() > 0, "nothing happened meanwhile");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "it holds secrets");
    assert!(fail(&from, &["admin", "backup", text(&file)]).contains("already exists"));

    carry_key(&from, &to);
    // Modules that waited after the restore would be told by their chains.
    let restoring = ["admin", "restore", text(&file), "--resume-modules", "--json"];
    let restored: Value = serde_json::from_str(&succeed(&to, &restoring)).unwrap();
    assert_eq!(restored, report);
    assert!(fail(&to, &["admin", "restore", text(&file)]).contains("already contains a hub"));
    let second = Hub::start(to.clone()).await;
    let busy = second.with_key(busy.key.as_deref().unwrap()).for_network(busy.network.unwrap());
    assert_eq!(sum(money(&second.app.db, &busy).await), before, "the backup is not of one moment");
    let still = second.with_key(still.key.as_deref().unwrap()).for_network(still.network.unwrap());
    assert_eq!(sample::answers(&still).await, answers);
    succeed(
        &to,
        &["admin", "network", "export", &still.network.unwrap().to_string(), "--out", text(&files.path("again"))],
    );
    let bytes = |name: &str| std::fs::read(files.path(name)).unwrap();
    assert!(bytes("export") == bytes("again"), "the network is not what it was");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_under_load_into_sqlite() {
    under_load(Backend::sqlite(), Backend::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_under_load_into_postgres() {
    under_load(Backend::sqlite(), Backend::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_under_load_into_postgres() {
    under_load(Backend::postgres_in_english().await, Backend::postgres().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_under_load_into_sqlite() {
    under_load(Backend::postgres().await, Backend::sqlite()).await;
}

/// A restored hub has everything: people, plans, secrets and keys.
async fn the_hub_itself_is_restored(backend: Backend) {
    let files = Files::new();
    let hub = Hub::start(backend.clone()).await;
    let operator = hub.operator().await;
    operator.post("/api/admin/plans", json!({"name": "gold", "limits": {"servers": 3}})).await.expect(201);
    let person = ["admin", "person", "create", "a@example.org", "--operator", "--name", "Ada"];
    succeed(&backend, &person);
    let deleted = operator.post("/api/admin/networks", json!({"name": "gone"})).await.expect(201).clone();
    let deleted = format!("/api/admin/networks/{}", deleted["networkId"].as_str().unwrap());
    operator.delete(&deleted).await.expect(204);
    let owner = hub.network().await;
    let counts = counts(&hub.app.db).await;
    succeed(&backend, &["admin", "backup", text(&files.path("backup"))]);
    let of_owner = format!("/api/admin/networks/{}", owner.network.unwrap());
    operator.delete(&format!("{of_owner}?now=true")).await.expect(204);
    hub.advance_ms(2_000);
    let is_gone = async || operator.get(&of_owner).await.expect(200)["deletedAt"].is_number();
    Hub::eventually("it is deleted", is_gone).await;
    let to = Backend::like(&backend).await;
    succeed(&to, &["admin", "restore", text(&files.path("backup"))]);
    let second = Hub::start(to).await;
    assert_eq!(self::counts(&second.app.db).await, counts);
    let operator = second.with_key(operator.key.as_deref().unwrap());
    let log = operator.get("/api/admin/audit?action=hub.restored").await.expect(200)["items"][0].clone();
    assert_eq!((&log["action"], &log["actor"]["id"]), (&json!("hub.restored"), &json!("command-line")), "{log}");
    assert_eq!(log["target"], log["after"]["backupId"]);
    let plan = operator.get("/api/admin/plans").await.expect(200).to_string();
    assert!(plan.contains("gold"), "{plan}");
    assert!(operator.get(&deleted).await.expect(200)["deleteAt"].is_number());
    // Deletions since the backup come back, as `docs/operate/backup.md` says, and are made again.
    second.with_key(owner.key.as_deref().unwrap()).get("/api/manage/keys").await.expect(200);
    operator.delete(&format!("{of_owner}?now=true")).await.expect(204);
}

async fn counts(db: &Db) -> BTreeMap<&'static str, i64> {
    let mut counts = BTreeMap::new();
    for table in
        ["plans", "persons", "person_recovery_codes", "hub_secrets", "network_deletions", "networks", "api_keys"]
    {
        let sql: &'static str = Box::leak(format!("SELECT COUNT(*) AS rows FROM {table}").into_boxed_str());
        counts.insert(table, db.query(sql).one::<(i64,)>().await.unwrap().0);
    }
    counts
}

async fn forgotten_players_stay_forgotten(backend: Backend) {
    let files = Files::new();
    let hub = Hub::start(backend.clone()).await;
    let owner = hub.network().await;
    sample::fill(&hub, &owner).await;
    succeed(&backend, &["admin", "backup", text(&files.path("backup"))]);
    owner.delete(&format!("/api/manage/players/{}", uuid(1))).await.expect(204);
    std::fs::write(files.path("list"), succeed(&backend, &["admin", "player", "forgotten"])).unwrap();
    hub.stop().await;

    let is_there = async |to: &Backend| {
        let hub = Hub::start(to.clone()).await;
        let owner = hub.with_key(owner.key.as_deref().unwrap());
        let there = owner.get(&format!("/api/plugin/players/{}", uuid(1))).await.status.is_success();
        let export = owner.get(&format!("/api/manage/players/{}/export", uuid(1))).await.expect(200).clone();
        assert_eq!(export["tables"].as_object().unwrap().is_empty(), !there, "{export}");
        owner.get(&format!("/api/plugin/players/{}", uuid(2))).await.expect(200);
        let forgotten = owner.get("/api/manage/forgotten-players").await.expect(200).clone();
        assert!(forgotten["items"].as_array().unwrap().iter().all(|item| !item["finishedAt"].is_null()), "{forgotten}");
        there
    };
    let without_list = Backend::like(&backend).await;
    succeed(&without_list, &["admin", "restore", text(&files.path("backup"))]);
    assert!(is_there(&without_list).await, "the backup is older than the deletion");
    let with_list = Backend::like(&backend).await;
    std::fs::write(files.path("bad"), "{}").unwrap();
    let (backup, bad) = (files.path("backup"), files.path("bad"));
    assert!(fail(&with_list, &["admin", "restore", text(&backup), "--forgotten", text(&bad)]).contains("line 1"));
    succeed(&with_list, &["admin", "restore", text(&files.path("backup")), "--forgotten", text(&files.path("list"))]);
    assert!(!is_there(&with_list).await, "a restore brought back a forgotten player");
}

/// Servers that ran before hold sessions that the backup has, and others that it has not.
async fn fences_from_before_a_restore_are_refused(backend: Backend) {
    let files = Files::new();
    let hub = Hub::start(backend.clone()).await;
    let owner = hub.network().await;
    register(&owner, "a", json!({})).await;
    let kept = player_sessions::open(&owner, 1, "a").await;
    succeed(&backend, &["admin", "backup", text(&files.path("backup"))]);
    let lost = player_sessions::open(&owner, 2, "a").await;
    hub.stop().await;
    let to = Backend::like(&backend).await;
    succeed(&to, &["admin", "restore", text(&files.path("backup"))]);
    let hub = Hub::start(to).await;
    let owner = hub.with_key(owner.key.as_deref().unwrap());
    register(&owner, "a", json!({})).await;
    for (player, fence) in [(1, kept), (2, lost)] {
        let body = json!({"data": player_sessions::data("n", &json!(1))});
        player_sessions::save(&owner, player, fence, body.clone()).await.expect_error(409, "stale_session");
        let next = player_sessions::open(&owner, player, "a").await;
        assert!(next > lost, "{next} was given before");
        player_sessions::save(&owner, player, next, body).await.expect(200);
    }
}

/// A hub with half of a backup does not start.
#[track_caller]
fn expect_not_served(backend: &Backend) {
    // One that does would serve for ever.
    let mut command = Command::new("timeout");
    command.args(["60", env!("CARGO_BIN_EXE_hub"), "serve", "--listen", "127.0.0.1:0"]).args(backend.options());
    let error = String::from_utf8(command.output().unwrap().stderr).unwrap();
    assert!(error.contains("partially restored"), "{error}");
}

async fn a_killed_restore_continues(backend: Backend) {
    let files = Files::new();
    let hub = Hub::start(backend.clone()).await;
    let owner = hub.network().await;
    sample::fill(&hub, &owner).await;
    let answers = sample::answers(&owner).await;
    succeed(&backend, &["admin", "backup", text(&files.path("backup"))]);
    succeed(&backend, &["admin", "backup", text(&files.path("other"))]);
    hub.stop().await;
    let to = Backend::like(&backend).await;
    carry_key(&backend, &to);
    let mut settings = hub::config::Settings::default();
    to.apply(&mut settings);
    let db = Db::connect(&settings.database()).await.unwrap();
    db.migrate().await.unwrap();

    // It is read twice: whole, to be checked, and then as far as it goes.
    let pipe = files.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut restore = command(&to, &["admin", "restore", text(&pipe)]).stdout(Stdio::null()).spawn().unwrap();
    let whole = std::fs::read(files.path("backup")).unwrap();
    let feed = async |bytes: Vec<u8>| {
        let pipe = pipe.clone();
        let write = move || {
            use std::io::Write as _;
            let mut pipe = OpenOptions::new().write(true).open(pipe).unwrap();
            pipe.write_all(&bytes).unwrap();
            pipe
        };
        tokio::task::spawn_blocking(write).await.unwrap()
    };
    drop(feed(whole.clone()).await);
    let parts = async || {
        let row: Option<(i64,)> = db.query("SELECT members FROM restores").optional().await.unwrap();
        row.map_or(-1, |(members,)| members)
    };
    Hub::eventually("it has begun", async || parts().await >= 0).await;
    let rest = feed(whole[..whole.len() / 2].to_vec()).await;
    Hub::eventually("some of it is there", async || parts().await > 5).await;
    restore.kill().unwrap();
    restore.wait().unwrap();
    drop(rest);
    expect_not_served(&to);
    assert!(
        fail(&to, &["admin", "restore", text(&files.path("other"))]).contains("partially restored from another backup")
    );
    let before = parts().await;
    // It is compared with the backup before it is served.
    let set = "UPDATE plans SET created_at = created_at + $1";
    db.write(set).bind(1_i64).execute().await.unwrap();
    let error = fail(&to, &["admin", "restore", text(&files.path("backup"))]);
    assert!(error.contains("plans differs: 1 rows instead of 1; another process has written"), "{error}");
    expect_not_served(&to);
    db.write(set).bind(-1_i64).execute().await.unwrap();
    succeed(&to, &["admin", "restore", text(&files.path("backup"))]);
    assert!(before > 5);
    db.close().await;
    let hub = Hub::start(to).await;
    assert_eq!(sample::answers(&hub.with_key(owner.key.as_deref().unwrap())).await, answers);
}

async fn damaged_backups_are_refused(backend: Backend) {
    let files = Files::new();
    let hub = Hub::start(backend.clone()).await;
    sample::fill(&hub, &hub.network().await).await;
    let file = files.path("backup");
    succeed(&backend, &["admin", "backup", text(&file)]);
    let whole = std::fs::read(&file).unwrap();
    let to = Backend::like(&backend).await;
    let find = |needle: &[u8]| whole.windows(needle.len()).position(|window| window == needle).unwrap();
    let cases = [
        ("a digit of a row", find(b"\"bedwars-9\"") + 9, "is damaged"),
        ("a byte of a file", find(b"an island"), "is damaged"),
        ("the schema", find(b"\"schema\":") + 9, "another version of the hub made it"),
    ];
    for (what, at, reason) in cases {
        let damaged = files.path("damaged");
        std::fs::write(&damaged, &whole).unwrap();
        let byte = if whole[at] == b'1' { b'2' } else { b'1' };
        OpenOptions::new().write(true).open(&damaged).unwrap().write_all_at(&[byte], at as u64).unwrap();
        let error = fail(&to, &["admin", "restore", text(&damaged)]);
        assert!(error.contains(reason), "{what}: {error}");
    }
    std::fs::write(files.path("short"), &whole[..whole.len() - 20_000]).unwrap();
    fail(&to, &["admin", "restore", text(&files.path("short"))]);
    let export = files.path("export");
    std::fs::write(&export, "no tar").unwrap();
    fail(&to, &["admin", "restore", text(&export)]);
    // No trace of the earlier writes.
    succeed(&to, &["admin", "restore", text(&file)]);
}

on_both! {
    async fn files_are_kept_while_a_backup_needs_them(hub: Hub) {
        let owner = hub.network().await;
        let upload = owner.request(Method::POST, "/api/manage/artifacts?name=a&version=1").body("some bytes");
        let made = owner.send(upload).await.expect(201).clone();
        let hold = "INSERT INTO backup_holds (hold_id, beat) VALUES ('b', 7)";
        hub.app.db.write(hold).execute().await.unwrap();
        owner.delete(&format!("/api/manage/artifacts/{}", made["artifactId"].as_str().unwrap())).await.expect(204);
        assert_eq!(hub.blobs().len(), 1, "a backup misses its file");
        // It sends heartbeats.
        hub.advance_ms(10 * 60 * 1000);
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        hub.app.db.write("UPDATE backup_holds SET beat = 8").execute().await.unwrap();
        hub.advance_ms(10 * 60 * 1000);
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        assert_eq!(hub.blobs().len(), 1, "a backup misses its file");
        // It was killed.
        Hub::eventually("the file is deleted", async || {
            hub.advance_ms(10 * 60 * 1000);
            hub.blobs().is_empty()
        }).await;
    }

    async fn every_table_is_backed_up_or_skipped(hub: Hub) {
        let names = Sql {
            sqlite: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
            postgres: "SELECT table_name::text FROM information_schema.tables
                       WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
        };
        let mut rows: Vec<(String,)> = hub.app.db.query(names).all().await.unwrap();
        rows.extend(hub.app.module_store.query(names).all::<(String,)>().await.unwrap());
        let found: BTreeSet<String> = rows.into_iter().map(|(name,)| name)
            .filter(|name| name != "_sqlx_migrations" && !name.contains("player_search")).collect();
        let skipped = tables().rules().iter().filter(|rule| rule.skipped_by_backup.is_some()).map(|rule| rule.name);
        let listed = tables().backed_up().into_iter().map(|(table, _)| table.name).chain(skipped);
        assert_eq!(found, listed.map(str::to_owned).collect());
    }
}

async fn a_file_that_rots_on_the_disk_is_reported_and_not_backed_up(backend: Backend) {
    let files = Files::new();
    let hub = Hub::start(backend.clone()).await;
    let owner = hub.network().await;
    let upload = owner.request(Method::POST, "/api/manage/artifacts?name=a&version=1").body("some bytes");
    owner.send(upload).await.expect(201);
    let blob = hub.blobs().remove(0);
    std::fs::write(&blob, "come bytes").unwrap();
    let error = fail(&backend, &["admin", "backup", text(&files.path("backup"))]);
    assert!(error.contains("has a wrong SHA-256"), "{error}");
    assert!(std::fs::read_dir(files.0.path()).unwrap().next().is_none(), "half a backup is there");
    std::fs::write(&blob, "some bytes").unwrap();
    succeed(&backend, &["admin", "backup", text(&files.path("backup"))]);
}

async fn files_in_s3_stay_there(backend: Backend) {
    let (files, s3) = (Files::new(), S3::start().await);
    let hub = Hub::start_with(backend.clone(), |settings| settings.blobs = Some(s3.url())).await;
    let owner = hub.network().await;
    let upload = owner.request(Method::POST, "/api/manage/artifacts?name=a&version=1").body("some bytes");
    owner.send(upload).await.expect(201);
    let (file, url) = (files.path("backup"), s3.url());
    let output = beside(command(&backend, &["admin", "backup", text(&file), "--blobs", &url])).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("also back up the bucket"));
    assert!(!std::fs::read(&file).unwrap().windows(10).any(|bytes| bytes == b"some bytes"));
    let empty = S3::start().await;
    let to = Backend::like(&backend).await;
    let wrong = empty.url();
    let output = beside(command(&to, &["admin", "restore", text(&file), "--blobs", &wrong])).await;
    assert!(String::from_utf8_lossy(&output.stderr).contains("some are missing in the blob store"), "{output:?}");
    // With the right one, it continues.
    let output = beside(command(&to, &["admin", "restore", text(&file), "--blobs", &url])).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

on_each! {
    the_hub_itself_is_restored
    forgotten_players_stay_forgotten
    fences_from_before_a_restore_are_refused
    a_killed_restore_continues
    damaged_backups_are_refused
    a_file_that_rots_on_the_disk_is_reported_and_not_backed_up
    files_in_s3_stay_there
}
