//! The recipe for SQLite in `docs/operate/continuous-backup.md`: Litestream copies each write, and what it copied is served again.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::Installation;
use crate::servers::uuid;
use crate::support::{Backend, Client, Hub};

/// The program, in the folder of the tests' Python.
fn program() -> PathBuf {
    let python = std::env::var_os("HUB_TEST_PYTHON").expect("`scripts/test` installs Litestream");
    Path::new(&python).with_file_name("litestream")
}

/// Ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The page's configuration, with folders in place of the bucket.
fn configuration(data: &Path, copies: &Path) -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operate/continuous-backup.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, after) = page.split_once("       dbs:\n").expect("the page has a configuration");
    let lines = after
        .lines()
        .take_while(|line| !line.trim().is_empty())
        .map(|line| format!("{}\n", line.trim_start_matches("       ")));
    let text = format!("dbs:\n{}", lines.collect::<String>());
    let text = text.replace("/srv/hub", data.to_str().unwrap());
    text.replace("s3://backups", &format!("file://{}", copies.display()))
}

async fn balance(owner: &Client) -> Value {
    let path = format!("/api/plugin/economy/player/{}/currencies", uuid(1));
    owner.get(&path).await.expect(200)[0]["balance"].clone()
}

/// Restores a copy.
fn restore(from: &Path, to: &Path) {
    let mut command = Command::new(program());
    let url = format!("file://{}", from.display());
    let output = command.args(["restore", "-o", to.to_str().unwrap(), &url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Last balance in a copy; `None` without a complete one.
async fn copied(copies: &Path) -> Option<i64> {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("hub.db");
    let url = format!("file://{}", copies.join("hub").display());
    let output = Command::new(program()).args(["restore", "-o", file.to_str()?, &url]).output().unwrap();
    if !output.status.success() {
        return None;
    }
    let db = hub_db::Db::connect(&hub_db::Config::Sqlite { path: file }).await.ok()?;
    let row: Option<(i64,)> = db.query("SELECT balance FROM balances LIMIT 1").optional().await.ok()?;
    db.close().await;
    row.map(|(balance,)| balance)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn litestream_restores_sqlite_to_its_last_write() {
    let (first, second) = (Installation::new(Backend::sqlite()), Installation::new(Backend::sqlite()));
    let created = first.json(&["admin", "network", "create", "copied", "--json"]);
    let key = created["apiKey"].as_str().unwrap();
    let mut hub = first.serve();
    let (owner, folder) = (hub.client(key), TempDir::new().unwrap());
    let (copies, file) = (folder.path().join("copies"), folder.path().join("litestream.yml"));
    std::fs::write(&file, configuration(&first.settings.data, &copies)).unwrap();
    let mut replicating = Command::new(program());
    replicating.args(["replicate", "-config", file.to_str().unwrap()]).stdout(Stdio::null()).stderr(Stdio::null());
    let replicating = Running(replicating.spawn().unwrap());
    let pay = json!({"currency": "coins", "amount": 1});
    let path = format!("/api/plugin/economy/player/{}/currencies/modify", uuid(1));
    for _ in 0..50 {
        owner.post(&path, pay.clone()).await.expect(200);
    }
    let before = balance(&owner).await;
    let stored = "SELECT balance FROM balances LIMIT 1";
    let db = hub_db::Db::connect(&first.settings.database()).await.unwrap();
    let (last,): (i64,) = db.query(stored).one().await.unwrap();
    db.close().await;
    Hub::eventually("the last write is copied", async || copied(&copies).await == Some(last)).await;
    // All is lost.
    hub.signal("-KILL");
    hub.child.wait().unwrap();
    drop(replicating);

    std::fs::create_dir_all(&second.settings.data).unwrap();
    for (name, database) in [("hub", "hub.db"), ("module-store", "module-store.db")] {
        restore(&copies.join(name), &second.settings.data.join(database));
    }
    let hub = second.serve();
    let owner = hub.client(key);
    assert_eq!(balance(&owner).await, before);
    owner.post(&path, pay).await.expect(200);
}
