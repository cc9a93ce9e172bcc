//! The hub's time: a server's own clock may be wrong by more than a command is good for.

use std::collections::VecDeque;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

const KEPT: usize = 4;

/// Learns from the hub's pings.
#[derive(Debug, Default)]
pub(super) struct HubClock {
    offsets: Mutex<VecDeque<i64>>,
}

impl HubClock {
    /// A ping that was sent at this time came just now.
    pub(super) fn ping(&self, sent_at: i64) {
        let mut offsets = self.offsets.lock();
        offsets.push_back(sent_at - local_now());
        if offsets.len() > KEPT {
            offsets.pop_front();
        }
    }

    /// Milliseconds since the epoch. The least delayed ping is the most exact.
    pub(super) fn now(&self) -> i64 {
        local_now() + self.offsets.lock().iter().max().copied().unwrap_or(0)
    }
}

/// Milliseconds since the epoch by this machine's clock.
#[allow(clippy::disallowed_methods, reason = "a client has no clock to be moved")]
fn local_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
