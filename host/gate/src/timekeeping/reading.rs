//! Readings of the clocks around the hub.

use hub_db::{Db, Error};

use crate::clock::{Clock, Millis, Uptime, millis};
use crate::timekeeping::store;

/// The clocks of machine and database at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    pub(super) database: Millis,
    pub(super) machine: Millis,
    pub(super) at: Uptime,
    /// Maximum time between that moment and the database's reading of its clock.
    pub(super) uncertainty: Millis,
}

impl Reading {
    /// Reads both. On SQLite the database has no clock but the machine's.
    pub async fn take(db: &Db) -> Result<Self, Error> {
        let (asked_at, machine) = (Uptime::now(), Clock::System.now());
        let Some(database) = store::clock(db).await? else {
            return Ok(Self { database: machine, machine, at: asked_at, uncertainty: 1 });
        };
        let half = asked_at.elapsed() / 2;
        let uncertainty = millis(half).saturating_add(1);
        Ok(Self { database, machine: machine.saturating_add(millis(half)), at: asked_at + half, uncertainty })
    }

    /// Time by which the machine's clock is ahead of the database's.
    pub fn offset(&self) -> Millis {
        self.machine.saturating_sub(self.database)
    }

    /// True if the clocks certainly differ by more than `most`.
    pub fn differs_by(&self, most: Millis) -> bool {
        self.offset().saturating_abs().saturating_sub(self.uncertainty) > most
    }

    /// The time of the machine, for a message.
    pub fn machine(&self) -> Millis {
        self.machine
    }

    /// The time of the database, for a message.
    pub fn database(&self) -> Millis {
        self.database
    }

    /// The better one of two readings.
    #[must_use]
    pub fn or_better(self, other: Self) -> Self {
        if other.uncertainty < self.uncertainty { other } else { self }
    }

    /// A reading for tests.
    #[cfg(test)]
    pub(crate) fn of(machine: Millis, database: Millis, uncertainty: Millis) -> Self {
        Self { database, machine, at: Uptime::now(), uncertainty }
    }
}

/// Time by which the machine's clock is ahead of the database's, in milliseconds.
pub async fn clock_offset(db: &Db) -> Result<Millis, Error> {
    Ok(Reading::take(db).await?.offset())
}
