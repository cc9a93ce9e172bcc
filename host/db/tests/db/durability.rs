//! An acknowledged write outlives its process.

use std::{
    collections::BTreeSet,
    env,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use hub_db::{Config, Db};
use tokio::task::JoinSet;

use crate::common::on_both;

/// Environment variable with the child process's database.
const TARGET: &str = "HUB_DB_TEST_TARGET";
/// Prefix of an acknowledged id in the child's output.
const ACKNOWLEDGED: &str = "acknowledged ";

/// Not a test by itself: the process that `a_killed_process_loses_nothing` starts and kills.
#[test]
#[ignore = "run by a_killed_process_loses_nothing"]
fn write_until_killed() {
    let target = env::var(TARGET).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = match target.split_once(':') {
            Some(("relaxed", path)) => Db::connect_relaxed(path.as_ref()).await,
            Some(("postgres", _)) => Db::connect(&Config::postgres(target)).await,
            _ => Db::connect(&Config::Sqlite { path: target.into() }).await,
        };
        let db = db.unwrap();
        let mut tasks = JoinSet::new();
        for task in 0..16_i64 {
            let db = db.clone();
            tasks.spawn(async move {
                for id in (task..).step_by(16) {
                    if id % 2 == 0 {
                        db.write("INSERT INTO t VALUES ($1)").bind(id).execute().await.unwrap();
                    } else {
                        db.transaction(async |mut tx| tx.query("INSERT INTO t VALUES ($1)").bind(id).execute().await)
                            .await
                            .unwrap();
                    }
                    println!("{ACKNOWLEDGED}{id}");
                }
            });
        }
        tasks.join_next().await;
    });
}

/// Runs a process that writes to the database and kills it; returns the acknowledged ids.
fn killed(target: &str) -> BTreeSet<i64> {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "durability::write_until_killed", "--ignored", "--nocapture"])
        .env(TARGET, target)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged = BTreeSet::new();
    let mut record = |line: std::io::Result<String>| {
        // The last line may be cut short by the kill.
        let line = line.unwrap_or_default();
        if let Some(id) = line.strip_prefix(ACKNOWLEDGED).and_then(|id| id.parse::<i64>().ok()) {
            acknowledged.insert(id);
        }
    };
    output.by_ref().take(1000).for_each(&mut record);
    child.kill().unwrap();
    child.wait().unwrap();
    output.for_each(&mut record);
    assert!(acknowledged.len() > 900);
    acknowledged
}

async fn assert_nothing_lost(db: &Db, acknowledged: BTreeSet<i64>) {
    let rows: Vec<(i64,)> = db.query("SELECT id FROM t").all().await.unwrap();
    let stored: BTreeSet<i64> = rows.into_iter().map(|(id,)| id).collect();
    let lost: Vec<_> = acknowledged.difference(&stored).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
}

#[tokio::test]
async fn a_killed_process_loses_nothing() {
    on_both(async |fixture| {
        fixture.set_up(&["CREATE TABLE t (id BIGINT PRIMARY KEY)"]).await;
        let target = match &fixture.config {
            Config::Sqlite { path } => path.to_str().unwrap(),
            Config::Postgres { url, .. } => url,
        };
        let acknowledged = killed(target);
        assert_nothing_lost(&fixture.db, acknowledged).await;
    })
    .await;
}

#[tokio::test]
async fn a_killed_process_loses_nothing_of_a_relaxed_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("relaxed.db");
    let db = Db::connect_relaxed(&path).await.unwrap();
    db.write("CREATE TABLE t (id BIGINT PRIMARY KEY)").execute().await.unwrap();
    db.flush().await.unwrap();
    let acknowledged = killed(&format!("relaxed:{}", path.display()));
    assert_nothing_lost(&db, acknowledged).await;
    // Once closed, all of it is in the file itself.
    db.close().await;
    assert!(!folder.path().join("relaxed.db-wal").exists());
}
