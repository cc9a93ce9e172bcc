//! The writer and SQLite's own behaviour.

use std::{fs, ops::Range, time::Duration};

use hub_db::{Config, Db, Error};
use sqlx::{
    Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode},
};
use tokio::{
    sync::oneshot,
    task::{JoinHandle, JoinSet},
};

use crate::common::{Fixture, count};

const TABLE: &str = "CREATE TABLE t (id BIGINT PRIMARY KEY)";

/// Commits in the write-ahead log: frames whose header has the database's size after a commit.
fn commits(fixture: &Fixture) -> usize {
    let log = fs::read(fixture.path().with_extension("db-wal")).unwrap();
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | usize::from(*byte));
    let page = number(&log[8..12]);
    log[32..].chunks_exact(24 + page).filter(|frame| number(&frame[4..8]) > 0).count()
}

/// Holds a transaction open until signalled, so that others queue behind it.
async fn hold(db: &Db) -> (oneshot::Sender<()>, JoinHandle<Result<(), Error>>) {
    let (begun, has_begun) = oneshot::channel();
    let (go, may_go) = oneshot::channel::<()>();
    let signals = tokio::sync::Mutex::new(Some((begun, may_go)));
    let db = db.clone();
    let held = tokio::spawn(async move {
        db.transaction(async |_tx| {
            let (begun, may_go) = signals.lock().await.take().unwrap();
            begun.send(()).unwrap();
            may_go.await.unwrap();
            Ok::<_, Error>(())
        })
        .await
    });
    has_begun.await.unwrap();
    (go, held)
}

/// Queues writes, half of them transactions; each returns its id.
async fn queue(db: &Db, ids: Range<i64>, tasks: &mut JoinSet<(i64, Result<u64, Error>)>) {
    for id in ids {
        let db = db.clone();
        tasks.spawn(async move {
            let result = if id % 2 == 0 {
                db.write("INSERT INTO t VALUES ($1)").bind(id).execute().await
            } else {
                db.transaction(async |mut tx| tx.query("INSERT INTO t VALUES ($1)").bind(id).execute().await).await
            };
            (id, result)
        });
        // On one thread this lets the task reach the queue.
        tokio::task::yield_now().await;
    }
}

/// The ids acknowledged and not, which must be those stored and not.
async fn finish(db: &Db, mut tasks: JoinSet<(i64, Result<u64, Error>)>) -> (Vec<i64>, Vec<Error>) {
    let (mut acknowledged, mut errors) = (Vec::new(), Vec::new());
    while let Some(task) = tasks.join_next().await {
        match task.unwrap() {
            (id, Ok(_)) => acknowledged.push(id),
            (_, Err(error)) => errors.push(error),
        }
    }
    acknowledged.sort_unstable();
    let stored: Vec<(i64,)> = db.query("SELECT id FROM t WHERE id >= 0 ORDER BY id").all().await.unwrap();
    assert_eq!(stored.into_iter().map(|(id,)| id).collect::<Vec<_>>(), acknowledged);
    (acknowledged, errors)
}

#[tokio::test]
async fn the_file_and_its_folder_are_created_and_durable() {
    let fixture = Fixture::sqlite().await;
    assert!(fixture.path().exists());
    let (mode,): (String,) = fixture.db.write("PRAGMA journal_mode").one().await.unwrap();
    assert_eq!(mode, "wal");
    let (full,): (i64,) = fixture.db.write("PRAGMA synchronous").one().await.unwrap();
    assert_eq!(full, 2);
    fixture.remove().await;
}

#[tokio::test]
async fn queued_writes_share_a_commit() {
    let fixture = Fixture::sqlite().await;
    fixture.set_up(&[TABLE]).await;
    let before = commits(&fixture);
    let (go, held) = hold(&fixture.db).await;
    let mut tasks = JoinSet::new();
    queue(&fixture.db, 0..100, &mut tasks).await;
    go.send(()).unwrap();
    held.await.unwrap().unwrap();
    let (acknowledged, _) = finish(&fixture.db, tasks).await;
    assert_eq!(acknowledged.len(), 100);
    // A batch has a time limit, and a busy machine fits fewer writes into it.
    let commits = commits(&fixture) - before;
    assert!((1..=50).contains(&commits), "{commits} commits for 100 writes");
    fixture.remove().await;
}

#[tokio::test]
async fn a_batch_that_cannot_commit_is_reported_to_all_in_it() {
    let fixture = Fixture::sqlite().await;
    fixture
        .set_up(&[TABLE, "CREATE TABLE child (parent BIGINT REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED)"])
        .await;
    let (go, held) = hold(&fixture.db).await;
    let mut tasks = JoinSet::new();
    queue(&fixture.db, 0..4, &mut tasks).await;
    let db = fixture.db.clone();
    // It only fails at COMMIT.
    tasks.spawn(async move { (-1, db.write("INSERT INTO child VALUES (1000)").execute().await) });
    tokio::task::yield_now().await;
    queue(&fixture.db, 4..8, &mut tasks).await;
    go.send(()).unwrap();
    held.await.unwrap().ok();
    let (_, errors) = finish(&fixture.db, tasks).await;
    assert!(!errors.is_empty());
    assert!(errors.iter().all(|error| matches!(error, Error::Commit(_))));

    // The writer continues.
    let mut tasks = JoinSet::new();
    fixture.db.write("DELETE FROM t").execute().await.unwrap();
    queue(&fixture.db, 0..4, &mut tasks).await;
    assert_eq!(finish(&fixture.db, tasks).await.0, [0, 1, 2, 3]);
    fixture.remove().await;
}

