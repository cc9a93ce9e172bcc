//! In-memory counts of networks' usage: rows, so that adding one needs no count, and open resources.
//!
//! Rows are counted in the database when a network first adds one, and then with each row added here. An update of an
//! existing row counts as a new one until the next count, which therefore comes a little early. A table of many rows
//! is counted in the background, and rows may be added meanwhile. Most rows of a network are added by its owner; if
//! several nodes do, each sees the others' within [`MAX_AGE`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::{Stream, StreamExt as _};
use hub_db::Sql;
use moka::sync::Cache;
use parking_lot::Mutex;

use crate::app::App;
use crate::clock::{Millis, millis};
use crate::limits::{Limit, QuotaExceeded, of};
use crate::values::NetworkId;

/// Validity of a count.
const MAX_AGE: Duration = Duration::from_hours(1);
const MAX_COUNTS: u64 = 200_000;
/// Number of rows counted while a request waits.
const COUNTED_AT_ONCE: i64 = 20_000;
/// Minimum time until a large table is counted again.
const RECOUNT_AFTER: Duration = Duration::from_secs(1);

/// Rows, or bytes in rows, counted by a limit.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// Limit.
    pub limit: Limit,
    /// Counts the rows of the network `$1`, up to `$2`.
    pub sql: Sql,
    /// True if a request can wait for the count. Then there is no `$2`.
    pub are_few: bool,
}

impl Rows {
    /// Rows that `sql` counts for the network `$1` while the request waits.
    pub const fn few(limit: Limit, sql: &'static str) -> Self {
        Self { limit, sql: Sql { sqlite: sql, postgres: sql }, are_few: true }
    }

    /// Rows that `sql` counts for the network `$1`, up to `$2`.
    pub const fn many(limit: Limit, sql: &'static str) -> Self {
        Self { limit, sql: Sql { sqlite: sql, postgres: sql }, are_few: false }
    }
}

/// Usage of networks.
#[derive(Clone, Debug)]
pub struct Usage {
    counts: Cache<(NetworkId, Limit), Arc<Mutex<Count>>>,
    open: OpenCounts,
}

type OpenCounts = Arc<Mutex<HashMap<(NetworkId, Limit), OpenCount>>>;

/// Number of open resources, and the peak since the last query.
#[derive(Clone, Copy, Debug, Default)]
struct OpenCount {
    now: i64,
    peak: i64,
}

impl Default for Usage {
    fn default() -> Self {
        let counts = Cache::builder().max_capacity(MAX_COUNTS).time_to_live(MAX_AGE).build();
        Self { counts, open: Arc::default() }
    }
}

#[derive(Debug, Default)]
struct Count {
    /// None until counted.
    counted: Option<i64>,
    /// Rows that requests are adding now: a count may come before their commit.
    adding: i64,
    /// All rows added so far.
    total: i64,
    /// Those among them that the count includes.
    included: i64,
    counted_at: Millis,
    /// True while a count runs in the background.
    counting: bool,
}

impl Count {
    fn used(&self) -> i64 {
        self.counted.unwrap_or(0).saturating_add(self.added()).saturating_add(self.adding)
    }

    /// Rows added since the count began.
    fn added(&self) -> i64 {
        self.total.saturating_sub(self.included)
    }

    /// Takes a count that began when `total` rows had been added.
    fn set(&mut self, counted: i64, total: i64, at: Millis) {
        // One that began earlier may end later.
        if self.counted.is_none() || total >= self.included {
            (self.counted, self.included, self.counted_at) = (Some(counted), total, at);
        }
    }
}

impl Usage {
    fn count(&self, network: NetworkId, limit: Limit) -> Arc<Mutex<Count>> {
        self.counts.get_with((network, limit), Arc::default)
    }

    /// Peak numbers of open resources per network since the last call.
    pub fn take_peaks(&self, limit: Limit) -> Vec<(NetworkId, i64)> {
        let mut open = self.open.lock();
        let mut peaks = vec![];
        open.retain(|(network, of), count| {
            if *of == limit {
                peaks.push((*network, count.peak));
                count.peak = count.now;
            }
            count.now > 0
        });
        peaks
    }

    /// Records rows added without a check.
    pub fn added(&self, network: NetworkId, limit: Limit, rows: i64) {
        let count = self.count(network, limit);
        let mut count = count.lock();
        count.total = count.total.saturating_add(rows);
    }

    /// Records deleted rows.
    pub fn removed(&self, network: NetworkId, limit: Limit, rows: i64) {
        let count = self.count(network, limit);
        let mut count = count.lock();
        if let Some(counted) = &mut count.counted {
            *counted = counted.saturating_sub(rows);
        }
    }
}

/// Rows that a request is adding, until this is dropped: after the commit.
#[derive(Debug)]
#[must_use = "others may take its place before the commit"]
pub struct Adding {
    count: Arc<Mutex<Count>>,
    rows: i64,
}

impl Adding {
    fn new(count: &Arc<Mutex<Count>>, rows: i64) -> Self {
        Self { count: Arc::clone(count), rows }
    }
}

impl Drop for Adding {
    fn drop(&mut self) {
        let mut count = self.count.lock();
        count.adding = count.adding.saturating_sub(self.rows);
        count.total = count.total.saturating_add(self.rows);
    }
}

