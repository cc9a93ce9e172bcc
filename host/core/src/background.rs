//! Periodic background work.

use std::fmt::Display;
use std::time::Duration;

use crate::app::App;
use crate::clock::Settled;
use crate::metric_recorder::MetricRecorder;
use crate::panics::catch_panic;

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
            let began = runs.clock.moment();
            let pass = runs.passes.begin(what, period);
            // The call itself may panic, too.
            if let Some(Err(error)) = catch_panic(what, async { work(runs.clone()).await }).await {
                tracing::warn!(%error, "could not {what}");
            }
            runs.passes.end(what);
            runs.state::<MetricRecorder>().record_pass(what, pass.elapsed());
            runs.clock.sleep_until(began + period).await;
        }
    });
}

/// Like [`every`], for work that deletes, closes or expires for good: skipped while the time is doubtful.
pub fn every_settled<E, F>(
    app: &App,
    period: Duration,
    what: &'static str,
    work: impl Fn(App, Settled) -> F + Send + Sync + Clone + 'static,
) where
    E: Display + Send,
    F: Future<Output = Result<(), E>> + Send,
{
    every(app, period, what, move |app| {
        let work = work.clone();
        async move {
            match app.clock.settled() {
                Some(settled) => work(app, settled).await,
                None => Ok(()),
            }
        }
    });
}
