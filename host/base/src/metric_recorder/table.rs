//! All metrics; the table in `docs/operate/metrics.md` is generated from this one.

use std::fmt::Write as _;

/// Kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// Only rises, until the process ends.
    Counter,
    /// Rises and falls.
    Gauge,
    /// Seconds, in buckets.
    Histogram,
}

/// A metric of the hub.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name in Prometheus.
    pub name: &'static str,
    /// Kind of the metric.
    pub kind: Kind,
    /// Names of its labels.
    pub labels: &'static [&'static str],
    /// Meaning of the metric.
    pub help: &'static str,
}

macro_rules! metrics {
    ($($(#[doc = $help:literal])+ $constant:ident = $kind:ident $name:literal $([$($label:literal),+])?;)+) => {
        $($(#[doc = $help])+ pub const $constant: Metric = Metric {
            name: $name,
            kind: Kind::$kind,
            labels: &[$($($label),+)?],
            help: concat!($($help),+).trim_ascii(),
        };)+

        /// All metrics, in the order of the documentation.
        pub const METRICS: &[Metric] = &[$($constant),+];
    };
}

metrics! {
    /// Answered requests, by the template of their route and the status of the answer.
    REQUESTS = Counter "hub_requests_total" ["method", "route", "status"];
    /// Seconds from a request to the head of its answer.
    REQUEST_SECONDS = Histogram "hub_request_seconds" ["method", "route"];
    /// Connections that are open.
    CONNECTIONS = Gauge "hub_connections";
    /// Event streams that are open.
    STREAMS = Gauge "hub_streams";
    /// Servers that are online, of the networks that this node owns.
    SERVERS = Gauge "hub_servers_online";
    /// Players who are online, of the networks that this node owns.
    PLAYERS = Gauge "hub_players_online";
    /// Sessions of players that are open, of the networks that this node owns.
    PLAYER_SESSIONS = Gauge "hub_player_sessions_open";
    /// Openings of players' sessions that wait for another server.
    PLAYER_SESSIONS_WAITING = Gauge "hub_player_sessions_waiting";
    /// Players who wait in lines, of the networks that this node owns.
    PLAYERS_WAITING = Gauge "hub_players_waiting";
    /// Connections to the database that are in use, by pool.
    DATABASE_USED = Gauge "hub_database_connections_used" ["pool"];
    /// Connections to the database at most, by pool.
    DATABASE_MAX = Gauge "hub_database_connections_max" ["pool"];
    /// Callers that wait for a connection to the database, by pool.
    DATABASE_WAITING = Gauge "hub_database_waiting" ["pool"];
    /// Writes that wait for SQLite's writer.
    DATABASE_QUEUE = Gauge "hub_database_queued_writes";
    /// Statements that were run.
    STATEMENTS = Counter "hub_database_statements_total";
    /// Statements that failed.
    STATEMENTS_FAILED = Counter "hub_database_statements_failed_total";
    /// Rows left out by work for all networks, because they cannot be read.
    ROWS_UNREADABLE = Counter "hub_database_unreadable_rows_total";
    /// Panics in background work, which went on for other networks; the log names each kind once.
    PANICS = Counter "hub_background_panics_total";
    /// Milliseconds that statements took, with waiting for a connection.
    STATEMENT_MILLIS = Counter "hub_database_statement_milliseconds_total";
    /// 1 while the bus between nodes is reached, or there is none.
    BUS_REACHABLE = Gauge "hub_bus_reachable";
    /// Networks that have events or streams at this node.
    BUS_NETWORKS = Gauge "hub_bus_networks";
    /// Events that can be resumed from.
    BUS_RETAINED = Gauge "hub_bus_retained_events";
    /// Bytes of these events.
    BUS_RETAINED_BYTES = Gauge "hub_bus_retained_bytes";
    /// Events that the slowest stream of this node has not read yet.
    BUS_LAG = Gauge "hub_bus_lag_events";
    /// Events that this node published.
    BUS_PUBLISHED = Counter "hub_bus_published_total";
    /// Streams that could not resume at the requested position.
    BUS_RESYNCS = Counter "hub_bus_resyncs_total";
    /// Streams that were disconnected because they read too slowly.
    BUS_TOO_SLOW = Counter "hub_bus_too_slow_total";
    /// Events of committed changes that are not published yet, 10,000 at most.
    OUTBOX = Gauge "hub_outbox_events";
    /// Jobs that wait for their time or a place, at all nodes, by kind, 10,000 at most.
    JOBS_WAITING = Gauge "hub_jobs_waiting" ["kind"];
    /// Jobs that run, at all nodes, by kind.
    JOBS_RUNNING = Gauge "hub_jobs_running" ["kind"];
    /// Jobs that were given up after their last attempt, by kind; see `hub admin jobs`.
    JOBS_DEAD = Gauge "hub_jobs_dead" ["kind"];
    /// Seconds for which the longest due job waits, by kind.
    JOBS_OLDEST = Gauge "hub_jobs_oldest_waiting_seconds" ["kind"];
    /// Failed attempts at jobs at this node, by kind.
    JOBS_FAILED = Counter "hub_jobs_failed_attempts_total" ["kind"];
    /// Deliveries that were held or ended at this node, by their state.
    DELIVERIES = Counter "hub_deliveries_settled_total" ["state"];
    /// Seconds that a pass of periodic work took, by what it does.
    PASS_SECONDS = Histogram "hub_pass_seconds" ["pass"];
    /// Module calls, by extension point, outcome (`ok` or the failure's code) and mode (`active` or `shadow`).
    MODULE_CALLS = Counter "hub_module_calls_total" ["point", "outcome", "mode"];
    /// Seconds that a call of a module took in the sandbox.
    MODULE_SECONDS = Histogram "hub_module_call_seconds" ["point"];
    /// Modules in chains, by the state of their breaker.
    BREAKERS = Gauge "hub_module_breakers" ["point", "state"];
    /// Seconds for which the oldest event waits for a module, of the networks that this node owns.
    HANDLER_LAG = Gauge "hub_handler_lag_seconds";
    /// Events that wait for modules, of the networks that this node owns.
    HANDLER_QUEUE = Gauge "hub_handler_queued_events";
    /// Events, ticks and timers that became dead letters at this node, by kind.
    DEAD_LETTERS = Counter "hub_dead_letters_total" ["kind"];
    /// Ticks of schedules that ended at this node, by outcome (`ok`, `failed`, or `missed`, without those made up for).
    TICKS = Counter "hub_schedule_ticks_total" ["outcome"];
    /// Shards that this node owns; all if it is the only node.
    SHARDS = Gauge "hub_shards_owned";
    /// Shards that this node gained.
    SHARDS_GAINED = Counter "hub_shards_gained_total";
    /// Shards that this node lost or handed over.
    SHARDS_LOST = Counter "hub_shards_lost_total";
    /// 1 while a fault is active, by its name in `/readyz`.
    FAULTS = Gauge "hub_fault" ["name"];
    /// Seconds since the end of the oldest hour of usage that is closed and not reported; 0 without `--usage-sink`.
    USAGE_LAG = Gauge "hub_usage_report_lag_seconds";
    /// Requests in the running hour at all nodes, of the busiest networks whose plan sets `networkMetrics`, 50 at most.
    NETWORK_REQUESTS = Gauge "hub_network_requests_hour" ["network"];
    /// Events that streams were sent in the running hour, of the same networks.
    NETWORK_EVENTS = Gauge "hub_network_events_hour" ["network"];
    /// Milliseconds that modules computed in the running hour, of the same networks.
    NETWORK_MODULES = Gauge "hub_network_module_milliseconds_hour" ["network"];
    /// Bytes of memory that the process has.
    MEMORY = Gauge "hub_process_resident_bytes";
    /// Files that the process has open, connections among them.
    OPEN_FILES = Gauge "hub_process_open_files";
    /// Milliseconds of processor time that the process has used.
    CPU = Counter "hub_process_cpu_milliseconds_total";
    /// 1, with the version of the hub.
    BUILD = Gauge "hub_build_info" ["version", "commit"];
}

/// The table as Markdown.
pub fn document() -> String {
    let mut text = "| metric | kind | labels | meaning |\n|---|---|---|---|\n".to_owned();
    for Metric { name, kind, labels, help } in METRICS {
        let labels: Vec<_> = labels.iter().map(|label| format!("`{label}`")).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| `{name}` | {kind} | {} | {help} |", labels.join(", "));
    }
    text
}
