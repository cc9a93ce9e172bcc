//! Checkpoints the write-ahead log of a file beside the writer, which would otherwise stop for it.

use std::time::Duration;

use sqlx::{
    ConnectOptions, Connection, SqliteConnection,
    sqlite::{SqliteConnectOptions, SqliteRow},
};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

use crate::Error;

const EVERY: Duration = Duration::from_secs(1);

/// A running checkpointer.
pub(super) struct Checkpointer {
    stop: watch::Sender<bool>,
    task: parking_lot::Mutex<Option<JoinHandle<()>>>,
}

impl Checkpointer {
    pub(super) fn start(options: SqliteConnectOptions) -> Self {
        let (stop, stopped) = watch::channel(false);
        Self { stop, task: parking_lot::Mutex::new(Some(tokio::spawn(run(options, stopped)))) }
    }

    /// Ends it, and waits until its connection is closed.
    pub(super) async fn close(&self) {
        self.stop.send_replace(true);
        let task = self.task.lock().take();
        if let Some(task) = task {
            // The task returns nothing.
            let _ = task.await;
        }
    }
}

async fn run(options: SqliteConnectOptions, mut stopped: watch::Receiver<bool>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut open = None;
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => break,
            _ = ticks.tick() => {}
        }
        let conn = match open.take() {
            Some(conn) => Ok(conn),
            None => options.connect().await,
        };
        match checkpoint(conn, "PRAGMA wal_checkpoint(PASSIVE)").await {
            Ok(conn) => open = Some(conn),
            Err(error) => tracing::warn!(%error, "the log of a database could not be folded into it"),
        }
    }
    if let Some(conn) = open {
        // Nothing depends on the result.
        let _ = conn.close().await;
    }
}

async fn checkpoint(conn: sqlx::Result<SqliteConnection>, sql: &'static str) -> sqlx::Result<SqliteConnection> {
    let mut conn = conn?;
    sqlx::query(sql).fetch_all(&mut conn).await.map(|_: Vec<SqliteRow>| ())?;
    Ok(conn)
}

/// Waits until all acknowledged writes are on the disk.
pub(super) async fn flush(options: &SqliteConnectOptions) -> Result<(), Error> {
    let conn = checkpoint(options.connect().await, "PRAGMA wal_checkpoint(FULL)").await?;
    Ok(conn.close().await?)
}
