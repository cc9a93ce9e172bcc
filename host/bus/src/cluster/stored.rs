//! Stored bytes of each network's events in the stream, counted by this node's own publications.

use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tokio::time::Instant;

/// The headers and the record of an event.
const OVERHEAD: u64 = 256;

/// The stored events of all networks.
#[derive(Default)]
pub(super) struct StoredEvents(Mutex<HashMap<u128, NetworkEvents>>);

#[derive(Default)]
struct NetworkEvents {
    events: VecDeque<StoredEvent>,
    bytes: u64,
}

struct StoredEvent {
    sequence: u64,
    bytes: u64,
    at: Instant,
}

impl NetworkEvents {
    fn drop_while(&mut self, drops: impl Fn(&StoredEvent, u64) -> bool) -> Option<u64> {
        let mut dropped = None;
        while let Some(event) = self.events.front().filter(|event| drops(event, self.bytes)) {
            (dropped, self.bytes) = (Some(event.sequence), self.bytes - event.bytes);
            self.events.pop_front();
        }
        dropped
    }
}

impl StoredEvents {
    /// Adds an event. If a network exceeds `most` bytes, returns the number up to which to drop its events.
    pub(super) fn add(&self, network: u128, sequence: u64, bytes: usize, most: u64) -> Option<u64> {
        let bytes = bytes as u64 + OVERHEAD;
        let mut networks = self.0.lock();
        let stored = networks.entry(network).or_default();
        stored.bytes += bytes;
        stored.events.push_back(StoredEvent { sequence, bytes, at: Instant::now() });
        if stored.bytes <= most { None } else { stored.drop_while(|_, bytes| bytes > most / 2) }
    }

    /// Forgets events that have left the stream by their age or their number.
    pub(super) fn expire(&self, retention: Duration, most_events: u64) {
        let now = Instant::now();
        self.0.lock().retain(|_, stored| {
            let excess = (stored.events.len() as u64).saturating_sub(most_events);
            for event in stored.events.drain(..usize::try_from(excess).unwrap_or(0)) {
                stored.bytes -= event.bytes;
            }
            stored.drop_while(|event, _| now - event.at >= retention);
            !stored.events.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_older_half_of_too_many_bytes_is_to_be_dropped() {
        let (stored, kib) = (StoredEvents::default(), 1024 - OVERHEAD as usize);
        for sequence in 1..=8 {
            assert_eq!(stored.add(1, 10 * sequence, kib, 8 * 1024), None);
            assert_eq!(stored.add(2, 10 * sequence + 1, 0, 8 * 1024), None);
        }
        assert_eq!(stored.add(1, 90, kib, 8 * 1024), Some(50));
        assert_eq!(stored.add(1, 100, kib, 8 * 1024), None);
        stored.expire(Duration::from_secs(120), 2);
        tokio::time::advance(Duration::from_secs(60)).await;
        for sequence in 11..=16 {
            assert_eq!(stored.add(1, 10 * sequence, kib, 8 * 1024), None, "two were left");
        }
        tokio::time::advance(Duration::from_secs(60)).await;
        stored.expire(Duration::from_secs(120), 100);
        assert_eq!(stored.add(1, 170, kib, 7 * 1024), None, "the older ones have expired");
        assert_eq!(stored.add(1, 180, kib, 7 * 1024), Some(150));
        tokio::time::advance(Duration::from_secs(120)).await;
        stored.expire(Duration::from_secs(120), 100);
        assert!(stored.0.lock().is_empty());
    }
}
