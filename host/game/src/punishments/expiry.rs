//! Records that punishments have expired, and publishes each expiry once.

use std::time::Duration;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::punishments::{service, store};

/// Interval of reading the next expiry, since other nodes create punishments too.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of expiries that one transaction records; after a long stop there may be many.
const BATCH: i64 = 100;

/// Runs until the hub stops.
pub(super) async fn watch(app: App) {
    loop {
        let now = app.clock.now();
        let poll = now.saturating_add(millis(POLL_INTERVAL));
        let next = match expire(&app, now).await {
            Ok(due) => due.map_or(poll, |due| due.min(poll)),
            Err(error) => {
                tracing::warn!(%error, "could not record expired punishments");
                poll
            }
        };
        app.clock.sleep_until(next).await;
    }
}

/// Records all expired punishments. Returns the time of the next expiry.
async fn expire(app: &App, now: Millis) -> Result<Option<Millis>, hub_db::Error> {
    loop {
        let due = store::next_expiry(&app.db).await?;
        if due.is_none_or(|at| now < at) {
            return Ok(due);
        }
        service::expire(app, BATCH).await?;
    }
}
