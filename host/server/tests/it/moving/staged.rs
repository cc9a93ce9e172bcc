//! An import that is under way, killed, or overtaken. The file comes through a pipe, so that the test holds it up where it
//! likes; it is read twice, once to look at it and once to load it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hub_db::Db;
use tempfile::TempDir;

use super::{command, evening, export, fail, run, succeed, text};
use crate::support::{Backend, Client, Hub, files, on_each};

/// A network's export, and where it is to go.
struct Move {
    hub: Hub,
    to: Backend,
    network: String,
    owner: Client,
    folder: TempDir,
}

impl Move {
    async fn new(to: Backend) -> Self {
        let first = Hub::start(Backend::sqlite()).await;
        let owner = first.network().await;
        evening::fill(&first, &owner).await;
        let network = owner.network.unwrap().to_string();
        let folder = TempDir::new().unwrap();
        let from = first.stop().await;
        export(&from, &network, &folder.path().join("file"));
        let hub = Hub::start(to.clone()).await;
        let owner = hub.with_key(owner.key.as_deref().unwrap()).for_network(owner.network.unwrap());
        Self { hub, to, network, owner, folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("file")
    }

    /// An import that has loaded all tables and waits for the rest.
    async fn half_way(&self) -> (Child, File) {
        let pipe = self.folder.path().join("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let whole = std::fs::read(self.file()).unwrap();
        let mut import = command(&self.to, &["import", text(&pipe)]);
        let import = import.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        drop(feed(&pipe, &whole).await);
        // The pipe that it looked at is closed when it says that it is at it.
        self.until("SELECT COUNT(*) FROM network_imports WHERE network_id = $1").await;
        let tables = whole.windows(6).position(|window| window == b"files/").unwrap();
        let rest = feed(&pipe, &whole[..tables]).await;
        self.until(LAST).await;
        (import, rest)
    }

    /// Waits until there are some of these.
    async fn until(&self, sql: &'static str) {
        while rows(&self.hub.app.db, sql, &self.owner).await == 0 {
            tokio::task::yield_now().await;
        }
    }

    async fn arrived(&self) {
        let second = self.folder.path().join("second");
        export(&self.to, &self.network, &second);
        assert!(std::fs::read(self.file()).unwrap() == std::fs::read(second).unwrap());
        self.owner.get("/api/manage/keys").await.expect(200);
    }
}

/// Writes to the pipe when it is read, and leaves it open.
async fn feed(pipe: &Path, bytes: &[u8]) -> File {
    let (pipe, bytes) = (pipe.to_owned(), bytes.to_owned());
    let write = move || {
        let mut pipe = OpenOptions::new().write(true).open(pipe).unwrap();
        pipe.write_all(&bytes).unwrap();
        pipe
    };
    tokio::task::spawn_blocking(write).await.unwrap()
}

/// Rows of the last of the tables.
const LAST: &str = "SELECT COUNT(*) FROM idempotency_keys WHERE network_id = $1";

async fn rows(db: &Db, sql: &'static str, owner: &Client) -> i64 {
    let (count,) = db.query(sql).bind(owner.network.unwrap()).one().await.unwrap();
    count
}

async fn a_killed_import_shows_nothing_and_is_made_again(to: Backend) {
    let moving = Move::new(to).await;
    let (mut import, rest) = moving.half_way().await;
    // It is no network yet, though all of its rows are there; and nobody is held up.
    moving.owner.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
    let other = moving.hub.network().await;
    evening::fill(&moving.hub, &other).await;
    let nothing = moving.folder.path().join("nothing");
    assert!(fail(&moving.to, &["export", &moving.network, "--out", text(&nothing)]).contains("there is no network"));
    assert!(!nothing.exists());
    import.kill().unwrap();
    import.wait().unwrap();
    drop(rest);
    assert!(rows(&moving.hub.app.db, LAST, &moving.owner).await > 0);
    succeed(&moving.to, &["import", text(&moving.file())]);
    moving.arrived().await;
}

async fn of_two_imports_one_is_the_networks(to: Backend) {
    let moving = Move::new(to).await;
    let (import, mut rest) = moving.half_way().await;
    succeed(&moving.to, &["import", text(&moving.file())]);
    let whole = std::fs::read(moving.file()).unwrap();
    let tables = whole.windows(6).position(|window| window == b"files/").unwrap();
    rest.write_all(&whole[tables..]).unwrap();
    drop(rest);
    let output = import.wait_with_output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("meanwhile"), "{output:?}");
    moving.arrived().await;
}

async fn a_file_that_ends_takes_back_what_it_brought(to: Backend) {
    let moving = Move::new(to).await;
    let (import, rest) = moving.half_way().await;
    drop(rest);
    let output = import.wait_with_output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("ends before its summary"), "{output:?}");
    assert_eq!(rows(&moving.hub.app.db, LAST, &moving.owner).await, 0);
    let left = moving.to.data().join("blobs").join(&moving.network);
    assert_eq!(files(&left), [] as [PathBuf; 0]);
    assert!(run(&moving.to, &["import", text(&moving.file())]).status.success());
    moving.arrived().await;
}

on_each! {
    a_killed_import_shows_nothing_and_is_made_again
    of_two_imports_one_is_the_networks
    a_file_that_ends_takes_back_what_it_brought
}
