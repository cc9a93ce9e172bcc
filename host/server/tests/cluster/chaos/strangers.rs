//! Parts that do not belong together: a node with another bus, another blob store or a copy of the database must not
//! serve.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use hub_testing::ports::free_port;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use tokio::process::{Child, Command};

use super::client::{At, answer_limit};
use super::report::{Checked, Violation, secs};
use super::site::{NODES, Site};
use crate::fleet::CURRENT;

pub const HISTORY: &str = "wrong parts";
/// Time that a stranger has to refuse. A node that waits for an outage to end may take as long.
const LIFE: Duration = Duration::from_secs(30);

/// Part that the node has of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wrong {
    Bus,
    Blobs,
    /// A copy of the database, on the same bus.
    Database,
}

/// Starts the fourth node with a wrong part. It may wait, refuse or be unready, but not serve.
pub async fn start(site: &Site, wrong: Wrong) {
    let node = site.node(NODES).await;
    let folder = site.folder.join(format!("stranger-{}", secs(site.recorder.now())));
    std::fs::create_dir_all(&folder).unwrap();
    let mut arguments = node.arguments.clone();
    let mut blobs = site.blob_disk.path().to_owned();
    let mut bus = None;
    match wrong {
        Wrong::Bus => {
            let port = free_port();
            bus = Some(another_bus(&folder, port));
            set(&mut arguments, "--bus", format!("nats://127.0.0.1:{port}"));
        }
        Wrong::Blobs => blobs = folder.join("blobs"),
        Wrong::Database => {
            blobs = folder.join("blobs");
            // Another fault may keep the database away.
            let Some(copy) = copy_identity(site, &folder).await else { return };
            set(&mut arguments, "--database", copy);
        }
    }
    set(&mut arguments, "--data", folder.join("data").display().to_string());
    let stranger = spawn(site, &arguments, &blobs, wrong);
    let served = watch(site, stranger, &format!("http://{}/readyz", node.address)).await;
    drop(bus);
    let mut found = Checked { size: 1, done: vec![site.recorder.now()], ..Checked::default() };
    if let Some(at) = served {
        let what = format!("A node with a wrong part serves: {wrong:?}");
        found.violations.push(Violation { network: 0, load: HISTORY, at, what });
    }
    site.note_found(HISTORY, found);
}

fn set(arguments: &mut [String], option: &str, value: String) {
    let at = arguments.iter().position(|argument| argument == option).expect("an option that nodes are given");
    arguments[at + 1] = value;
}

fn spawn(site: &Site, arguments: &[String], blobs: &Path, wrong: Wrong) -> Child {
    let mut command = Command::new(CURRENT);
    command.args(arguments).env("HUB_BLOBS", blobs).env("HUB_LOG", "info");
    if wrong != Wrong::Database {
        command.env("HUB_SECRETS_KEY", site.folder.join("secrets.key"));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(site.log("strangers")).kill_on_drop(true);
    command.spawn().unwrap()
}

/// Watches it until it ends; `Some` if it was ready for longer than others may need to notice it.
async fn watch(site: &Site, mut stranger: Child, url: &str) -> Option<At> {
    let recorder = &site.recorder;
    let client = hub::http_client::client().unwrap();
    let began = recorder.now();
    let mut ready_since = None;
    while stranger.try_wait().unwrap().is_none() && recorder.now() < began + LIFE {
        let answer = client.get(url).timeout(Duration::from_secs(2)).send().await;
        let is_ready = answer.is_ok_and(|answer| answer.status() == 200);
        ready_since = ready_since.filter(|_| is_ready).or_else(|| is_ready.then(|| recorder.now()));
        if let Some(since) = ready_since {
            let now = recorder.now();
            if now - since > answer_limit() + site.stalls.between(since, now) {
                return Some(since);
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let _ = stranger.kill().await;
    None
}

fn another_bus(folder: &Path, port: u16) -> Child {
    let store: PathBuf = folder.join("nats");
    let file = folder.join("nats.conf");
    std::fs::write(&file, format!("jetstream {{ store_dir: {store:?}, max_file_store: 4GB }}")).unwrap();
    let mut command = Command::new("nats-server");
    command.args(["--addr", "127.0.0.1", "--port", &port.to_string(), "--config"]).arg(file);
    command.stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    command.spawn().expect("nats-server is installed (Debian's package nats-server)")
}

/// Makes a database with the hub's identity; returns its URL over the fourth node's link.
async fn copy_identity(site: &Site, folder: &Path) -> Option<String> {
    let copying = async {
        let mut hub = PgConnection::connect(&site.database).await.ok()?;
        let id: String = sqlx::query_scalar("SELECT cluster_id FROM hub_identity").fetch_one(&mut hub).await.ok()?;
        let name = format!("copy_{}", site.recorder.now().as_millis());
        hub.execute(AssertSqlSafe(format!("CREATE DATABASE {name}"))).await.ok()?;
        let copy = format!("{}/{name}", site.database.rsplit_once('/')?.0);
        let mut command = Command::new(CURRENT);
        command.args(["admin", "network", "create", "copied", "--database", &copy, "--data"]).arg(folder.join("data"));
        command.output().await.ok()?.status.success().then_some(())?;
        let mut connection = PgConnection::connect(&copy).await.ok()?;
        let insert = format!(
            "INSERT INTO hub_identity (one, cluster_id, has_blob_mark, sole_until) VALUES (1, '{id}', FALSE, 0)"
        );
        connection.execute(AssertSqlSafe(insert)).await.ok()?;
        let over_link = site.node_database(NODES);
        Some(format!("{}/{name}", over_link.rsplit_once('/')?.0))
    };
    tokio::time::timeout(LIFE, copying).await.ok().flatten()
}
