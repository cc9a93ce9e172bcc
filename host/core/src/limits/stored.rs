//! Size of networks' rows, and checks against their limits.
//!
//! The database counts (see the triggers of its schema), so that the count is as true as the rows. A write asks for the
//! the last one, plus all that was added here since, leaves no room: replacing writes make that estimate too high,
//! never too low. Other nodes' writes appear after a while; concurrent writes may exceed a network's limit by their
//! size.

use parking_lot::Mutex;

use crate::app::App;
use crate::clock::Millis;
use crate::limits::plan_store::{self, StorageCounts};
use crate::limits::{Limit, Limits, NetworkLimits, QuotaExceeded};
use crate::values::NetworkId;

/// Validity of a count near the limit, and below half of it.
const TTL: Millis = 1_000;
const TTL_WITH_ROOM: Millis = 60_000;
/// Size of a row besides its texts, same as in the triggers.
const ROW_BYTES: usize = 64;

/// Size of a row with these texts.
pub fn row_bytes(texts: &[&str]) -> i64 {
    let bytes = ROW_BYTES + texts.iter().map(|text| text.len()).sum::<usize>();
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// Last count of a network, and bytes added since.
#[derive(Debug, Default)]
pub(super) struct StoredEstimate(Mutex<Option<Estimate>>);

#[derive(Clone, Copy, Debug)]
struct Estimate {
    counted_at: Millis,
    bytes: i64,
}

impl StoredEstimate {
    /// Adds to the estimate; false if it is too old or leaves no room.
    fn add(&self, value: i64, bytes: i64, now: Millis) -> bool {
        let mut estimate = self.0.lock();
        let Some(current) = estimate.as_mut() else { return false };
        let after = current.bytes.saturating_add(bytes);
        let ttl = if after < value / 2 { TTL_WITH_ROOM } else { TTL };
        let fits = after <= value && (0..ttl).contains(&now.saturating_sub(current.counted_at));
        if fits {
            current.bytes = after;
        }
        fits
    }

    fn set(&self, bytes: i64, counted_at: Millis) {
        *self.0.lock() = Some(Estimate { counted_at, bytes });
    }
}

/// Bytes currently stored by a network.
async fn stored_bytes(app: &App, network: NetworkId) -> Result<i64, hub_db::Error> {
    let (counted, modules) = tokio::try_join!(
        plan_store::counted_bytes(&app.db, network),
        plan_store::module_store_bytes(&app.module_store, network)
    )?;
    Ok(counted.saturating_add(modules).max(0))
}

/// Storage of the networks after `after`, ordered by id.
pub async fn storage_counts(
    app: &App,
    after: NetworkId,
    most: i64,
) -> Result<Vec<(NetworkId, StorageCounts)>, hub_db::Error> {
    plan_store::storage_counts(&app.db, &app.module_store, after, most).await
}

/// Storage of a network.
pub async fn storage_counts_of(app: &App, network: NetworkId) -> Result<StorageCounts, hub_db::Error> {
    plan_store::storage_counts_of(&app.db, &app.module_store, network).await
}

/// Refuses to store `bytes` beyond the network's limits. `replaced` returns the size of replaced data, and is called
/// only if that matters: a write that increases nothing is never refused.
pub async fn check_storage<E>(
    app: &App,
    network: NetworkId,
    bytes: i64,
    replaced: impl Future<Output = Result<i64, hub_db::Error>> + Send,
) -> Result<(), E>
where
    E: From<QuotaExceeded> + From<hub_db::Error>,
{
    let state = app.state::<Limits>().current(app, network).await?;
    let limits = NetworkLimits::new(app, state.plan());
    let now = app.clock.now();
    if state.stored.add(limits.value(Limit::StorageBytes), bytes, now) {
        return Ok(());
    }
    let more = bytes.saturating_sub(replaced.await?);
    let used = stored_bytes(app, network).await?;
    if more > 0 {
        limits.check(Limit::StorageBytes, used, more)?;
    }
    state.stored.set(used.saturating_add(more), now);
    Ok(())
}
