//! An import that is running, killed or replaced by another. The file comes through a pipe, so that the test can stop it
//! anywhere; it is read twice, once to check it and once to load it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hub_db::Db;
use tempfile::TempDir;

use super::{command, export, fail, run, sample, succeed, text};
use crate::support::{Backend, Client, Hub, files, on_each};

/// A network's export and the hub it is imported into.
struct Import {
    hub: Hub,
    to: Backend,
    network: String,
    owner: Client,
    folder: TempDir,
}

impl Import {
    async fn new(to: Backend) -> Self {
        let first = Hub::start(Backend::sqlite()).await;
        let owner = first.network().await;
        sample::fill(&first, &owner).await;
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
        // It has checked the file and closed the pipe once it has its claim.
        self.until_any("SELECT COUNT(*) FROM network_imports WHERE network_id = $1").await;
        let tables = whole.windows(6).position(|window| window == b"files/").unwrap();
        let rest = feed(&pipe, &whole[..tables]).await;
        self.until_any(LAST).await;
        (import, rest)
    }

    /// Waits until the count is not zero.
    async fn until_any(&self, sql: &'static str) {
        Hub::eventually("a row is there", async || rows(&self.hub.app.db, sql, &self.owner).await > 0).await;
    }

    async fn is_complete(&self) {
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

/// Rows of the last of the tables in the file.
const LAST: &str = "SELECT COUNT(*) FROM forgotten_players WHERE network_id = $1";

async fn rows(db: &Db, sql: &'static str, owner: &Client) -> i64 {
    let (count,) = db.query(sql).bind(owner.network.unwrap()).one().await.unwrap();
    count
}

async fn a_killed_import_is_invisible_and_can_be_repeated(to: Backend) {
    let setup = Import::new(to).await;
    let (mut import, rest) = setup.half_way().await;
    // It is no network yet, though all of its rows are there, and other writers are not blocked.
    setup.owner.get("/api/manage/keys").await.expect_error(401, "unauthenticated");
    let other = setup.hub.network().await;
    sample::fill(&setup.hub, &other).await;
    let nothing = setup.folder.path().join("nothing");
    assert!(fail(&setup.to, &["export", &setup.network, "--out", text(&nothing)]).contains("there is no network"));
    assert!(!nothing.exists());
    import.kill().unwrap();
    import.wait().unwrap();
    drop(rest);
    assert!(rows(&setup.hub.app.db, LAST, &setup.owner).await > 0);
    succeed(&setup.to, &["import", text(&setup.file())]);
    setup.is_complete().await;
}

async fn of_two_imports_the_later_wins(to: Backend) {
    let setup = Import::new(to).await;
    let (import, mut rest) = setup.half_way().await;
    succeed(&setup.to, &["import", text(&setup.file())]);
    let whole = std::fs::read(setup.file()).unwrap();
    let tables = whole.windows(6).position(|window| window == b"files/").unwrap();
    rest.write_all(&whole[tables..]).unwrap();
    drop(rest);
    let output = import.wait_with_output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("being imported by another process"), "{output:?}");
    setup.is_complete().await;
}

async fn an_import_of_a_truncated_file_removes_its_rows_and_files(to: Backend) {
    let setup = Import::new(to).await;
    let (import, rest) = setup.half_way().await;
    drop(rest);
    let output = import.wait_with_output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("ends before its summary"), "{output:?}");
    assert_eq!(rows(&setup.hub.app.db, LAST, &setup.owner).await, 0);
    let left = setup.to.data().join("blobs").join(&setup.network);
    assert_eq!(files(&left), [] as [PathBuf; 0]);
    assert!(run(&setup.to, &["import", text(&setup.file())]).status.success());
    setup.is_complete().await;
}

on_each! {
    a_killed_import_is_invisible_and_can_be_repeated
    of_two_imports_the_later_wins
    an_import_of_a_truncated_file_removes_its_rows_and_files
}
