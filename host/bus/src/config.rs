use std::time::Duration;

/// Retention and lag limits of a [`Bus`](crate::Bus).
#[derive(Debug, Clone)]
pub struct BusConfig {
    /// Distinguishes this sequence from every earlier one; a new value whenever the sequence restarts.
    pub epoch: u64,
    /// How long an event can be resumed from.
    pub retention: Duration,
    /// How many of a network's newest events can be resumed from.
    pub retention_events: u64,
    /// Bytes of events retained for one network; beyond it the oldest are dropped early. Protects
    /// the process's memory from a network that floods its own stream with huge events.
    pub retention_bytes: u64,
    /// A reader with more unread events than this is disconnected. Events it requested by resuming
    /// do not count.
    pub max_lag_events: u64,
    /// A reader with more unread bytes than this is disconnected, as with `max_lag_events`.
    pub max_lag_bytes: u64,
}

impl BusConfig {
    /// Defaults: 2 minutes or 10,000 events, 64 MiB per network; 2,048 events or 4 MiB of lag.
    pub fn new(epoch: u64) -> Self {
        Self {
            epoch,
            retention: Duration::from_mins(2),
            retention_events: 10_000,
            retention_bytes: 64 << 20,
            max_lag_events: 2_048,
            max_lag_bytes: 4 << 20,
        }
    }

    pub(crate) fn retention_ms(&self) -> i64 {
        i64::try_from(self.retention.as_millis()).unwrap_or(i64::MAX)
    }
}
