use std::time::Duration;

/// Retention and lag limits of a [`Bus`](crate::Bus).
#[derive(Debug, Clone)]
pub struct BusConfig {
    /// Distinguishes this sequence from every earlier one; a new value at each restart of the sequence.
    pub epoch: u64,
    /// Time for which a stream can be resumed after an event.
    pub retention: Duration,
    /// Number of a network's newest events that are kept for resuming.
    pub retention_events: u64,
    /// Maximum bytes of events retained for one network; beyond it the oldest are dropped early. Protects the process's
    /// memory from a network that floods its own stream with huge events.
    pub retention_bytes: u64,
    /// Maximum number of unread events of a reader; beyond it, it is disconnected. Events it requested by resuming do
    /// not count.
    pub max_lag_events: u64,
    /// Maximum bytes of unread events of a reader, with the same effect as `max_lag_events`.
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
