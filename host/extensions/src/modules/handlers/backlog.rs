//! Bound of the events that wait for a network's handlers.

use std::time::Duration;

use hub_db::{Error, Tx};

use crate::clock::{Clock, Moment};
use crate::modules::handlers::store::queue;
use crate::values::NetworkId;

/// Maximum size of the queued events of a network, in bytes.
pub(super) const MAX_BYTES: i64 = 256 * 1024 * 1024;

/// Time for which a full backlog is not counted again, which reads it as a whole.
const COUNT_INTERVAL: Duration = Duration::from_secs(5);

/// Queued events of a network, as known at its owner.
#[derive(Clone, Debug)]
pub(super) struct Backlog {
    pub(super) rows: i64,
    pub(super) bytes: i64,
    /// Time of the count.
    counted_at: Moment,
    /// Module with the most events, looked up once after each count.
    pub(super) fullest: Option<String>,
}

impl Backlog {
    pub(super) async fn read(clock: &Clock, tx: &mut Tx, network: NetworkId) -> Result<Self, Error> {
        let (rows, bytes) = queue::backlog(tx, network).await?;
        Ok(Self { rows, bytes, counted_at: clock.moment(), fullest: None })
    }

    /// True if it may be counted again.
    pub(super) fn is_old(&self, clock: &Clock) -> bool {
        clock.moment().saturating_since(self.counted_at) >= COUNT_INTERVAL
    }

    /// True if no further event fits into the bounds.
    pub(super) fn is_full(&self, max_rows: i64) -> bool {
        self.rows >= max_rows || self.bytes >= MAX_BYTES
    }
}
