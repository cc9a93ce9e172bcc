//! Notices that an older copy took the database's place: a standby without the last second, a snapshot, a backup.
//!
//! The lost part was acknowledged and told. Then all streams begin anew with RESYNC, nothing remembered of the
//! database is used any more, and what is numbered continues above all numbers that were given out ([`hub_db::Epoch`]).
//!
//! Each node raises a number in the database every second, in SQLite after writes alone, and remembers it, in a file of
//! its data folder, too.
//! Tables: `database_epoch`, `database_positions`.

mod memory;

use std::time::Duration;

use futures_util::future::FutureExt as _;
use hub_db::{Backend, Epoch, Error};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::app::App;
use crate::auth::KeyCache;
use crate::background::every;
use crate::component::{Component, TableRule};
use crate::database_epoch::memory::Remembered;
use crate::identity::Identity;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "begins all streams and numbers anew when an older copy takes the database's place",
    tables: &[
        TableRule::hub("database_epoch").not_backed_up("a restored database begins one"),
        TableRule::hub("database_positions").not_backed_up("nodes count anew"),
    ],
    register: |states, _| {
        states.insert(DatabaseEpoch::default());
        Ok(())
    },
    start: |app| start(app).boxed(),
    background: watch,
    ..Component::new(module_path!())
};

/// A PostgreSQL server may be replaced at any time.
const INTERVAL: Duration = Duration::from_secs(1);
const SAVE_INTERVAL: Duration = Duration::from_secs(10);

/// The database's epoch as this node has seen it last.
#[derive(Debug, Default)]
pub struct DatabaseEpoch(Mutex<Option<Seen>>);

#[derive(Clone, Debug)]
struct Seen {
    it: Remembered,
    saved_at: Instant,
    /// Batches of writes to SQLite's file that are older than its position.
    written: u64,
}

/// Compares the database with what this node remembers of its last run.
async fn start(app: &App) -> anyhow::Result<()> {
    let cluster = &app.state::<Identity>().cluster;
    let last = Remembered::load(&app.settings.data).filter(|last| last.cluster == *cluster);
    let node = last.as_ref().map_or_else(|| app.ids.token(12), |last| last.node.clone());
    let found = app.db.epoch(&node).await?;
    if let Some(last) = last
        && is_older(found, last.epoch)
    {
        tracing::warn!("the database is an older copy of the one that this hub had; numbers and streams begin anew");
        app.db.begin_epoch(found.number.max(last.epoch.number)).await?;
    }
    let epoch = app.db.epoch(&node).await?;
    follow(app, epoch).await;
    save(app, Remembered { cluster: cluster.clone(), node, epoch }, app.db.written_batches()).await;
    Ok(())
}

fn watch(app: &App) {
    every(app, INTERVAL, "read the database's epoch", async |app: App| check(&app).await);
}

async fn check(app: &App) -> Result<(), Error> {
    let Some(seen) = app.state::<DatabaseEpoch>().0.lock().clone() else { return Ok(()) };
    let is_file = app.db.backend() == Backend::Sqlite;
    let written = app.db.written_batches();
    if is_file && written == seen.written {
        // The file is replaced while the hub does not run, and counting would wake the disk.
        return Ok(());
    }
    let mut found = app.db.epoch(&seen.it.node).await?;
    if is_older(found, seen.it.epoch) {
        app.db.begin_epoch(found.number.max(seen.it.epoch.number)).await?;
        found = app.db.epoch(&seen.it.node).await?;
    }
    let has_begun = found.number != seen.it.epoch.number;
    if has_begun {
        tracing::warn!("an older copy of the database took its place; numbers and streams begin anew");
        for component in app.components().list() {
            (component.forget)(app);
        }
        app.state::<KeyCache>().clear();
        follow(app, found).await;
    }
    let it = Remembered { epoch: found, ..seen.it };
    if is_file || has_begun || seen.saved_at.elapsed() >= SAVE_INTERVAL {
        // One more batch is the position itself.
        save(app, it, written + 1).await;
    } else {
        *app.state::<DatabaseEpoch>().0.lock() = Some(Seen { it, saved_at: seen.saved_at, written });
    }
    Ok(())
}

/// True if the database is at an earlier place than one that was seen.
fn is_older(found: Epoch, seen: Epoch) -> bool {
    found.number < seen.number || (found.number == seen.number && found.position <= seen.position)
}

/// Begins the streams anew if they are of an earlier epoch. The bus does it later if it does not answer now.
async fn follow(app: &App, epoch: Epoch) {
    if let Err(error) = app.bus.follow_database(epoch.number.unsigned_abs()).await {
        tracing::warn!(%error, "could not begin the streams anew yet");
    }
}

async fn save(app: &App, it: Remembered, written: u64) {
    *app.state::<DatabaseEpoch>().0.lock() = Some(Seen { it: it.clone(), saved_at: Instant::now(), written });
    let folder = app.settings.data.clone();
    if let Ok(Err(error)) = tokio::task::spawn_blocking(move || it.save(&folder)).await {
        tracing::warn!(%error, "could not remember the database's epoch");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_copy_has_a_lower_epoch_or_position() {
        let epoch = |number, position| Epoch { number, position };
        assert!(is_older(epoch(0, 6), epoch(0, 6)) && is_older(epoch(1, 9), epoch(2, 3)));
        assert!(!is_older(epoch(0, 7), epoch(0, 6)) && !is_older(epoch(2, 3), epoch(1, 9)), "it counts on");
    }
}