/// Refuses to add rows beyond the limit; what it answers keeps their place. `is_there` tells if the row already exists,
/// so that it is updated instead of added; it is called only at the limit.
pub async fn check_rows<E>(
    app: &App,
    network: NetworkId,
    rows: Rows,
    added: i64,
    is_there: impl Future<Output = Result<bool, hub_db::Error>>,
) -> Result<Adding, E>
where
    E: From<QuotaExceeded> + From<hub_db::Error>,
{
    let limits = of(app, network).await?;
    let value = limits.value(rows.limit);
    let count = app.state::<Usage>().count(network, rows.limit);
    let is_counted = count.lock().counted.is_some();
    if !is_counted {
        recount(app, network, rows, value, &count).await?;
    }
    {
        let mut now = count.lock();
        if now.used().saturating_add(added) <= value {
            now.adding = now.adding.saturating_add(added);
            return Ok(Adding::new(&count, added));
        }
    }
    if is_there.await? {
        return Ok(Adding::new(&count, 0));
    }
    let is_outdated = {
        let count = count.lock();
        let is_small = rows.are_few || count.counted.is_some_and(|counted| counted < COUNTED_AT_ONCE);
        is_small || (count.added() > 0 && app.clock.now() - count.counted_at >= millis(RECOUNT_AFTER))
    };
    if is_outdated {
        recount(app, network, rows, value, &count).await?;
    }
    let mut now = count.lock();
    limits.check(rows.limit, now.used(), added)?;
    now.adding = now.adding.saturating_add(added);
    drop(now);
    Ok(Adding::new(&count, added))
}

/// Rows of the limit as last counted, with those added here since. Many rows may have been counted an hour ago.
pub async fn used(app: &App, network: NetworkId, rows: Rows) -> Result<i64, hub_db::Error> {
    let value = of(app, network).await?.value(rows.limit);
    let count = app.state::<Usage>().count(network, rows.limit);
    let is_counted = !rows.are_few && count.lock().counted.is_some();
    if !is_counted {
        recount(app, network, rows, value, &count).await?;
    }
    let used = count.lock().used();
    Ok(used)
}

/// Resources of the limit that are open at this node.
pub fn opened(app: &App, network: NetworkId, limit: Limit) -> i64 {
    app.state::<Usage>().open.lock().get(&(network, limit)).map_or(0, |count| count.now)
}

/// Counts immediately, or starts a background count of many rows.
async fn recount(
    app: &App,
    network: NetworkId,
    rows: Rows,
    value: i64,
    count: &Arc<Mutex<Count>>,
) -> Result<(), hub_db::Error> {
    let (counted_before, total) = {
        let count = count.lock();
        (count.counted, count.total)
    };
    if rows.are_few || counted_before.is_none_or(|counted| counted < COUNTED_AT_ONCE) {
        let most = if rows.are_few { None } else { Some(COUNTED_AT_ONCE) };
        let now = app.clock.now();
        let counted = select(app, network, rows, most).await?;
        count.lock().set(counted, total, now);
        if rows.are_few || counted < COUNTED_AT_ONCE {
            return Ok(());
        }
    }
    if std::mem::replace(&mut count.lock().counting, true) {
        return Ok(());
    }
    let (task, count) = (app.clone(), Arc::clone(count));
    app.spawn(async move {
        let (now, total) = (task.clock.now(), count.lock().total);
        let counted = select(&task, network, rows, Some(value.saturating_add(1))).await;
        let mut count = count.lock();
        count.counting = false;
        match counted {
            Ok(counted) => count.set(counted, total, now),
            Err(error) => tracing::warn!(%network, limit = %rows.limit, %error, "could not count a network's rows"),
        }
    });
    Ok(())
}

async fn select(app: &App, network: NetworkId, rows: Rows, most: Option<i64>) -> Result<i64, hub_db::Error> {
    let statement = app.db.query(rows.sql).bind(network);
    let statement = match most {
        Some(most) => statement.bind(most),
        None => statement,
    };
    let (counted,): (i64,) = statement.one().await?;
    Ok(counted)
}

/// An open resource, counted until this is dropped.
#[derive(Debug)]
pub struct OpenGuard {
    open: OpenCounts,
    key: (NetworkId, Limit),
}

/// Opens one more resource of the limit.
pub async fn open<E>(app: &App, network: NetworkId, limit: Limit) -> Result<OpenGuard, E>
where
    E: From<QuotaExceeded> + From<hub_db::Error>,
{
    let limits = of(app, network).await?;
    let key = (network, limit);
    let mut open = app.state::<Usage>().open.lock();
    let count = open.entry(key).or_default();
    limits.check(limit, count.now, 1)?;
    count.now += 1;
    count.peak = count.peak.max(count.now);
    drop(open);
    Ok(OpenGuard { open: Arc::clone(&app.state::<Usage>().open), key })
}

/// Variant of [`open`] for something that replaces another one, which still counts for a moment: it is not refused.
pub fn open_instead(app: &App, network: NetworkId, limit: Limit) -> OpenGuard {
    let key = (network, limit);
    app.state::<Usage>().open.lock().entry(key).or_default().now += 1;
    OpenGuard { open: Arc::clone(&app.state::<Usage>().open), key }
}

/// Response body that counts as open until it is completely sent.
pub fn body_of_open<E>(open: OpenGuard, pieces: impl Stream<Item = Result<Bytes, E>> + Send + 'static) -> Body
where
    E: std::error::Error + Send + Sync + 'static,
{
    Body::from_stream(pieces.map(move |piece| {
        let _open = &open;
        piece
    }))
}

impl Drop for OpenGuard {
    fn drop(&mut self) {
        // The peak stays until it is taken.
        if let Some(count) = self.open.lock().get_mut(&self.key) {
            count.now -= 1;
        }
    }
}
