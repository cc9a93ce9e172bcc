//! Benchmark of group commit: durable upserts per second from 32 concurrent tasks through `Db::write`, through
//! `Db::transaction`, and through one connection behind a mutex that begins and commits for each.
//!
//! `CARGO_PROFILE_DEV_OPT_LEVEL=2 cargo run -p hub-db --example group_commit [FOLDER]`, with FOLDER on
//! the disk to measure.

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hub_db::{Config, Db};
use sqlx::{
    Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous},
};
use tokio::{sync::Mutex, task::JoinSet, time::Instant};

const TASKS: i64 = 32;
const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_secs(2);

const TABLE: &str = "CREATE TABLE IF NOT EXISTS counters (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)";
const UPSERT: &str = "INSERT INTO counters (id, n) VALUES ($1, 1) \
                      ON CONFLICT (id) DO UPDATE SET n = counters.n + 1";

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let folder = env::args().nth(1).map_or_else(env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder)?;
    let db = Db::connect(&Config::Sqlite { path: folder.path().join("grouped.db") }).await?;
    db.write(TABLE).execute().await?;
    let naive = Arc::new(Mutex::new(naive(&folder.path().join("naive.db")).await?));

    let mut best = [0_u64; 3];
    for _ in 0..ROUNDS {
        let rates = [
            rate(&naive, |naive, id| async move {
                let mut conn = naive.lock().await;
                let mut transaction = conn.begin_with("BEGIN IMMEDIATE").await?;
                sqlx::query(UPSERT).bind(id).execute(&mut *transaction).await?;
                Ok(transaction.commit().await?)
            })
            .await?,
            rate(&db, |db, id| async move {
                db.transaction(async |mut tx| tx.query(UPSERT).bind(id).execute().await).await?;
                Ok(())
            })
            .await?,
            rate(&db, |db, id| async move {
                db.write(UPSERT).bind(id).execute().await?;
                Ok(())
            })
            .await?,
        ];
        println!("mutex {}/s, transaction {}/s, write {}/s", rates[0], rates[1], rates[2]);
        for (best, rate) in best.iter_mut().zip(rates) {
            *best = rate.max(*best);
        }
    }
    let ratio = |rate: u64| rate as f64 / best[0].max(1) as f64;
    println!("transaction: {:.1} times the mutex", ratio(best[1]));
    println!("write: {:.1} times the mutex", ratio(best[2]));
    db.close().await;
    Ok(())
}

async fn naive(path: &Path) -> Result<SqliteConnection, Failure> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let mut conn = SqliteConnection::connect_with(&options).await?;
    sqlx::query(TABLE).execute(&mut conn).await?;
    Ok(conn)
}

/// Rate of `upsert` in calls per second, with `TASKS` concurrent tasks.
async fn rate<D, F>(db: &D, upsert: fn(D, i64) -> F) -> Result<u64, Failure>
where
    D: Clone + Send + 'static,
    F: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let end = Instant::now() + ROUND;
    let mut tasks = JoinSet::new();
    for id in 0..TASKS {
        let db = db.clone();
        tasks.spawn(async move {
            let mut done = 0;
            while Instant::now() < end {
                upsert(db.clone(), id).await?;
                done += 1;
            }
            Ok::<u64, Failure>(done)
        });
    }
    let mut done = 0;
    while let Some(task) = tasks.join_next().await {
        done += task??;
    }
    Ok(done / ROUND.as_secs())
}
