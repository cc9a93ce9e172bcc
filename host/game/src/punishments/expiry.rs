//! Records that punishments have expired, and publishes each expiry once.

use std::time::Duration;

use crate::app::App;
use crate::clock::{Cutoff, Millis};
use crate::panics::catch_panic;
use crate::punishments::{service, store};

/// Interval of reading the next expiry, since other nodes create punishments too.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of expiries that one transaction records; after a long stop there may be many.
const BATCH: i64 = 100;

/// Runs until the hub stops.
pub(super) async fn watch(app: App) {
    loop {
        let poll = app.clock.moment() + POLL_INTERVAL;
        let due = match app.clock.settled() {
            Some(settled) => match catch_panic("record expired punishments", expire(&app, settled.before(0))).await {
                Some(Ok(due)) => due,
                Some(Err(error)) => {
                    tracing::warn!(%error, "could not record expired punishments");
                    None
                }
                None => None,
            },
            None => None,
        };
        app.clock.sleep_until(due.map_or(poll, |due| app.clock.moment_of(due).min(poll))).await;
    }
}

/// Records all expired punishments. Returns the time of the next expiry.
async fn expire(app: &App, now: Cutoff) -> Result<Option<Millis>, hub_db::Error> {
    loop {
        let due = store::next_expiry(&app.db).await?;
        if due.is_none_or(|at| now.at() < at) {
            return Ok(due);
        }
        service::expire(app, now, BATCH).await?;
    }
}
