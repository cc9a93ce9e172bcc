//! The recipe for PostgreSQL in `docs/operate/continuous-backup.md`: a base backup and the write-ahead log, restored to the last write.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hub::clock::Clock;
use hub::config::Settings;
use hub::ids::Ids;
use hub::lifecycle;
use hub_db::Db;
use hub_testing::ports::free_port;
use tempfile::TempDir;

/// A PostgreSQL of its own, which archives its log.
struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    data: PathBuf,
    port: u16,
}

impl Postgres {
    fn new(folder: &Path, name: &str) -> Self {
        let versions = std::fs::read_dir("/usr/lib/postgresql").expect("PostgreSQL is installed");
        let programs = versions.map(|version| version.unwrap().path().join("bin")).max().unwrap();
        let port = free_port();
        Self { programs, folder: folder.to_owned(), data: folder.join(name), port }
    }

    fn run(&self, program: &str, arguments: &[&str]) {
        // PostgreSQL refuses to run as root.
        let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let mut command = if is_root {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(self.programs.join(program));
            command
        } else {
            Command::new(self.programs.join(program))
        };
        let status = command.args(arguments).current_dir("/").stdout(Stdio::null()).status().unwrap();
        assert!(status.success(), "{program} {arguments:?}");
    }

    fn start(&self) {
        let archive = self.folder.join("archive");
        let options = format!(
            "-p {} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c archive_mode=on \
             -c archive_command='cp %p {}/%f'",
            self.port,
            archive.display()
        );
        let log = self.folder.join(format!("log-{}", self.port));
        let (data, log) = (self.data.to_str().unwrap(), log.to_str().unwrap());
        self.run("pg_ctl", &["-D", data, "-w", "-l", log, "-o", &options, "start"]);
    }

    fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if self.data.join("postmaster.pid").exists() {
            self.run("pg_ctl", &["-D", self.data.to_str().unwrap(), "-m", "immediate", "-w", "stop"]);
        }
    }
}

async fn value(db: &Db) -> Option<String> {
    let sql = "SELECT doc FROM config_documents WHERE namespace = 'last'";
    db.query(sql).optional::<(String,)>().await.unwrap().map(|(doc,)| doc)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_restored_to_its_last_write() {
    let folder = TempDir::new().unwrap();
    let everybody = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), everybody.clone()).unwrap();
    std::fs::create_dir(folder.path().join("archive")).unwrap();
    std::fs::set_permissions(folder.path().join("archive"), everybody).unwrap();
    let first = Postgres::new(folder.path(), "first");
    let options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"];
    first.run("initdb", &[&["-D", first.data.to_str().unwrap()], &options[..]].concat());
    first.start();
    let data = folder.path().join("hub");
    let settings = Settings { data, database: Some(first.url()), ..Settings::default() };
    let app = lifecycle::start(settings.clone(), Clock::System, Ids::System).await.unwrap();

    let base = folder.path().join("second");
    let port = first.port.to_string();
    let server = ["-h", "127.0.0.1", "-p", &port, "-U", "postgres"];
    first.run("pg_basebackup", &[&server[..], &["-D", base.to_str().unwrap(), "-X", "none", "-c", "fast"]].concat());
    let (network, _) = hub::networks::service::create_network(&app.db, &app.clock, &app.ids, "later").await.unwrap();
    let last = "INSERT INTO config_documents (network_id, doc_group, namespace, doc) VALUES ($1, 'g', 'last', '7')";
    app.db.write(last).bind(network).execute().await.unwrap();
    let segment = "SELECT pg_walfile_name(pg_switch_wal())";
    let (segment,): (String,) = app.db.query(segment).one().await.unwrap();
    crate::support::Hub::eventually("the log is archived", async || {
        let last = "SELECT COALESCE(last_archived_wal, '') FROM pg_stat_archiver";
        let (last,): (String,) = app.db.query(last).one().await.unwrap();
        last >= segment
    })
    .await;
    app.begin_stop();
    lifecycle::finish_stop(&app).await;
    // All is lost.
    drop(first);

    let second = Postgres::new(folder.path(), "second");
    let restore = format!("restore_command = 'cp {}/archive/%f %p'\n", folder.path().display());
    let configuration = second.data.join("postgresql.auto.conf");
    std::fs::write(&configuration, restore).unwrap();
    std::fs::write(second.data.join("recovery.signal"), "").unwrap();
    second.start();
    let settings = Settings { database: Some(second.url()), ..settings };
    // It answers before its log is replayed, and takes no write until then: the hub waits.
    let app = lifecycle::start_when_possible(settings, Clock::System, Ids::System, |_| {}).await.unwrap();
    assert_eq!(value(&app.db).await.as_deref(), Some("7"));
    app.begin_stop();
    lifecycle::finish_stop(&app).await;
}
