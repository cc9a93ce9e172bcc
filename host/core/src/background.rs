//! Periodic background work.

use std::fmt::Display;
use std::time::Duration;

use crate::app::App;
use crate::clock::millis;

/// Runs `work` immediately and then every `period`, measured from the start of each run, until the hub stops. A failed
/// run is logged as "could not {what}"; the next one tries again.
pub fn every<E, F>(app: &App, period: Duration, what: &'static str, work: impl Fn(App) -> F + Send + Sync + 'static)
where
    E: Display,
    F: Future<Output = Result<(), E>> + Send,
{
    let runs = app.clone();
    app.spawn(async move {
        loop {
            let began = runs.clock.now();
            if let Err(error) = work(runs.clone()).await {
                tracing::warn!(%error, "could not {what}");
            }
            runs.clock.sleep_until(began.saturating_add(millis(period))).await;
        }
    });
}
