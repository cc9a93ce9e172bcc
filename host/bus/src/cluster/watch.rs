//! Watches the stream of events: it must answer, and still have all events that this node has seen of it.
//!
//! A stream that was replaced, or whose server came back with an older store, assigns numbers again that clients have
//! seen. Then a new epoch begins: all streams end, and their clients resume with RESYNC. The same happens when the
//! database goes back: the stream tells of changes that it lacks.

use super::connection::Cluster;
use super::settings::ClusterError;
use super::stored::StoredEvents;
use super::stream::Epoch;
use crate::registry::Registry;
use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::stream::{RawMessageErrorKind, Stream};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Interval between checks of the stream.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time after which all events published before an answer of the stream have arrived.
const ARRIVAL_TIME: Duration = Duration::from_millis(900);
/// Time without an answer of the stream after which the bus counts as unreachable.
const PATIENCE: Duration = Duration::from_secs(3);
/// Delay until the repeated check of a stream that seems to have lost events.
const CONFIRM_DELAY: Duration = Duration::from_millis(250);
/// Maximum number of remembered connections.
const CONNECTIONS: usize = 64;
/// Events whose message ids are remembered.
const REMEMBERED: usize = 1_000;
/// Number of first events of a connection that must be found like the last one of the connection before: some of them
/// may have come over that one.
const FIRST: usize = 16;

/// This node's knowledge of the stream, and the task that keeps it true.
pub(crate) struct StreamWatch {
    pub(crate) cluster: Cluster,
    registry: Weak<RwLock<Registry>>,
    known: Mutex<Known>,
    arrived: Mutex<Arrived>,
    pub(super) stored: StoredEvents,
    /// Locked during a check of the stream: start of the last check, and true if the stream answered.
    last_check: tokio::sync::Mutex<Option<(Instant, bool)>>,
    /// Latest connection over which the stream was checked.
    checked_on: AtomicU64,
    failing_since: Mutex<Option<Instant>>,
    /// Latest known epoch of the database.
    database: AtomicU64,
    check_wanted: Notify,
}

struct Known {
    epoch: Epoch,
    /// Highest number known to be assigned.
    head: u64,
    /// Message ids of the newest events seen, by number.
    recent: BTreeMap<u64, String>,
    /// Connection of the latest event, and the number of events over it.
    seen_on: (u64, usize),
    /// The newest ones of earlier connections and the first ones after, not yet found by a check: a later event may
    /// follow on a lost one.
    unconfirmed: Vec<(u64, String)>,
    /// Two events were seen with one number.
    is_contradicted: bool,
}

/// Content that the stream must have.
struct Expected {
    epoch: u64,
    head: u64,
    /// Events and their message ids, unless they have expired.
    witnesses: Vec<(u64, String)>,
    /// True if events are certainly missing, regardless of the stream's answers.
    is_contradicted: bool,
}

impl Known {
    fn new(epoch: Epoch, head: u64) -> Self {
        Self { epoch, head, recent: BTreeMap::new(), seen_on: (0, 0), unconfirmed: vec![], is_contradicted: false }
    }

    fn newest(&self) -> Option<(u64, String)> {
        self.recent.last_key_value().map(|(sequence, id)| (*sequence, id.clone()))
    }

    fn expected(&self) -> Expected {
        let witnesses = self.unconfirmed.iter().cloned().chain(self.newest()).collect();
        Expected { epoch: self.epoch.number, head: self.head, witnesses, is_contradicted: self.is_contradicted }
    }

    /// Notes an event. True if another one had its number.
    fn note(&mut self, connection: u64, sequence: u64, message_id: &str) -> bool {
        self.head = self.head.max(sequence);
        if self.seen_on.0 != connection {
            self.seen_on = (connection, 0);
            self.unconfirmed.extend(self.newest());
        }
        if let Some(other) = self.recent.get(&sequence) {
            let is_other = other != message_id;
            self.is_contradicted |= is_other;
            return is_other;
        }
        if self.seen_on.1 < FIRST {
            self.seen_on.1 += 1;
            self.unconfirmed.push((sequence, message_id.to_owned()));
        }
        self.recent.insert(sequence, message_id.to_owned());
        if self.recent.len() > REMEMBERED {
            self.recent.pop_first();
        }
        false
    }
}

