//! Latest calls of the extension points, kept in this node's memory for listing and replay.
//!
//! Per point and network the latest calls are kept, and apart from them the latest failed ones, so that a busy point
//! does not evict them. Frequent calls are sampled, so that the records cover more than the last moment. Bounded per
//! point and in total: the longest idle points are evicted first.
//! Calls become JSON only when they are read.

mod record;
mod ring;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use hub_sandbox::contract::Point;
use parking_lot::{Mutex, RwLock};

pub(super) use record::{Record, RecordedStep};
pub(super) use ring::MAX_CALLS;

use crate::clock::Millis;
use crate::modules::records::ring::PointRecords;
use crate::values::NetworkId;

type PointKey = (NetworkId, Point);

/// Recorded calls of all networks.
pub(super) struct Records {
    points: RwLock<HashMap<PointKey, Arc<PointEntry>>>,
    bytes: AtomicUsize,
    max_bytes: usize,
}

#[derive(Default)]
struct PointEntry {
    records: Mutex<PointRecords>,
    used_at: AtomicI64,
}

impl Records {
    /// Records of up to so many bytes; 0 disables them.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { points: RwLock::default(), bytes: AtomicUsize::new(0), max_bytes }
    }

    fn find_entry(&self, key: PointKey) -> Option<Arc<PointEntry>> {
        self.points.read().get(&key).cloned()
    }

    fn entry(&self, key: PointKey) -> Arc<PointEntry> {
        self.find_entry(key).unwrap_or_else(|| Arc::clone(self.points.write().entry(key).or_default()))
    }

    /// Records a call.
    pub(super) fn add(&self, network: NetworkId, record: Record, now: Millis) {
        if self.max_bytes == 0 {
            return;
        }
        let key = (network, record.point());
        let entry = self.entry(key);
        entry.used_at.store(now, Ordering::Relaxed);
        let (before, after, dropped) = entry.records.lock().add(Arc::new(record));
        // Freed outside the lock.
        drop(dropped);
        self.bytes.fetch_add(after, Ordering::Relaxed);
        let all = self.bytes.fetch_sub(before, Ordering::Relaxed).wrapping_sub(before);
        if all > self.max_bytes {
            self.evict(key);
        }
    }

    /// True if a successful call is to be recorded: all while they are few, else a sample.
    pub(super) fn take_sample(&self, network: NetworkId, point: Point, now: Millis) -> bool {
        self.max_bytes > 0 && self.entry((network, point)).records.lock().take_sample(now)
    }

    /// Drops the calls of a network.
    pub(super) fn forget(&self, network: NetworkId) {
        let mut points = self.points.write();
        for (_, entry) in points.extract_if(|key, _| key.0 == network) {
            self.bytes.fetch_sub(entry.records.lock().close(), Ordering::Relaxed);
        }
    }

    /// Drops the calls of a network that contain a searched text.
    pub(super) fn forget_texts(&self, network: NetworkId, is_looked_for: &dyn Fn(&str) -> bool) {
        let entries: Vec<_> = {
            let points = self.points.read();
            points.iter().filter(|(key, _)| key.0 == network).map(|(_, entry)| Arc::clone(entry)).collect()
        };
        for entry in entries {
            let (before, after) = entry.records.lock().retain(&|record| !is_looked_for(&record.texts()));
            self.bytes.fetch_sub(before - after, Ordering::Relaxed);
        }
    }

    /// Drops the calls of the longest idle points: somewhat more than needed, so that evictions are rare.
    fn evict(&self, current: PointKey) {
        let mut points = self.points.write();
        let mut oldest: Vec<_> =
            points.iter().map(|(key, entry)| (entry.used_at.load(Ordering::Relaxed), *key)).collect();
        oldest.sort_unstable_by_key(|(used_at, (network, point))| (*used_at, network.0, *point));
        for (_, key) in oldest {
            if self.bytes.load(Ordering::Relaxed) <= self.max_bytes - self.max_bytes / 16 {
                return;
            }
            if key != current
                && let Some(entry) = points.remove(&key)
            {
                self.bytes.fetch_sub(entry.records.lock().close(), Ordering::Relaxed);
            }
        }
    }

    /// Recorded calls of a point, newest first.
    pub(super) fn all(&self, network: NetworkId, point: Point) -> Vec<Arc<Record>> {
        self.find_entry((network, point)).map(|entry| entry.records.lock().all()).unwrap_or_default()
    }

    /// The newest calls of a point, newest first, without the older failed ones.
    pub(super) fn newest(&self, network: NetworkId, point: Point, limit: usize) -> Vec<Arc<Record>> {
        self.find_entry((network, point)).map(|entry| entry.records.lock().newest(limit)).unwrap_or_default()
    }

    /// One call of a point.
    pub(super) fn find(&self, network: NetworkId, point: Point, call_id: &str) -> Option<Arc<Record>> {
        self.all(network, point).into_iter().find(|record| record.call.call_id == call_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hub_sandbox::{AnyInput, Call};
    use serde_json::json;

    fn record(number: usize, message: &str) -> Record {
        let line = json!({
            "player": {"uuid": "u", "name": "n"}, "message": message, "serverId": "s", "serverType": "t",
        });
        let call = Call { call_id: number.to_string(), network_id: "n".into(), now_ms: 1, seed: 2 };
        Record::new(call, AnyInput::parse(Point::Chat, line).unwrap(), None, vec![])
    }

    fn network(number: u128) -> NetworkId {
        NetworkId(uuid::Uuid::from_u128(number))
    }

    fn ids(records: &[Arc<Record>]) -> Vec<usize> {
        records.iter().map(|record| record.call.call_id.parse().unwrap()).collect()
    }

    #[test]
    fn the_latest_calls_are_kept() {
        let records = Records::new(64 << 20);
        for number in 0..MAX_CALLS + 5 {
            records.add(network(1), record(number, "hi"), 1);
        }
        let all = ids(&records.all(network(1), Point::Chat));
        assert_eq!((all.len(), all[0], all[MAX_CALLS - 1]), (MAX_CALLS, MAX_CALLS + 4, 5));
        assert_eq!(ids(&records.newest(network(1), Point::Chat, 2)), [MAX_CALLS + 4, MAX_CALLS + 3]);
        assert!(records.find(network(1), Point::Chat, "4").is_none());
        assert!(records.find(network(1), Point::Chat, "5").is_some());
        assert!(
            records.all(network(2), Point::Chat).is_empty() && records.all(network(1), Point::Punishment).is_empty()
        );
    }

    #[test]
    fn large_calls_are_fewer() {
        let records = Records::new(64 << 20);
        for number in 0..100 {
            records.add(network(1), record(number, &"x".repeat(100_000)), 1);
        }
        let all = records.all(network(1), Point::Chat);
        assert!((20..45).contains(&all.len()), "{}", all.len());
        assert!(records.bytes.load(Ordering::Relaxed) <= 4 << 20);
    }

    #[test]
    fn the_networks_that_were_idle_longest_are_evicted() {
        let records = Records::new(1 << 20);
        for number in 1..=30 {
            let now = i64::try_from(number).unwrap();
            records.add(network(number), record(0, &"x".repeat(50_000)), now);
            assert!(records.bytes.load(Ordering::Relaxed) <= 1 << 20);
        }
        assert!(records.all(network(1), Point::Chat).is_empty());
        assert_eq!(records.all(network(30), Point::Chat).len(), 1);
        assert_eq!(records.all(network(25), Point::Chat).len(), 1);
        // The count matches the records.
        let kept: usize = records.points.read().values().map(|entry| entry.records.lock().close()).sum();
        assert_eq!(kept, records.bytes.load(Ordering::Relaxed));
        let none = Records::new(0);
        none.add(network(1), record(0, "hi"), 1);
        assert!(none.all(network(1), Point::Chat).is_empty() && !none.take_sample(network(1), Point::Chat, 1));
    }

    #[test]
    fn frequent_calls_are_sampled() {
        let records = Records::new(1 << 20);
        let sampled = |now| (0..2000).filter(|_| records.take_sample(network(1), Point::Matchmaking, now)).count();
        assert_eq!(sampled(0), 1000);
        assert_eq!(sampled(20), 1);
        assert_eq!(sampled(1_020), 50);
        assert_eq!(sampled(i64::MAX), 1000);
    }
}