/// A failure that ends SQLite's whole transaction, such as a full disk, must not acknowledge a caller whose work was
/// rolled back with it.
#[tokio::test]
async fn a_failure_that_ends_the_batch_is_reported_to_all_in_it() {
    for transaction in [false, true] {
        let fixture = Fixture::sqlite().await;
        fixture.set_up(&[TABLE, "INSERT INTO t VALUES (-1)"]).await;
        let (go, held) = hold(&fixture.db).await;
        let mut tasks = JoinSet::new();
        queue(&fixture.db, 0..4, &mut tasks).await;
        let db = fixture.db.clone();
        let culprit = tokio::spawn(async move {
            const SQL: &str = "INSERT OR ROLLBACK INTO t VALUES (-1)";
            if transaction {
                db.transaction(async |mut tx| tx.query(SQL).execute().await).await
            } else {
                db.write(SQL).execute().await
            }
        });
        tokio::task::yield_now().await;
        queue(&fixture.db, 4..8, &mut tasks).await;
        go.send(()).unwrap();
        held.await.unwrap().ok();
        culprit.await.unwrap().unwrap_err();
        let (acknowledged, errors) = finish(&fixture.db, tasks).await;
        assert!(errors.iter().all(|error| matches!(error, Error::Commit(_))));
        assert!(acknowledged.ends_with(&[4, 5, 6, 7]));
        fixture.remove().await;
    }
}

#[tokio::test]
async fn another_process_is_waited_for() {
    let fixture = Fixture::sqlite().await;
    fixture.set_up(&[TABLE]).await;
    let options = SqliteConnectOptions::new().filename(fixture.path());
    let mut other = SqliteConnection::connect_with(&options).await.unwrap();
    let mut writing = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    sqlx::query("INSERT INTO t VALUES (-1)").execute(&mut *writing).await.unwrap();
    let mut tasks = JoinSet::new();
    queue(&fixture.db, 0..10, &mut tasks).await;
    // Time enough for the writer to wait for the lock.
    for _ in 0..200 {
        assert_eq!(count(&fixture.db).await, 0);
    }
    writing.commit().await.unwrap();
    assert_eq!(finish(&fixture.db, tasks).await.1.len(), 0);
    other.close().await.unwrap();
    fixture.remove().await;
}

#[tokio::test]
async fn readers_do_not_write() {
    let fixture = Fixture::sqlite().await;
    fixture.set_up(&[TABLE]).await;
    fixture.db.query("INSERT INTO t VALUES (1)").execute().await.unwrap_err();
    assert_eq!(count(&fixture.db).await, 0);
    fixture.remove().await;
}

/// Once closed, the file alone is the whole database and may be copied.
#[tokio::test]
async fn closing_folds_the_log_into_the_file() {
    let fixture = Fixture::sqlite().await;
    fixture.set_up(&[TABLE, "INSERT INTO t VALUES (1)"]).await;
    fixture.db.close().await;
    assert!(!fixture.path().with_extension("db-wal").exists());
    let copy = fixture.path().with_file_name("copy.db");
    fs::copy(fixture.path(), &copy).unwrap();
    let copy = Db::connect(&Config::Sqlite { path: copy }).await.unwrap();
    assert_eq!(count(&copy).await, 1);
    copy.close().await;
    fixture.remove().await;
}

/// A reader may be opened for a caller who goes before it is open.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_open_once_it_is_closed() {
    for moment in 0..50 {
        let fixture = Fixture::sqlite().await;
        let mut reads = JoinSet::new();
        for _ in 0..4 {
            let db = fixture.db.clone();
            reads.spawn(async move { db.query("SELECT 1").execute().await });
        }
        tokio::time::sleep(Duration::from_micros(40 * moment)).await;
        reads.shutdown().await;
        fixture.remove().await;
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_created_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let result = Db::connect(&Config::Sqlite { path: file.join("hub.db") }).await;
    assert!(matches!(result, Err(Error::Folder(_))));
}

/// A file in another journal mode, such as one left by a backup, is converted by the first opener.
#[tokio::test(flavor = "multi_thread")]
async fn many_open_one_file_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hub.db");
    let options =
        SqliteConnectOptions::new().filename(&path).create_if_missing(true).journal_mode(SqliteJournalMode::Delete);
    let mut old = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::query(TABLE).execute(&mut old).await.unwrap();
    old.close().await.unwrap();
    let mut tasks = JoinSet::new();
    for id in 0..16_i64 {
        let config = Config::Sqlite { path: path.clone() };
        tasks.spawn(async move {
            let db = Db::connect(&config).await.unwrap();
            db.write("INSERT INTO t VALUES ($1)").bind(id).execute().await.unwrap();
            db
        });
    }
    let mut open = Vec::new();
    while let Some(task) = tasks.join_next().await {
        open.push(task.unwrap());
    }
    for db in open {
        assert_eq!(count(&db).await, 16);
        db.close().await;
    }
}
