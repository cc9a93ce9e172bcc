//! Latency of a counter in a module's store on a busy hub: in the hub's own file, and in a relaxed file beside it. 64
//! tasks count, each after a pause, 16 write data that must survive a power cut, and 32 keep all processors busy. The
//! counting tasks block threads of their own, like modules.
//!
//! `CARGO_PROFILE_DEV_OPT_LEVEL=2 cargo run -p hub-db --example relaxed [FOLDER]`, with FOLDER on the disk to measure.

use std::{env, error::Error, path::PathBuf, time::Duration};

use hub_db::{Config, Db};
use tokio::{runtime::Handle, task::JoinSet, time::Instant};

const COUNTING: i64 = 64;
const WRITING: i64 = 16;
const ROUNDS: usize = 3;
const ROUND: Duration = Duration::from_secs(2);
/// Tasks that compute, and time that each computes before it yields.
const BUSY: usize = 32;
const WORK: Duration = Duration::from_micros(200);
const PAUSE: Duration = Duration::from_millis(20);

const TABLE: &str = "CREATE TABLE IF NOT EXISTS counters (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)";
const UPSERT: &str = "INSERT INTO counters (id, n) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET n = counters.n + 1";

type Failure = Box<dyn Error + Send + Sync>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let folder = env::args().nth(1).map_or_else(env::temp_dir, PathBuf::from);
    let folder = tempfile::tempdir_in(folder)?;
    let hub = Db::connect(&Config::Sqlite { path: folder.path().join("hub.db") }).await?;
    let relaxed = Db::connect_relaxed(&folder.path().join("relaxed.db")).await?;
    hub.write(TABLE).execute().await?;
    relaxed.write(TABLE).execute().await?;
    for _ in 0..ROUNDS {
        for (name, counters) in [("in the hub's file", &hub), ("in a relaxed file", &relaxed)] {
            let mut times = round(&hub, counters).await;
            times.sort_unstable();
            let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
            println!("{name}: {} counts, p50 {:?}, p99 {:?}", times.len(), at(50), at(99));
        }
    }
    relaxed.close().await;
    hub.close().await;
    Ok(())
}

/// Durations of the counts while others wrote to the hub's file.
async fn round(hub: &Db, counters: &Db) -> Vec<Duration> {
    let mut writers = JoinSet::new();
    for id in 0..WRITING {
        let hub = hub.clone();
        writers.spawn(async move { while hub.write(UPSERT).bind(1000 + id).execute().await.is_ok() {} });
    }
    for _ in 0..BUSY {
        writers.spawn(async {
            loop {
                let started = Instant::now();
                while started.elapsed() < WORK {
                    std::hint::spin_loop();
                }
                tokio::task::yield_now().await;
            }
        });
    }
    let mut counting = JoinSet::new();
    let ends = Instant::now() + ROUND;
    for id in 0..COUNTING {
        let (counters, runtime) = (counters.clone(), Handle::current());
        counting.spawn_blocking(move || {
            let mut times = Vec::new();
            while Instant::now() < ends {
                let started = Instant::now();
                if runtime.block_on(counters.write(UPSERT).bind(id).execute()).is_ok() {
                    times.push(started.elapsed());
                }
                std::thread::sleep(PAUSE);
            }
            times
        });
    }
    counting.join_all().await.into_iter().flatten().collect()
}
