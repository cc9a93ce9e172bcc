//! Builds indexes over the documents that are stored, some documents at a time.
//!
//! Whoever adds an index records in the same transaction that it is to be built. From then on every write of a document
//! keeps the index; a build adds the documents that were there before, in the order of their ids, each batch in a
//! transaction of a few milliseconds with the id up to which it came. A build that was interrupted, by a kill too, goes
//! on there, at any node.

use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hub_db::with_tenant;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::app::App;
use crate::background::when_due;
use crate::clock::Millis;
use crate::collections::index::{self, Entry};
use crate::collections::model::{CollectionDefinition, CollectionName, DocumentId, IndexDefinition};
use crate::collections::service::{Result, parse};
use crate::collections::store::builds::{self, IndexBuild};
use crate::collections::store::{self, DocumentRow};
use crate::values::NetworkId;

/// Bytes of documents that are read for one batch; one document may be larger.
const BATCH_BYTES: i64 = 128 * 1024;
/// Entries that are added by the first batch, and the fewest and the most of any.
const FIRST_ENTRIES: usize = 256;
const FEWEST_ENTRIES: usize = 128;
const MOST_ENTRIES: usize = 2_048;
/// How long a batch is to take, without its commit: on SQLite all writers wait for it.
const SHORT: Duration = Duration::from_millis(2);
const LONG: Duration = Duration::from_millis(5);
/// Collections that are built side by side, a batch of each in turn.
const COLLECTIONS_AT_ONCE: i64 = 100;
/// How often is looked for builds that nobody is at, as after another node was killed.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Wakes the background work, and finds out how much of it is done at once.
#[derive(Debug)]
pub(crate) struct IndexBuilds {
    wake: Notify,
    batch_entries: AtomicUsize,
}

impl Default for IndexBuilds {
    fn default() -> Self {
        Self { wake: Notify::new(), batch_entries: AtomicUsize::new(FIRST_ENTRIES) }
    }
}

impl IndexBuilds {
    /// There is something to build.
    pub(super) fn wake(&self) {
        self.wake.notify_one();
    }

    /// The documents of the next batch for that many indexes.
    fn batch_documents(&self, indexes: usize) -> usize {
        (self.batch_entries.load(Ordering::Relaxed) / indexes.max(1)).max(1)
    }

    /// Adapts the size of batches to how long a full one took: machines differ, and what else they do.
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

/// Builds what is to be built until the hub stops.
pub(super) fn start(app: &App) {
    when_due(app, POLL_INTERVAL, |app| &app.state::<IndexBuilds>().wake, "build the indexes of collections", build_all);
}

/// Builds all indexes; a later run is due when there are new ones alone.
async fn build_all(app: App) -> Result<Option<Millis>> {
    loop {
        let mut is_busy = false;
        for (network, collection) in builds::unfinished(&app.db, COLLECTIONS_AT_ONCE).await? {
            let batch = with_tenant(network.0, build_batch(&app, network, &collection)).await?;
            is_busy |= batch == Batch::Done;
        }
        // Where others are at all of them, they go on.
        if !is_busy {
            return Ok(None);
        }
    }
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Batch {
    /// It is done, and there may be more.
    Done,
    /// Somebody else is at it.
    Taken,
    /// The indexes are complete.
    Complete,
}

/// Adds the next documents to the unfinished indexes of a collection.
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

/// The id of the last document that belongs into the batch.
fn last_of_batch(sizes: &[(String, i64)]) -> Option<&str> {
    let mut bytes = 0;
    let within = sizes.iter().take_while(|(_, size)| {
        bytes += size;
        bytes <= BATCH_BYTES
    });
    let (id, _) = sizes.get(within.count().max(1) - 1)?;
    Some(id)
}

/// The documents' entries in the indexes to build. A text that is too long for its index is in none: it was stored before
/// the index was there.
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
