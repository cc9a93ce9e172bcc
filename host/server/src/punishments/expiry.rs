//! Notes that a punishment's time has run out, and tells it once.

use std::time::Duration;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::punishments::service::{self, Action};
use crate::punishments::store;

/// Twice a second: other nodes make punishments too, and an expiry is told within a second.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Expiries noted by one statement; after a long stop there may be many.
const BATCH: i64 = 500;

/// Runs until the hub stops.
pub(super) async fn watch(app: App) {
    loop {
        let now = app.clock.now();
        let step = now.saturating_add(millis(LOOK_EVERY));
        let next = match expire(&app, now).await {
            Ok(due) => due.map_or(step, |due| due.min(step)),
            Err(error) => {
                tracing::warn!(%error, "could not look for punishments whose time has run out");
                step
            }
        };
        app.clock.sleep_until(next).await;
    }
}

/// Notes all that has expired; when the next one is due. The statement moves each from open to expired, so that of
/// several nodes, or of two runs of one, a single one tells it.
async fn expire(app: &App, now: Millis) -> Result<Option<Millis>, hub_db::Error> {
    loop {
        let due = store::next_expiry(&app.db).await?;
        if due.is_none_or(|at| now < at) {
            return Ok(due);
        }
        let mut expired = store::expire(&app.db, now, BATCH).await?;
        expired.sort_by_key(|punishment| (punishment.expires_at, punishment.id));
        for punishment in &expired {
            service::tell(app, Action::Expired, punishment).await;
        }
    }
}
