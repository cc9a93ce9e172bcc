//! Tells of handlers whose events wait for long, and measures how long they wait.

use std::sync::Arc;
use std::time::Duration;

use hub_db::Error;
use parking_lot::Mutex;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::cluster::ShardRegistry;
use crate::events::{self, EventKind};
use crate::metric_recorder::MetricRecorder;
use crate::metric_recorder::table::{DEAD_LETTERS, HANDLER_LAG, HANDLER_QUEUE, TICKS};
use crate::modules::handlers::model::LetterKind;
use crate::modules::handlers::registry::Handlers;
use crate::modules::handlers::store::{handlers, queue};
use crate::modules::open::is_open;
use crate::side_by_side::for_each_network;
use crate::values::NetworkId;

/// Age of the oldest event from which on it is told.
const LAG: Duration = Duration::from_mins(1);
/// Time until it is told again.
pub(super) const TOLD_AGAIN: Duration = Duration::from_mins(10);

/// Events wait for a module for more than a minute.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ModuleLaggingNotice)]
pub(in crate::modules) struct LaggingEvent {
    #[schema(example = "tebex-shop")]
    module: String,
    /// Age of the oldest event that waits.
    #[schema(example = 64_000)]
    lag_ms: Millis,
    /// Number of events that wait.
    #[schema(example = 17)]
    lag_events: i64,
}

/// Events that wait, in all networks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    longest: Millis,
    events: i64,
}

/// Events that wait for a module.
#[derive(Clone, Debug)]
pub struct Backlog {
    /// Its name.
    pub module: String,
    /// Time at which the oldest of them came.
    pub since: Millis,
    /// Their number.
    pub events: i64,
}

/// Modules of a network whose oldest event came at a time or before, with their events, counted up to `most`. Events of
/// those that were taken out are to wait.
async fn backlogs(app: &App, network: NetworkId, latest: Millis, most: i64) -> Result<Vec<Backlog>, Error> {
    let rows = handlers::list(&app.db, network).await?.into_iter().filter(|row| row.kept_until.is_none());
    let mut backlogs = vec![];
    for module in rows.map(|row| row.module) {
        let first = queue::first(&app.db, network, &module).await?;
        let Some((_, since)) = first.filter(|(_, since)| *since <= latest) else { continue };
        let events = queue::count_to(&app.db, network, &module, most).await?;
        backlogs.push(Backlog { module, since, events });
    }
    Ok(backlogs)
}

/// Modules of a network whose oldest event has waited for more than a minute.
pub async fn lagging(app: &App, network: NetworkId, most: i64) -> Result<Vec<Backlog>, Error> {
    backlogs(app, network, app.clock.now().saturating_sub(millis(LAG)), most).await
}

/// Looks at the handlers of the networks that this node owns.
pub(super) async fn look(app: App) -> Result<(), Error> {
    let networks = queue::networks(&app.db).await?.into_iter();
    let owned = networks.filter(|network| app.state::<ShardRegistry>().owns(*network)).map(|network| (network, ()));
    let waiting = Arc::new(Mutex::new(Waiting::default()));
    for_each_network(owned, "look for handlers that lag", |network, ()| {
        let (app, waiting) = (app.clone(), Arc::clone(&waiting));
        async move { look_at(&app, network, &waiting).await }
    })
    .await;
    *app.state::<Handlers>().waiting.lock() = *waiting.lock();
    Ok(())
}

/// Measures what waits, and names all counters: the first count of each is an increase.
pub fn collect_metrics(app: &App) {
    let Waiting { longest, events } = *app.state::<Handlers>().waiting.lock();
    let recorder = app.state::<MetricRecorder>();
    recorder.gauge(&HANDLER_LAG, &[]).set(longest as f64 / 1_000.0);
    recorder.gauge(&HANDLER_QUEUE, &[]).set(events as f64);
    for kind in [LetterKind::Event, LetterKind::Tick, LetterKind::Timer] {
        recorder.counter(&DEAD_LETTERS, &[kind.as_str()]).increment(0);
    }
    for outcome in ["ok", "failed", "missed"] {
        recorder.counter(&TICKS, &[outcome]).increment(0);
    }
}

async fn look_at(app: &App, network: NetworkId, waiting: &Mutex<Waiting>) -> Result<(), Error> {
    if !is_open(app, network).await? {
        // Nothing of it is to run.
        return Ok(());
    }
    for Backlog { module, since, events: lag_events } in backlogs(app, network, Millis::MAX, i64::MAX).await? {
        let (now, moment) = (app.clock.now(), app.clock.moment());
        let lag_ms = (now - since).max(0);
        {
            let mut waiting = waiting.lock();
            waiting.longest = waiting.longest.max(lag_ms);
            waiting.events += lag_events;
        }
        let figures = app.state::<Handlers>().network(network).module(&module);
        if lag_ms < millis(LAG) || !figures.is_lag_to_be_told(moment) {
            continue;
        }
        let told = LaggingEvent { module, lag_ms, lag_events };
        app.db
            .transaction(async |mut tx| {
                events::publish_in(app, &mut tx, network, EventKind::ModuleLagging, None, &told).await
            })
            .await?;
        figures.lag_was_told(moment);
    }
    Ok(())
}
