//! Closes hours, at one node: afterwards their rows never change.

use std::sync::atomic::Ordering;

use hub_db::Error;

use crate::app::App;
use crate::clock::Millis;
use crate::metering::store::progress::{self, Progress, Work};
use crate::metering::{Metering, hour_of, storage};

/// Time an hour stays open after its end, for counts that nodes have not stored yet.
pub(super) const GRACE: Millis = 15_000;
/// Time after which the claim of a dead node lapses.
const CLAIM: Millis = 30_000;
/// Interval of storage measurements.
const STORAGE_INTERVAL: Millis = 10 * 60 * 1000;

pub(super) async fn run(app: &App) -> Result<(), Error> {
    let node = app.state::<Metering>().unsent.lock().await.node().to_owned();
    let now = app.clock.now();
    let claimed = progress::claim(&app.db, Work::Close, &node, now, now.saturating_add(CLAIM)).await?;
    let Some(progress) = claimed else { return Ok(()) };
    let noted_at = app.state::<Metering>().storage_noted_at.load(Ordering::Relaxed);
    if now.saturating_sub(noted_at) >= STORAGE_INTERVAL || hour_of(noted_at) != hour_of(now) {
        storage::note_all(app, now).await?;
        app.state::<Metering>().storage_noted_at.store(now, Ordering::Relaxed);
    }
    let Some(settled) = app.clock.settled() else { return Ok(()) };
    let hour = hour_of(settled.before(GRACE).at());
    if progress.hour < hour {
        let until = app.clock.now().saturating_add(CLAIM);
        progress::advance(&app.db, Work::Close, &node, &Progress { hour, ..progress }, until).await?;
    }
    Ok(())
}
