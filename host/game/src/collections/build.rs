//! Builds indexes over stored documents, in batches.
//!
//! Adding an index records in the same transaction that it must be built. From then on every write of a document
//! maintains the index; a build adds the earlier documents in the order of their ids, each batch in a transaction of a
//! few milliseconds that also stores the last id. An interrupted or killed build is resumed there, at any node.

use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hub_db::Tx;
use tokio::time::Instant;

use crate::app::App;
use crate::collections::index::{self, Entry};
use crate::collections::model::{CollectionDefinition, CollectionName, DocumentId, IndexDefinition};
use crate::collections::service::{Result, parse};
use crate::collections::store::builds::{self, IndexBuild};
use crate::collections::store::{self, DocumentRow};
use crate::jobs::{self, Backoff, Job, JobError, JobKind, JobOutcome, NewJob, RunsAt};
use crate::values::NetworkId;

/// Bytes of documents read for one batch; one document may be larger.
const BATCH_BYTES: i64 = 128 * 1024;
/// Number of entries added by the first batch, and their minimum and maximum per batch.
const FIRST_ENTRIES: usize = 256;
const FEWEST_ENTRIES: usize = 128;
const MOST_ENTRIES: usize = 2_048;
/// Target duration of a batch without its commit: on SQLite all writers wait for it.
const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_millis(5);
/// Time after which other collections come first.
const TURN: Duration = Duration::from_secs(1);
/// Delay before retrying a batch that is locked by another builder.
pub(super) const RETRY_DELAY: Duration = Duration::from_millis(10);

/// Builds of collections; their keys are the collections.
static BUILD: JobKind = JobKind {
    name: "index-build",
    runs_at: RunsAt::AnyNode,
    is_of_hub: false,
    concurrency: 2,
    backoff: Backoff { first: Duration::from_secs(1), longest: Duration::from_mins(5) },
    max_attempts: None,
};

/// Adapts the size of batches.
#[derive(Debug)]
pub struct IndexBuilds {
    batch_entries: AtomicUsize,
}

impl Default for IndexBuilds {
    fn default() -> Self {
        Self { batch_entries: AtomicUsize::new(FIRST_ENTRIES) }
    }
}

impl IndexBuilds {
    /// Number of documents in the next batch for that many indexes.
    fn batch_documents(&self, indexes: usize) -> usize {
        (self.batch_entries.load(Ordering::Relaxed) / indexes.max(1)).max(1)
    }

    /// Adapts the batch size to the duration of a full batch: machines and their load differ.
    fn adapt(&self, took: Duration) {
        let entries = self.batch_entries.load(Ordering::Relaxed);
        let adapted = if took < SHORT {
            entries * 2
        } else if took > LONG {
            entries / 2
        } else {
            entries
        };
        self.batch_entries.store(adapted.clamp(FEWEST_ENTRIES, MOST_ENTRIES), Ordering::Relaxed);
    }
}

/// Builds indexes until the hub stops.
pub(super) fn start(app: &App) {
    jobs::work(app, &BUILD, run);
}

/// Queues the build of a collection's indexes.
pub(super) async fn enqueue(
    app: &App,
    tx: &mut Tx,
    network: NetworkId,
    collection: &CollectionName,
) -> Result<(), hub_db::Error> {
    jobs::enqueue_and_wake(app, tx, &NewJob::new(&BUILD, network, collection)).await
}

async fn run(app: App, job: Job) -> std::result::Result<JobOutcome, JobError> {
    let collection: CollectionName = job.key.parse().map_err(|error| JobError::permanent(&error))?;
    let began = Instant::now();
    while began.elapsed() < TURN {
        match build_batch(&app, job.network, &collection).await? {
            Batch::Complete => return Ok(JobOutcome::Done),
            Batch::Done => {}
            Batch::Taken => tokio::time::sleep(RETRY_DELAY).await,
        }
    }
    Ok(JobOutcome::RunAt(app.clock.now()))
}

/// Result of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    /// Done; there may be more.
    Done,
    /// Locked by another builder.
    Taken,
    /// The indexes are complete.
    Complete,
}

