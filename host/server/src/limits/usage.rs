//! What networks store, and whether their plans allow more.
//!
//! The database counts (see the migration `0026_plans`), so that a count is as true as the rows. A write asks for the
//! count only where the last one, with all that was added here since, does not leave enough room: writes that replace
//! what is there make that estimate too high, never too low. Other nodes' writes show after a second; what is written at
//! the same moment may take a network over its plan by as much.

use parking_lot::Mutex;

use crate::app::App;
use crate::clock::Millis;
use crate::http::error::ApiError;
use crate::limits::plan::Plan;
use crate::limits::{Limit, QuotaExceeded, check_value, store};
use crate::values::NetworkId;

/// How long a count holds.
const TTL: Millis = 1_000;
/// What a row counts beside its texts, as in the triggers.
const ROW_BYTES: usize = 64;

/// What a network stores, or what a write adds to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    /// Documents of collections.
    pub(crate) documents: i64,
    /// Bytes of rows.
    pub(crate) storage_bytes: i64,
    /// Bytes of files.
    pub(crate) file_bytes: i64,
}

impl Usage {
    /// A row with texts of so many bytes.
    pub(crate) fn row(texts: &[&str]) -> Self {
        let bytes = ROW_BYTES + texts.iter().map(|text| text.len()).sum::<usize>();
        Self { storage_bytes: i64::try_from(bytes).unwrap_or(i64::MAX), ..Self::default() }
    }

    /// A file.
    pub(crate) fn file(bytes: i64) -> Self {
        Self { file_bytes: bytes, ..Self::default() }
    }

    fn of(&self, limit: Limit) -> i64 {
        match limit {
            Limit::Documents => self.documents,
            Limit::StorageBytes => self.storage_bytes,
            Limit::FileBytes => self.file_bytes,
            _ => 0,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            documents: self.documents.saturating_add(other.documents),
            storage_bytes: self.storage_bytes.saturating_add(other.storage_bytes),
            file_bytes: self.file_bytes.saturating_add(other.file_bytes),
        }
    }

    fn minus(self, other: Self) -> Self {
        let negative =
            Self { documents: -other.documents, storage_bytes: -other.storage_bytes, file_bytes: -other.file_bytes };
        self.plus(negative)
    }
}

/// What usage is limited in.
const COUNTED: [Limit; 3] = [Limit::Documents, Limit::StorageBytes, Limit::FileBytes];

/// The last count of a network, and what was added since.
#[derive(Debug, Default)]
pub(super) struct MeasuredUsage(Mutex<Option<(Millis, Usage)>>);

impl MeasuredUsage {
    /// Adds to the estimate; false where it is too old, or leaves no room.
    fn add(&self, plan: &Plan, added: Usage, now: Millis) -> bool {
        let mut measured = self.0.lock();
        let Some((at, used)) = measured.as_mut().filter(|(at, _)| (0..TTL).contains(&now.saturating_sub(*at))) else {
            return false;
        };
        let after = used.plus(added);
        let fits = |limit: &Limit| plan.quota(*limit).is_none_or(|quota| after.of(*limit) <= quota);
        if !COUNTED.iter().all(fits) {
            return false;
        }
        *measured = Some((*at, after));
        true
    }

    fn set(&self, used: Usage, now: Millis) {
        *self.0.lock() = Some((now, used));
    }
}

/// Why a write is refused.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// The plan allows no more.
    #[error(transparent)]
    Exceeded(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<LimitError> for ApiError {
    fn from(error: LimitError) -> Self {
        match error {
            LimitError::Exceeded(exceeded) => exceeded.into(),
            LimitError::Database(error) => error.into(),
        }
    }
}

/// What a network stores now.
pub(crate) async fn usage(app: &App, network: NetworkId) -> Result<Usage, hub_db::Error> {
    let (counted, modules) = tokio::try_join!(
        store::counted_usage(&app.db, network),
        store::module_store_bytes(&app.module_store, network)
    )?;
    Ok(Usage { storage_bytes: counted.storage_bytes.saturating_add(modules), ..counted })
}

/// Refuses to store `added` where the network's plan allows no more. `replaced` is asked for what goes in exchange, only
/// where that matters: a write that makes nothing larger is never refused.
pub(crate) async fn check_stored(
    app: &App,
    network: NetworkId,
    added: Usage,
    replaced: impl Future<Output = Result<Usage, hub_db::Error>> + Send,
) -> Result<(), LimitError> {
    let state = app.limits.current(app, network).await?;
    let plan = state.plan();
    let is_limited = |limit: &Limit| added.of(*limit) > 0 && plan.quota(*limit).is_some();
    if !COUNTED.iter().any(is_limited) || state.usage.add(&plan, added, app.clock.now()) {
        return Ok(());
    }
    let more = added.minus(replaced.await?);
    let used = usage(app, network).await?;
    for limit in COUNTED.into_iter().filter(|limit| more.of(*limit) > 0) {
        if let Some(quota) = plan.quota(limit) {
            check_value(limit, quota, used.of(limit).max(0), more.of(limit))?;
        }
    }
    state.usage.set(used.plus(more), app.clock.now());
    Ok(())
}
