//! Periodic background work.

use std::fmt::Display;
use std::time::Duration;

use tokio::sync::Notify;

use crate::app::App;
use crate::clock::{Millis, millis};

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

/// Runs `work` until the hub stops: at the time it returns, whenever `wake` is notified, and after `period` at the
/// latest, because another node may have left work without waking this one. A failed run is logged as "could not
/// {what}".
pub fn when_due<E, F>(
    app: &App,
    period: Duration,
    wake: fn(&App) -> &Notify,
    what: &'static str,
    work: impl Fn(App) -> F + Send + Sync + 'static,
) where
    E: Display,
    F: Future<Output = Result<Option<Millis>, E>> + Send,
{
    let runs = app.clone();
    app.spawn(async move {
        loop {
            let latest = runs.clock.now().saturating_add(millis(period));
            let next = work(runs.clone()).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "could not {what}");
                None
            });
            tokio::select! {
                () = runs.clock.sleep_until(next.map_or(latest, |due| due.min(latest))) => {}
                () = wake(&runs).notified() => {}
            }
        }
    });
}
