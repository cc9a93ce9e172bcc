//! Measures the storage of networks; the highest value of an hour counts.

use hub_db::Error;

use crate::app::App;
use crate::clock::Millis;
use crate::limits::{self, StorageCounts};
use crate::metering::hour_of;
use crate::metering::store::{self, Stored};
use crate::values::NetworkId;

/// Networks read and written at once.
const BATCH: i64 = 500;

/// Measures the storage of all networks at `now`.
pub(super) async fn note_all(app: &App, now: Millis) -> Result<(), Error> {
    let mut last = NetworkId(uuid::Uuid::nil());
    loop {
        let counted = limits::storage_counts(app, last, BATCH).await?;
        let Some((network, _)) = counted.last() else { return Ok(()) };
        last = *network;
        let stored: Vec<_> = counted.into_iter().map(|(network, counts)| (network, stored(counts))).collect();
        let stored: Vec<_> = stored.into_iter().filter(|(_, stored)| !stored.is_empty()).collect();
        store::note_stored(&app.db, &stored, hour_of(now)).await?;
    }
}

/// Measures the storage of one network at `now`.
pub(super) async fn note(app: &App, network: NetworkId, now: Millis) -> Result<(), Error> {
    let stored = stored(limits::storage_counts_of(app, network).await?);
    if stored.is_empty() {
        return Ok(());
    }
    store::note_stored(&app.db, &[(network, stored)], hour_of(now)).await
}

/// Counts of triggers may be negative until the rows older than the triggers are counted.
fn stored(counts: StorageCounts) -> Stored {
    let module_store_bytes = counts.module_store_bytes.max(0);
    Stored {
        documents: counts.documents.max(0),
        storage_bytes: counts.row_bytes.max(0).saturating_add(module_store_bytes),
        module_store_bytes,
        file_bytes: counts.file_bytes.max(0),
    }
}
