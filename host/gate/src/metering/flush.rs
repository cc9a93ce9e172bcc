//! Adds the counts in memory to the hours in the database, each second.

use std::collections::{BTreeMap, VecDeque};

use hub_db::Error;

use crate::app::App;
use crate::clock::Millis;
use crate::metering::amounts::Amounts;
use crate::metering::peaks::NotedPeaks;
use crate::metering::store::progress::{self, Work};
use crate::metering::{Metering, hour_of, store};
use crate::usage_counters::UsageCounters;
use crate::values::NetworkId;

/// Rows written by one transaction.
const BATCH: usize = 500;

/// Counts that were taken from the counters but may not be stored yet.
#[derive(Debug)]
pub(crate) struct Unsent {
    /// Unique name of this process.
    node: String,
    /// Number of the last batch.
    sequence: i64,
    /// Counts that are in no batch yet.
    waiting: BTreeMap<(NetworkId, Millis), Amounts>,
    /// Batches to be stored, oldest first. One that failed may have been stored, so it is sent again unchanged.
    batches: VecDeque<Batch>,
    peaks: NotedPeaks,
}

/// Amounts that are stored together, under a number.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) sequence: i64,
    pub(super) rows: Vec<(NetworkId, Millis, Amounts)>,
}

impl Unsent {
    pub(super) fn new(node: String) -> Self {
        let (waiting, batches) = Default::default();
        Self { node, sequence: 0, waiting, batches, peaks: NotedPeaks::default() }
    }

    /// The name of this process.
    pub(super) fn node(&self) -> &str {
        &self.node
    }

    fn take(&mut self, app: &App, now: Millis) {
        let hour = hour_of(now);
        let counted = app.state::<UsageCounters>().drain().into_iter().map(|(network, usage)| (network, usage.into()));
        for (network, amounts) in counted.chain(self.peaks.online(app, hour)) {
            self.waiting.entry((network, hour)).or_default().add(&amounts);
        }
        if !self.batches.is_empty() {
            return;
        }
        let waiting = std::mem::take(&mut self.waiting);
        let rows: Vec<_> = waiting.into_iter().map(|((network, hour), amounts)| (network, hour, amounts)).collect();
        for rows in rows.chunks(BATCH) {
            self.sequence += 1;
            self.batches.push_back(Batch { sequence: self.sequence, rows: rows.to_vec() });
        }
    }
}

/// Stores the counts up to now.
pub(super) async fn run(app: &App) -> Result<(), Error> {
    let now = app.clock.now();
    let mut unsent = app.state::<Metering>().unsent.lock().await;
    unsent.take(app, now);
    while let Some(batch) = unsent.batches.front() {
        store::add(&app.db, &unsent.node, batch, now).await?;
        unsent.batches.pop_front();
    }
    let streams = unsent.peaks.streams(app, now);
    for streams in streams.chunks(BATCH) {
        if let Err(error) = store::note_streams(&app.db, &unsent.node, streams, hour_of(now), now).await {
            unsent.peaks.forget_streams();
            return Err(error);
        }
    }
    Ok(())
}

/// Stores the remaining counts at shutdown.
pub(super) async fn stop(app: &App) {
    let stored = match run(app).await {
        // Counts may have waited behind a failed batch.
        Ok(()) => run(app).await,
        failed => failed,
    };
    let node = app.state::<Metering>().unsent.lock().await.node.clone();
    let left = match stored {
        Ok(()) => leave(app, &node).await,
        failed => failed,
    };
    if let Err(error) = left {
        tracing::warn!(%error, "could not store the latest usage");
    }
}

/// Releases the claims of this node.
async fn leave(app: &App, node: &str) -> Result<(), Error> {
    progress::release(&app.db, Work::Close, node).await?;
    progress::release(&app.db, Work::Report, node).await?;
    store::remove_node(&app.db, node).await
}
