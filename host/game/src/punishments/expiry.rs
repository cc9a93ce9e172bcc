//! Records that punishments have expired, and publishes each expiry once.

use std::time::Duration;

use hub_db::Error;

use crate::app::App;
use crate::clock::{Cutoff, Millis};
use crate::panics::catch_panic;
use crate::punishments::{service, store};
use crate::side_by_side::SideBySide;
use crate::values::NetworkId;

/// Interval of reading the next expiry, since other nodes create punishments too.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of expiries that one transaction records; after a long stop there may be many.
const BATCH: usize = 100;
const WHAT: &str = "record expired punishments";

/// Runs until the hub stops.
pub(super) async fn watch(app: App) {
    let side_by_side = SideBySide::default();
    loop {
        let poll = app.clock.moment() + POLL_INTERVAL;
        let due = match app.clock.settled() {
            Some(settled) => match catch_panic(WHAT, pass(&app, &side_by_side, settled.before(0))).await {
                Some(Ok(due)) => due,
                Some(Err(error)) => {
                    tracing::warn!(%error, "could not {WHAT}");
                    None
                }
                None => None,
            },
            None => None,
        };
        app.clock.sleep_until(due.map_or(poll, |due| app.clock.moment_of(due).min(poll))).await;
    }
}

/// Records all expired punishments, those of each network by itself. Returns the time of the next expiry.
async fn pass(app: &App, side_by_side: &SideBySide, now: Cutoff) -> Result<Option<Millis>, Error> {
    let first = store::next_expiry(&app.db, Millis::MIN).await?;
    if first.is_none_or(|at| now.at() < at) {
        return Ok(first);
    }
    let networks = store::expiring_networks(&app.db, now).await?;
    let work = move |app: App, network: NetworkId| async move {
        while service::expire(&app, network, now, BATCH as i64).await? == BATCH {}
        Ok::<_, Error>(())
    };
    side_by_side.run(app, networks, WHAT, work).await;
    // Those that could not be recorded are tried again after the interval.
    store::next_expiry(&app.db, now.at()).await
}
