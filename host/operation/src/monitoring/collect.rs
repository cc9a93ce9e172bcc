//! Reads the current values of the hub's gauges.

use std::fmt::Write as _;

use strum::IntoEnumIterator as _;

use crate::app::App;
use crate::cluster::ShardRegistry;
use crate::deliveries::DeliveryState;
use crate::events::Streams;
use crate::fault::FaultKind;
use crate::http::connection::Connections;
use crate::jobs::{self, Jobs};
use crate::metering::service::{self as usage, HourRow};
use crate::metric_recorder::MetricRecorder;
use crate::metric_recorder::table::{
    BREAKERS, BUILD, BUS_LAG, BUS_NETWORKS, BUS_PUBLISHED, BUS_REACHABLE, BUS_RESYNCS, BUS_RETAINED,
    BUS_RETAINED_BYTES, BUS_TOO_SLOW, CONNECTIONS, CPU, DATABASE_MAX, DATABASE_QUEUE, DATABASE_USED, DATABASE_WAITING,
    DELIVERIES, FAULTS, JOBS_DEAD, JOBS_FAILED, JOBS_OLDEST, JOBS_RUNNING, JOBS_WAITING, MEMORY, Metric,
    NETWORK_EVENTS, NETWORK_MODULES, NETWORK_REQUESTS, OPEN_FILES, OUTBOX, PANICS, PLAYER_SESSIONS,
    PLAYER_SESSIONS_WAITING, PLAYERS, PLAYERS_WAITING, ROWS_UNREADABLE, SERVERS, SHARDS, SHARDS_GAINED, SHARDS_LOST,
    STATEMENT_MILLIS, STATEMENTS, STATEMENTS_FAILED, STREAMS, USAGE_LAG,
};
use crate::modules::service::breakers;
use crate::monitoring::process;
use crate::panics::caught_panics;
use crate::player_sessions::PlayerSessions;
use crate::presence::Presence;
use crate::waiting_lines::WaitingLines;

/// Maximum number of networks with time series of their own.
const MAX_NETWORKS: i64 = 50;
/// Maximum number of jobs of a kind that are counted.
const MAX_JOBS: i64 = 10_000;

/// Sets the metrics that are read, not recorded. Returns those with a changing set of labels as text.
pub(super) async fn collect(app: &App) -> String {
    let set = |metric: &Metric, value: f64| app.state::<MetricRecorder>().gauge(metric, &[]).set(value);
    let count = |metric: &Metric, value: u64| app.state::<MetricRecorder>().counter(metric, &[]).absolute(value);
    set(&CONNECTIONS, app.state::<Connections>().count() as f64);
    set(&STREAMS, app.state::<Streams>().count() as f64);
    let (players, servers) = app.state::<Presence>().counts();
    set(&PLAYERS, players as f64);
    set(&PLAYERS_WAITING, app.state::<WaitingLines>().waiting() as f64);
    set(&SERVERS, servers as f64);
    let (sessions, waiting) = app.state::<PlayerSessions>().counts();
    set(&PLAYER_SESSIONS, sessions as f64);
    set(&PLAYER_SESSIONS_WAITING, waiting as f64);
    database(app);
    let bus = app.bus.stats();
    set(&BUS_REACHABLE, f64::from(app.bus.is_reachable()));
    set(&BUS_NETWORKS, bus.networks as f64);
    set(&BUS_RETAINED, bus.retained_events as f64);
    set(&BUS_RETAINED_BYTES, bus.retained_bytes as f64);
    set(&BUS_LAG, bus.max_unread_events as f64);
    count(&BUS_PUBLISHED, bus.published);
    count(&BUS_RESYNCS, bus.resyncs);
    count(&BUS_TOO_SLOW, bus.too_slow);
    for ((point, state), number) in breakers(app) {
        app.state::<MetricRecorder>().gauge(&BREAKERS, &[point, state]).set(number as f64);
    }
    let shards = app.state::<ShardRegistry>().counts();
    set(&SHARDS, shards.owned as f64);
    count(&SHARDS_GAINED, shards.gained);
    count(&SHARDS_LOST, shards.lost);
    let faults = app.faults.kinds();
    for kind in FaultKind::iter() {
        app.state::<MetricRecorder>().gauge(&FAULTS, &[kind.into()]).set(f64::from(faults.contains(&kind)));
    }
    set(&MEMORY, process::resident_bytes().unwrap_or(0) as f64);
    set(&OPEN_FILES, process::open_files().unwrap_or(0) as f64);
    count(&CPU, process::cpu_millis());
    app.state::<MetricRecorder>().gauge(&BUILD, &[env!("CARGO_PKG_VERSION"), env!("HUB_COMMIT")]).set(1.0);
    stored(app).await.unwrap_or_else(|error| {
        // The other metrics are still returned.
        tracing::debug!(%error, "could not read some metrics from the database");
        String::new()
    })
}

