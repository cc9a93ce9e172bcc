//! Terms of rows: times of day at which they end, unless they are renewed before.

mod store;

use std::time::Duration;

use hub_db::Sql;

use crate::config::Settings;

pub use store::renew_term;

/// Rows that end at a time of day unless they are renewed. A clock that is set would end them at once, or leave them for
/// too long: each then gets a full term by the new time.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// Statement of [`renew_term`].
    pub renew: Sql,
    /// Longest time from now to an end.
    pub length: fn(&Settings) -> Duration,
    /// Time from the stored time to the end, where the last sign of life is stored.
    pub age: fn(&Settings) -> Duration,
}

impl Term {
    /// Rows whose ends are stored.
    pub const fn new(renew: Sql, length: fn(&Settings) -> Duration) -> Self {
        Self { renew, length, age: |_| Duration::ZERO }
    }
}
