//! A full disk: answers to callers, reports to the operator, and no loss of acknowledged writes.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::Executor as _;

use crate::blobs::boot;
use crate::modules::wasm;
use crate::servers::{register, uuid};
use crate::support::{Answer, Backend, Client, Hub, NOW};

const PAY: &str = "/api/plugin/economy/team/red/currencies/modify";
const BALANCES: &str = "/api/plugin/economy/team/red/currencies";

/// A small file system, until it is dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None`, with a message in the output, if this process may not mount.
    fn mount(folder: &Path, size: &str) -> Option<Self> {
        let options = format!("size={size}");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder);
        if mount.status().is_ok_and(|status| status.success()) {
            return Some(Self(folder.to_owned()));
        }
        eprintln!("SKIPPED: a full disk was not tested, because only root may mount a small file system");
        None
    }

    /// Writes until the disk is full.
    fn fill(&self) {
        let mut filler = File::create(self.filler()).unwrap();
        for piece in [vec![7; 64 << 10], vec![7; 512]] {
            while filler.write_all(&piece).is_ok() {}
        }
    }

    fn empty(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

async fn pay(owner: &Client) -> Answer {
    owner.post(PAY, json!({"currency": "coins", "amount": 1})).await
}

async fn readiness(hub: &Hub) -> (u16, Value) {
    let answer = hub.anonymous().get("/readyz").await;
    (answer.status.as_u16(), answer.body)
}

fn expect_full(answer: &Answer) {
    answer.expect_error(503, "database_unavailable");
    assert_eq!(answer.body["error"], "The disk of the hub's database is full; the operator must free space.");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_on_a_full_disk_is_503_and_recovers() {
    let backend = Backend::sqlite();
    let Some(disk) = SmallDisk::mount(backend.data(), "32m") else { return };
    let hub = Hub::start(backend).await;
    let owner = hub.network().await;
    assert_eq!(readiness(&hub).await, (200, json!({"status": "OK", "lacks": [], "faults": []})));
    let mut paid = 0;
    for _ in 0..5 {
        pay(&owner).await.expect(200);
        paid += 1;
    }
    disk.fill();
    hub.advance_ms(7_000);
    // The remaining space in the log's last page may fit some.
    while paid < 100 {
        let answer = pay(&owner).await;
        if answer.status != 200 {
            expect_full(&answer);
            break;
        }
        paid += 1;
    }
    // Jobs of one batch, single statements and transactions, large and small.
    let large = "x".repeat(200_000);
    let publish = async |at: usize| {
        let body = json!({"group": "lobby", "namespace": format!("n-{at}"), "doc": large});
        owner.post("/api/plugin/config/publish", body).await
    };
    let (payments, documents) =
        tokio::join!(join_all((0..10).map(async |_| pay(&owner).await)), join_all((0..10).map(publish)));
    for answer in payments.iter().chain(&documents) {
        expect_full(answer);
    }
    let full = json!({"status": "UNAVAILABLE", "lacks": ["disk"], "faults": [{"name": "disk", "since": NOW + 7_000,
        "message": "The disk of the data folder is full."}]});
    assert_eq!(readiness(&hub).await, (503, full.clone()));
    hub.advance_ms(3_000);
    assert_eq!(readiness(&hub).await, (503, full), "since when it is full");
    assert_eq!(owner.get(BALANCES).await.expect(200)[0]["balance"], paid, "reading goes on");
    disk.empty();
    assert_eq!(readiness(&hub).await, (200, json!({"status": "OK", "lacks": [], "faults": []})));
    assert_eq!(pay(&owner).await.expect(200)["balance"], paid + 1);
    publish(0).await.expect(200);
    let hub = hub.restart(Duration::ZERO).await;
    let owner = hub.with_key(owner.key.as_deref().unwrap());
    assert_eq!(owner.get(BALANCES).await.expect(200)[0]["balance"], paid + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_that_does_not_fit_on_the_blobs_disk_is_503() {
    let folder = tempfile::TempDir::new().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path(), "8m") else { return };
    let blobs = folder.path().join("blobs").to_str().unwrap().to_owned();
    let hub = Hub::start_with(Backend::sqlite(), |settings| settings.blobs = Some(blobs)).await;
    let owner = hub.network().await;
    let upload = async |version: &str, bytes: usize| {
        let path = format!("/api/manage/artifacts?name=plugin&version={version}");
        owner.send(owner.request(Method::POST, &path).body(vec![1; bytes])).await
    };
    upload("1", 1 << 20).await.expect(201);
    upload("2", 16 << 20).await.expect_error(503, "storage_full");
    // Refused uploads take no room.
    upload("3", 4 << 20).await.expect(201);
    disk.fill();
    upload("4", 100_000).await.expect_error(503, "storage_full");
    let module = owner.request(Method::POST, "/api/manage/modules?name=large");
    owner.send(module.body(wasm::padded(wasm::moody(1), 1_000_000))).await.expect_error(503, "storage_full");
    register(&owner, "islands-1", json!({"serverType": "islands"})).await;
    let path = format!("/api/plugin/worlds/{}/upload-url", boot(&owner).await.0);
    let link = owner.post(&path, Value::Null).await.expect(200)["url"].as_str().unwrap().to_owned();
    let snapshot = async || hub::http_client::client().unwrap().put(&link).body("an island").send().await.unwrap();
    let refused = snapshot().await;
    assert_eq!(
        (refused.status().as_u16(), refused.json::<Value>().await.unwrap()["code"].as_str()),
        (503, Some("storage_full"))
    );
    assert_eq!(readiness(&hub).await.0, 200, "everything else goes on");
    disk.empty();
    upload("4", 100_000).await.expect(201);
    assert_eq!(snapshot().await.status(), 200);
}

/// A node of several needs nothing on its own disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_data_folder_beside_postgresql_keeps_no_module_from_running() {
    let backend = Backend::postgres().await;
    let Some(disk) = SmallDisk::mount(backend.data(), "8m") else { return };
    let folder = tempfile::TempDir::new().unwrap();
    let blobs = folder.path().join("blobs").to_str().unwrap().to_owned();
    let hub = Hub::start_with(backend, |settings| settings.blobs = Some(blobs)).await;
    let owner = hub.network().await;
    disk.fill();
    let upload = owner.request(Method::POST, "/api/manage/modules?name=moody").body(wasm::moody(1));
    assert_eq!(owner.send(upload).await.expect(201)["state"], "READY");
    let modules = json!({"modules": [{"name": "moody", "version": 1, "onFailure": "REFUSE"}]});
    owner.put("/api/manage/extension-points/chat", modules).await.expect(200);
    let line = |message: &str| json!({"playerUuid": uuid(1), "playerName": "p", "message": message, "serverId": "s"});
    let refused = owner.post("/api/plugin/chat", line("Rude")).await;
    assert_eq!(refused.expect(400)["code"], "chat_rejected");
    owner.post("/api/plugin/chat", line("hello")).await.expect(204);
    // An imported file waits for room, and is not retried all the time.
    let import = owner.request(Method::POST, "/api/manage/imports?kind=balances&currency=coins");
    let file = format!("uuid,balance\n{},5\n", uuid(1));
    let import = owner.send(import.body(file)).await.expect(201)["importId"].as_str().unwrap().to_owned();
    let state = async || owner.get(&format!("/api/manage/imports/{import}")).await.expect(200)["state"].clone();
    Hub::eventually("the import is tried", async || state().await == "RUNNING").await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    disk.empty();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(state().await, "RUNNING");
    hub.advance_ms(2_000);
    Hub::eventually("the import is done", async || state().await == "DONE").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgresql_on_a_full_disk_is_503() {
    let hub = Hub::start(Backend::postgres().await).await;
    let owner = hub.network().await;
    pay(&owner).await.expect(200);
    let mut database = hub.database().await;
    // Same error as for a file that can't grow.
    let full = "CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
        CREATE TRIGGER disk_full BEFORE UPDATE ON balances EXECUTE FUNCTION disk_full()";
    database.execute(full).await.unwrap();
    expect_full(&pay(&owner).await);
    database.execute("DROP TRIGGER disk_full ON balances").await.unwrap();
    assert_eq!(pay(&owner).await.expect(200)["balance"], 2);
}