fn database(app: &App) {
    let stats = app.db.stats();
    for pool in stats.pools {
        app.state::<MetricRecorder>().gauge(&DATABASE_USED, &[pool.name]).set(pool.used as f64);
        app.state::<MetricRecorder>().gauge(&DATABASE_MAX, &[pool.name]).set(pool.max as f64);
        app.state::<MetricRecorder>().gauge(&DATABASE_WAITING, &[pool.name]).set(pool.waiting as f64);
    }
    app.state::<MetricRecorder>().gauge(&DATABASE_QUEUE, &[]).set(stats.queued_writes as f64);
    let statements = hub_db::statement_stats();
    app.state::<MetricRecorder>().counter(&STATEMENTS, &[]).absolute(statements.statements);
    app.state::<MetricRecorder>().counter(&STATEMENTS_FAILED, &[]).absolute(statements.failed);
    app.state::<MetricRecorder>().counter(&ROWS_UNREADABLE, &[]).absolute(statements.unreadable_rows);
    app.state::<MetricRecorder>().counter(&PANICS, &[]).absolute(caught_panics());
    let millis = u64::try_from(statements.time.as_millis()).unwrap_or(u64::MAX);
    app.state::<MetricRecorder>().counter(&STATEMENT_MILLIS, &[]).absolute(millis);
}

/// Reads a metric's value from a network's hour.
type Value = fn(&HourRow) -> i64;

/// States in which deliveries are counted.
const SETTLED: [DeliveryState; 5] = [
    DeliveryState::Held,
    DeliveryState::Delivered,
    DeliveryState::Failed,
    DeliveryState::Expired,
    DeliveryState::Cancelled,
];

/// Metrics that are read from the database.
async fn stored(app: &App) -> Result<String, hub_db::Error> {
    let waiting = crate::events::waiting_events(app).await?;
    app.state::<MetricRecorder>().gauge(&OUTBOX, &[]).set(waiting as f64);
    let lag = usage::report_lag(app).await?;
    app.state::<MetricRecorder>().gauge(&USAGE_LAG, &[]).set(lag as f64 / 1_000.0);
    jobs(app).await?;
    crate::modules::service::collect_metrics(app);
    for state in SETTLED {
        // Served from the start, so that the first one is an increase.
        app.state::<MetricRecorder>().counter(&DELIVERIES, &[state.as_str()]).increment(0);
    }
    let networks = usage::busiest(app, MAX_NETWORKS).await?;
    let mut text = String::new();
    let series: [(Metric, Value); 3] = [
        (NETWORK_REQUESTS, |row| row.requests),
        (NETWORK_EVENTS, |row| row.events),
        (NETWORK_MODULES, |row| row.module_micros / 1_000),
    ];
    for (metric, value) in series {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# HELP {0} {1}\n# TYPE {0} gauge", metric.name, metric.help);
        for row in &networks {
            let _ = writeln!(text, "{}{{network=\"{}\"}} {}", metric.name, row.network_id, value(row));
        }
    }
    Ok(text)
}

async fn jobs(app: &App) -> Result<(), hub_db::Error> {
    for kind in app.state::<Jobs>().kinds() {
        let stats = jobs::stats(&app.db, kind, MAX_JOBS).await?;
        let waits_for = stats.next_at.map_or(0, |due_at| app.clock.now().saturating_sub(due_at).max(0));
        let set = |metric: &Metric, value: f64| app.state::<MetricRecorder>().gauge(metric, &[kind]).set(value);
        set(&JOBS_WAITING, stats.waiting as f64);
        set(&JOBS_RUNNING, stats.running as f64);
        set(&JOBS_DEAD, stats.dead as f64);
        // Served from the start, so that the first failure is an increase.
        app.state::<MetricRecorder>().counter(&JOBS_FAILED, &[kind]).increment(0);
        set(&JOBS_OLDEST, waits_for as f64 / 1_000.0);
    }
    Ok(())
}
