//! Clocks of this node: the database's, which decides expiries, and the machine's, which must roughly agree with it.
//!
//! Expiries decided by a node's own clock (world leases, transfers, punishments, presence) would be early or late for
//! everyone if that clock is wrong. So a node of a cluster reads the database's clock every second and uses it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use anyhow::ensure;
use hub_db::{Backend, Db, Error};
use jiff::Timestamp;

use crate::clock::{Clock, DatabaseClock, Millis, Uptime, millis};
use crate::cluster::store;
use crate::config::Settings;

/// Maximum difference between the clocks of machine and database. Certificates and foreign signatures are checked by
/// the machine's.
const MAX_OFFSET: Duration = Duration::from_secs(1);
/// Number of consecutive readings that must show the difference, so that one step of the machine's clock moves no
/// shard.
const READINGS: u32 = 3;

/// Clock of this node: the database's in a cluster. Fails if the machine's is wrong.
pub async fn clock_of(settings: &Settings, clock: Clock, db: &Db) -> anyhow::Result<Clock> {
    if settings.bus.is_none() || db.backend() == Backend::Sqlite || !matches!(clock, Clock::System) {
        return Ok(clock);
    }
    let mut best = Reading::take(db).await?;
    for _ in 1..READINGS {
        let reading = Reading::take(db).await?;
        if reading.uncertainty < best.uncertainty {
            best = reading;
        }
    }
    ensure!(
        !best.is_off(),
        "the machine's clock shows {}, the database's {}: they may differ by at most {} ms; set the clock (NTP) and \
         start again",
        shown(best.machine),
        shown(best.database),
        MAX_OFFSET.as_millis()
    );
    Ok(Clock::Database(DatabaseClock::new(best.database, best.at)))
}

/// Time by which the machine's clock is ahead of the database's, in milliseconds.
pub async fn clock_offset(db: &Db) -> Result<Millis, Error> {
    let reading = Reading::take(db).await?;
    Ok(reading.machine.saturating_sub(reading.database))
}

fn shown(at: Millis) -> String {
    Timestamp::from_millisecond(at).map_or_else(|_| at.to_string(), |at| at.to_string())
}

/// Both clocks at one moment.
pub(super) struct Reading {
    database: Millis,
    machine: Millis,
    at: Uptime,
    /// Maximum time between that moment and the database's reading of its clock.
    uncertainty: Millis,
}

impl Reading {
    pub(super) async fn take(db: &Db) -> Result<Self, Error> {
        let (asked_at, machine) = (Uptime::now(), Clock::System.now());
        let database = store::clock(db).await?;
        let half = asked_at.elapsed() / 2;
        let uncertainty = millis(half).saturating_add(1);
        Ok(Self { database, machine: machine.saturating_add(millis(half)), at: asked_at + half, uncertainty })
    }

    /// Time by which the machine's clock is ahead.
    fn offset(&self) -> Millis {
        self.machine.saturating_sub(self.database)
    }

    fn is_off(&self) -> bool {
        self.offset().saturating_abs().saturating_sub(self.uncertainty) > millis(MAX_OFFSET)
    }
}

/// State of the machine's clock.
#[derive(Default)]
pub(super) struct ClockWatch {
    /// Number of consecutive readings that showed a wrong clock.
    off: AtomicU32,
    /// True if nodes with a correct clock should own this node's shards.
    pub(super) is_outvoted: AtomicBool,
}

impl ClockWatch {
    /// Corrects the node's clock by a reading, and checks the machine's.
    pub(super) fn observe(&self, clock: &Clock, reading: &Reading) {
        if let Clock::Database(clock) = clock {
            clock.correct(reading.database, reading.at, reading.uncertainty);
        }
        let before = self.off.load(Ordering::Relaxed);
        let off = if reading.is_off() { before.saturating_add(1) } else { 0 };
        self.off.store(off, Ordering::Relaxed);
        if off == READINGS {
            tracing::warn!(
                "the machine's clock differs from the database's by {} ms; this node's networks move to nodes with a \
                 correct clock",
                reading.offset()
            );
        } else if off == 0 && before >= READINGS {
            tracing::info!("the machine's clock agrees with the database's again");
        }
    }

    pub(super) fn is_off(&self) -> bool {
        self.off.load(Ordering::Relaxed) >= READINGS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(machine: Millis, uncertainty: Millis) -> Reading {
        Reading { database: 1_000_000, machine, at: Uptime::now(), uncertainty }
    }

    #[test]
    fn a_clock_is_off_when_it_certainly_is_and_stays_so() {
        let watch = ClockWatch::default();
        let is_off_after = |reading: Reading| {
            watch.observe(&Clock::System, &reading);
            watch.is_off()
        };
        assert!(!is_off_after(reading(1_001_000, 0)) && !is_off_after(reading(1_002_000, 1_000)));
        for off in [998_998, 1_001_002] {
            assert!(!is_off_after(reading(off, 1)) && !is_off_after(reading(off, 1)) && is_off_after(reading(off, 1)));
            assert!(!is_off_after(reading(1_000_000, 1)), "it was set");
        }
    }
}
