//! The machine's clock, which must roughly agree with the database's: that one decides expiries for all nodes.
//!
//! Expiries decided by a node's own clock (world leases, transfers, punishments, presence) would be early or late for
//! everyone if that clock is wrong. So a node of a cluster follows the database's clock.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use anyhow::ensure;
use hub_db::{Backend, Db};
use jiff::Timestamp;

use crate::clock::{Clock, Millis, millis};
use crate::config::Settings;
use crate::timekeeping::Reading;

/// Maximum difference between the clocks of machine and database. Certificates and foreign signatures are checked by
/// the machine's.
const MAX_OFFSET: Duration = Duration::from_secs(1);
/// Number of consecutive readings that must show the difference, so that one step of the machine's clock moves no
/// shard.
const READINGS: u32 = 3;

/// Fails if this node's machine has a wrong clock.
pub async fn check_clock(settings: &Settings, clock: &Clock, db: &Db) -> anyhow::Result<()> {
    if settings.bus.is_none() || db.backend() == Backend::Sqlite || matches!(clock, Clock::Manual(_)) {
        return Ok(());
    }
    let mut best = Reading::take(db).await?;
    for _ in 1..READINGS {
        best = best.or_better(Reading::take(db).await?);
    }
    ensure!(
        !is_off(&best),
        "the machine's clock shows {}, the database's {}: they may differ by at most {} ms; set the clock (NTP) and \
         start again",
        shown(best.machine()),
        shown(best.database()),
        MAX_OFFSET.as_millis()
    );
    Ok(())
}

fn shown(at: Millis) -> String {
    Timestamp::from_millisecond(at).map_or_else(|_| at.to_string(), |at| at.to_string())
}

fn is_off(reading: &Reading) -> bool {
    reading.differs_by(millis(MAX_OFFSET))
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
    /// Checks the machine's clock.
    pub(super) fn observe(&self, reading: &Reading) {
        let before = self.off.load(Ordering::Relaxed);
        let off = if is_off(reading) { before.saturating_add(1) } else { 0 };
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
        Reading::of(machine, 1_000_000, uncertainty)
    }

    #[test]
    fn a_clock_is_off_when_it_certainly_is_and_stays_so() {
        let watch = ClockWatch::default();
        let is_off_after = |reading: Reading| {
            watch.observe(&reading);
            watch.is_off()
        };
        assert!(!is_off_after(reading(1_001_000, 0)) && !is_off_after(reading(1_002_000, 1_000)));
        for off in [998_998, 1_001_002] {
            assert!(!is_off_after(reading(off, 1)) && !is_off_after(reading(off, 1)) && is_off_after(reading(off, 1)));
            assert!(!is_off_after(reading(1_000_000, 1)), "it was set");
        }
    }
}
