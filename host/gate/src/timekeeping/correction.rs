//! Corrections of the hub's time.

use std::time::Duration;

use hub_db::Error;

use crate::app::App;
use crate::clock::{Millis, SteadyClock, Uptime, millis};
use crate::timekeeping::store;

/// Pause before another look at rows, which finds those that were locked at the one before.
const LOCKED_AGAIN: Duration = Duration::from_millis(100);
/// Number of looks at rows that last for too long: some are renewed all the time, and may be locked at several.
const LOOKS: usize = 5;
/// Time after which all nodes have followed the first.
const FOLLOWED: Duration = Duration::from_secs(5);

/// Sets the clock to a reading. What ends at a time of day goes on as if the clock had always shown it.
pub(super) async fn apply(app: &App, clock: &SteadyClock, now: Millis, at: Uptime) -> Result<(), Error> {
    let before = clock.at(at);
    let shift = now.saturating_sub(before);
    let move_memory = || {
        for component in app.components().list() {
            (component.clock_set)(app, before, shift);
        }
    };
    // In these orders something may seem to last for longer meanwhile, but nothing to be over.
    if shift > 0 {
        renew(app, now, Reach::Live { since: before }).await?;
        tokio::time::sleep(LOCKED_AGAIN).await;
        renew(app, now, Reach::Live { since: before }).await?;
        move_memory();
        clock.set(now, at);
    } else {
        clock.set(now, at);
        move_memory();
        let later = app.clone();
        app.spawn(async move {
            // By the time of a node that has not followed yet, these rows would be over.
            later.clock.sleep(FOLLOWED).await;
            for _ in 0..LOOKS {
                let seen = later.clock.now();
                if let Err(error) = renew(&later, now, Reach::TooLong { seen }).await {
                    tracing::warn!(%error, "could not shorten what lasts for too long after the clock was set back");
                }
                tokio::time::sleep(LOCKED_AGAIN).await;
            }
        });
    }
    Ok(())
}

/// Rows that a correction is for.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// Those that were live at that time, and have less than a full term by the new one.
    Live { since: Millis },
    /// Those with more than a full term at that time.
    TooLong { seen: Millis },
}

/// Gives these rows a full term from `now`, the time to which the clock was set.
async fn renew(app: &App, now: Millis, reach: Reach) -> Result<(), Error> {
    for term in app.components().list().iter().flat_map(|component| component.terms) {
        let age = millis((term.age)(&app.settings));
        let length = millis((term.length)(&app.settings));
        let end_of = |from: Millis| from.saturating_add(length).saturating_sub(age);
        let end = end_of(now);
        let (after, before) = match reach {
            Reach::Live { since } => (since.saturating_sub(age), end),
            Reach::TooLong { seen } => (end_of(seen), Millis::MAX),
        };
        store::renew_term(&app.db, term.renew, end, after, before).await?;
    }
    Ok(())
}