/// Numbers up to which all events have arrived at this node, on each of its connections.
#[derive(Default)]
struct Arrived {
    latest: Option<Check>,
    by_connection: BTreeMap<u64, u64>,
}

#[derive(Clone, Copy)]
struct Check {
    connection: u64,
    at: Instant,
    head: u64,
}

impl StreamWatch {
    /// Watches a stream that has just been checked.
    pub(crate) fn new(cluster: Cluster, registry: &Arc<RwLock<Registry>>, epoch: Epoch, head: u64) -> Self {
        Self {
            checked_on: AtomicU64::new(cluster.connection()),
            cluster,
            registry: Arc::downgrade(registry),
            known: Mutex::new(Known::new(epoch, head)),
            arrived: Mutex::default(),
            stored: StoredEvents::default(),
            last_check: tokio::sync::Mutex::default(),
            failing_since: Mutex::default(),
            database: AtomicU64::default(),
            check_wanted: Notify::new(),
        }
    }

    /// Checks the stream once a second, when the connection is restored and when a check is requested; ends with the
    /// bus.
    pub(crate) async fn run(self: Arc<Self>) {
        let mut link = self.cluster.link();
        while self.registry.strong_count() > 0 {
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                () = self.check_wanted.notified() => {}
                changed = link.changed() => if changed.is_err() { return },
            }
            let config = self.cluster.config();
            self.stored.expire(config.retention, config.network_events);
            if *link.borrow_and_update() {
                // A failure is logged there.
                let _ = self.check(Instant::now(), None).await;
            }
        }
    }

    /// The epoch, and the highest number known to be assigned in it.
    pub(crate) fn position(&self) -> (Epoch, u64) {
        let known = self.known.lock();
        (known.epoch, known.head)
    }

    /// Begins a new epoch unless the stream's is of this epoch of the database.
    pub(crate) async fn follow_database(&self, epoch: u64) -> Result<(), ClusterError> {
        self.database.fetch_max(epoch, Relaxed);
        self.check(Instant::now(), None).await
    }

    /// Notes that an event has this number.
    pub(crate) fn note(&self, epoch: u64, sequence: u64, message_id: &str) {
        let connection = self.cluster.connection();
        let mut known = self.known.lock();
        if known.epoch.number == epoch && known.note(connection, sequence, message_id) {
            self.request_check();
        }
    }

    /// Notes that the numbers up to this one are assigned.
    pub(crate) fn note_head(&self, epoch: u64, head: u64) {
        let mut known = self.known.lock();
        if known.epoch.number == epoch {
            known.head = known.head.max(head);
        }
    }

    /// True if the stream of events answers.
    pub(crate) fn is_answering(&self) -> bool {
        self.failing_since.lock().is_none_or(|since| since.elapsed() < PATIENCE)
    }

    /// Requests an early check of the stream.
    pub(crate) fn request_check(&self) {
        self.check_wanted.notify_one();
    }

    /// Number up to which all events have arrived that were published before `connection` was lost, or a moment ago.
    pub(crate) fn arrived_on(&self, connection: u64) -> u64 {
        self.arrived.lock().by_connection.get(&connection).copied().unwrap_or(0)
    }

    /// Checks the stream over this connection before anything is read over it: it may have lost events, and assigned
    /// their numbers to others.
    pub(super) async fn check_on(&self, connection: u64) -> Result<(), ClusterError> {
        if self.checked_on.load(Relaxed) >= connection { Ok(()) } else { self.check(Instant::now(), None).await }
    }

    /// Checks that the stream still has all its earlier events, unless that was done since `since`. `proof` is the
    /// epoch in which a number came twice.
    pub(crate) async fn check(&self, since: Instant, proof: Option<u64>) -> Result<(), ClusterError> {
        let mut last_check = self.last_check.lock().await;
        if let Some((_, answered)) = last_check.filter(|(began, _)| proof.is_none() && *began >= since) {
            let failed = || ClusterError::Stream("it does not answer".to_owned());
            return if answered { Ok(()) } else { Err(failed()) };
        }
        let began = Instant::now();
        let examined = self.examine(proof).await;
        *last_check = Some((began, examined.is_ok()));
        match examined {
            Ok(()) => {
                *self.failing_since.lock() = None;
                Ok(())
            }
            Err(error) => {
                tracing::debug!(%error, "the stream of events can't be examined");
                self.failing_since.lock().get_or_insert_with(Instant::now);
                Err(error)
            }
        }
    }

    async fn examine(&self, proof: Option<u64>) -> Result<(), ClusterError> {
        let connection = self.cluster.connection();
        let expected = self.known.lock().expected();
        let mut stream = self.cluster.event_stream().await?;
        let mut has_lost = lacks_events(&stream, &expected).await?;
        if has_lost {
            // A newly elected leader may lag for a moment.
            tokio::time::sleep(CONFIRM_DELAY).await;
            stream = self.cluster.event_stream().await?;
            has_lost = lacks_events(&stream, &expected).await?;
        }
        let info = stream.cached_info();
        let mut epoch = Epoch::of(info);
        let database = self.database.load(Relaxed);
        if has_lost || proof == Some(epoch.number) {
            epoch = self.cluster.begin_epoch(info, expected.epoch + 1, database.max(epoch.database)).await?;
        } else if epoch.database < database {
            epoch = self.cluster.begin_epoch(info, epoch.number + 1, database).await?;
        }
        let head = info.state.last_sequence;
        if epoch.number == expected.epoch {
            self.note_head(epoch.number, head);
            let mut known = self.known.lock();
            // Of two nodes that begin an epoch, the later one decides its position.
            known.epoch = epoch;
            known.unconfirmed.retain(|event| !expected.witnesses.contains(event));
        } else {
            tracing::warn!("the bus between nodes or the database lost events; all streams begin anew");
            *self.known.lock() = Known::new(epoch, head);
            if let Some(registry) = self.registry.upgrade() {
                registry.write().restart(epoch.number);
            }
        }
        if connection == self.cluster.connection() {
            self.checked_on.store(connection, Relaxed);
            self.arrived.lock().note(Check { connection, at: Instant::now(), head });
        }
        Ok(())
    }
}

