//! Bound of the events that wait for a network's handlers.

use hub_db::{Error, Tx};

use crate::modules::handlers::store::queue;
use crate::values::NetworkId;

/// Maximum size of the queued events of a network, in bytes.
pub(super) const MAX_BYTES: i64 = 256 * 1024 * 1024;

/// Queued events of a network, as known at its owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Backlog {
    pub(super) rows: i64,
    pub(super) bytes: i64,
}

impl Backlog {
    pub(super) async fn read(tx: &mut Tx, network: NetworkId) -> Result<Self, Error> {
        let (rows, bytes) = queue::backlog(tx, network).await?;
        Ok(Self { rows, bytes })
    }

    /// True if no further event fits into the bounds.
    pub(super) fn is_full(&self, max_rows: i64) -> bool {
        self.rows >= max_rows || self.bytes >= MAX_BYTES
    }
}