/// Adds the next documents to a collection's unfinished indexes.
pub(super) async fn build_batch(app: &App, network: NetworkId, collection: &CollectionName) -> Result<Batch> {
    let Some(build) = builds::find(&app.db, network, collection).await? else { return Ok(Batch::Complete) };
    let most = app.state::<IndexBuilds>().batch_documents(build.fields.len());
    let sizes = builds::next_sizes(&app.db, network, collection, &build.after, most as i64).await?;
    let last = last_of_batch(&sizes);
    let is_full = sizes.len() == most;
    app.db
        .transaction(async |mut tx| {
            let began = Instant::now();
            let definition = store::lock_definition_shared(&mut tx, network, collection).await?;
            let locked = builds::lock(&mut tx, network, collection).await?;
            let (Some(definition), true) = (definition, locked.as_ref() == Some(&build)) else {
                return Ok(Batch::Taken);
            };
            let Some(last) = last else {
                builds::finish(&mut tx, network, collection).await?;
                return Ok(Batch::Complete);
            };
            let documents = builds::lock_documents(&mut tx, network, collection, &build.after, last).await?;
            let entries = entries_of(network, &definition, &build, &documents);
            let entries = entries.iter().map(|(id, entry)| (*id, entry));
            store::add_missing_entries(&mut tx, network, collection, entries).await?;
            builds::advance(&mut tx, network, collection, last).await?;
            if is_full {
                app.state::<IndexBuilds>().adapt(began.elapsed());
            }
            Ok(Batch::Done)
        })
        .await
}

/// Id of the last document of the batch.
fn last_of_batch(sizes: &[(String, i64)]) -> Option<&str> {
    let mut bytes = 0;
    let within = sizes.iter().take_while(|(_, size)| {
        bytes += size;
        bytes <= BATCH_BYTES
    });
    let (id, _) = sizes.get(within.count().max(1) - 1)?;
    Some(id)
}

/// Entries of the documents in the unfinished indexes. A text too long for its index is left out: it was stored before
/// the index existed.
fn entries_of<'d>(
    network: NetworkId,
    definition: &CollectionDefinition,
    build: &IndexBuild,
    documents: &'d [DocumentRow],
) -> Vec<(&'d DocumentId, Entry)> {
    let indexes = definition.indexes.iter().filter(|index| build.fields.contains(&index.field));
    let indexes: Vec<&IndexDefinition> = indexes.collect();
    let mut entries = vec![];
    for row in documents {
        let doc = match parse(&row.doc) {
            Ok(doc) => doc,
            Err(error) => {
                tracing::warn!(%network, collection = %definition.name, id = %row.id, %error, "a document is in no index");
                continue;
            }
        };
        for index in &indexes {
            match index::entries(&doc, slice::from_ref(*index)) {
                Ok(found) => entries.extend(found.into_iter().map(|entry| (&row.id, entry))),
                Err(index::TooLong(field)) => {
                    tracing::warn!(%network, collection = %definition.name, id = %row.id, %field, "a text is too long for its index");
                }
            }
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_become_as_large_as_time_allows() {
        let builds = IndexBuilds::default();
        assert_eq!([1, 16, 1_000].map(|indexes| builds.batch_documents(indexes)), [256, 16, 1]);
        (0..9).for_each(|_| builds.adapt(Duration::from_micros(300)));
        assert_eq!(builds.batch_documents(16), MOST_ENTRIES / 16);
        builds.adapt(Duration::from_millis(3));
        builds.adapt(Duration::from_millis(30));
        assert_eq!(builds.batch_documents(16), MOST_ENTRIES / 32);
        (0..9).for_each(|_| builds.adapt(Duration::from_secs(1)));
        assert_eq!(builds.batch_documents(16), FEWEST_ENTRIES / 16);
    }

    #[test]
    fn a_batch_is_bounded_in_bytes_and_never_empty() {
        let sizes =
            |sizes: &[i64]| -> Vec<_> { sizes.iter().enumerate().map(|(at, size)| (at.to_string(), *size)).collect() };
        assert_eq!(last_of_batch(&[]), None);
        assert_eq!(last_of_batch(&sizes(&[BATCH_BYTES + 1, 1])), Some("0"));
        assert_eq!(last_of_batch(&sizes(&[1, BATCH_BYTES, 1])), Some("0"));
        assert_eq!(last_of_batch(&sizes(&[1, BATCH_BYTES - 1, 1])), Some("1"));
        assert_eq!(last_of_batch(&sizes(&[1, 2, 3])), Some("2"));
    }
}