/// True if the stream lacks events that it had, or is an earlier one.
async fn lacks_events(stream: &Stream, expected: &Expected) -> Result<bool, ClusterError> {
    let info = stream.cached_info();
    let epoch = Epoch::of(info).number;
    if epoch != expected.epoch {
        return Ok(epoch < expected.epoch);
    }
    if expected.is_contradicted || info.state.last_sequence < expected.head {
        return Ok(true);
    }
    for (sequence, message_id) in &expected.witnesses {
        match stream.get_raw_message(*sequence).await {
            Ok(found) if found.headers.get(NATS_MESSAGE_ID).is_some_and(|id| id.as_str() == message_id) => {}
            Ok(_) => return Ok(true),
            // The event has expired.
            Err(error) if matches!(error.kind(), RawMessageErrorKind::NoMessageFound) => {}
            Err(error) => return Err(ClusterError::Stream(error.to_string())),
        }
    }
    Ok(false)
}

impl Arrived {
    fn note(&mut self, check: Check) {
        let last = self.latest.filter(|last| last.connection == check.connection);
        match last {
            Some(last) if check.at - last.at < ARRIVAL_TIME => return,
            Some(last) => {
                self.by_connection.insert(last.connection, last.head);
                if self.by_connection.len() > CONNECTIONS {
                    self.by_connection.pop_first();
                }
            }
            None => {}
        }
        self.latest = Some(check);
    }
}
