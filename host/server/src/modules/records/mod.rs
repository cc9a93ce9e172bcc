//! The latest calls of the extension points, kept in this node's memory: to look at, and to try modules on.
//!
//! Of each point of each network the latest calls are kept, and apart from them the latest that failed, so that a busy
//! point does not push out what its owner looks for. Bounded for each, and over all: the networks that were quiet
//! longest give way. Nothing is turned into text before somebody asks.

mod kept;
mod record;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use hub_sandbox::contract::Point;
use parking_lot::{Mutex, RwLock};

pub(super) use kept::CALLS;
pub(super) use record::{Record, RecordedStep, result};

use crate::clock::Millis;
use crate::modules::records::kept::Kept;
use crate::values::NetworkId;

type Place = (NetworkId, Point);

/// The calls of all networks.
pub(super) struct Records {
    places: RwLock<HashMap<Place, Arc<PlaceRecords>>>,
    bytes: AtomicUsize,
    most_bytes: usize,
}

#[derive(Default)]
struct PlaceRecords {
    kept: Mutex<Kept>,
    used_at: AtomicI64,
}

impl Records {
    /// With room for so many bytes; none keeps nothing.
    pub(super) fn new(most_bytes: usize) -> Self {
        Self { places: RwLock::default(), bytes: AtomicUsize::new(0), most_bytes }
    }

    fn known(&self, place: Place) -> Option<Arc<PlaceRecords>> {
        self.places.read().get(&place).cloned()
    }

    fn of(&self, place: Place) -> Arc<PlaceRecords> {
        self.known(place).unwrap_or_else(|| Arc::clone(self.places.write().entry(place).or_default()))
    }

    /// Keeps a call.
    pub(super) fn note(&self, network: NetworkId, record: Record, now: Millis) {
        if self.most_bytes == 0 {
            return;
        }
        let place = (network, record.point());
        let of = self.of(place);
        of.used_at.store(now, Ordering::Relaxed);
        let (before, after, dropped) = of.kept.lock().add(Arc::new(record));
        // Here, where nobody waits for the lock.
        drop(dropped);
        self.bytes.fetch_add(after, Ordering::Relaxed);
        let all = self.bytes.fetch_sub(before, Ordering::Relaxed).wrapping_sub(before);
        if all > self.most_bytes {
            self.make_room(place);
        }
    }

    /// Whether to keep a call that would have to be written down first: all while they are few, else some of them.
    pub(super) fn samples(&self, network: NetworkId, point: Point, now: Millis) -> bool {
        self.most_bytes > 0 && self.of((network, point)).kept.lock().samples(now)
    }

    /// Forgets the calls of those who were quiet longest, somewhat more than needed, so that it is not needed each time.
    fn make_room(&self, current: Place) {
        let mut places = self.places.write();
        let mut oldest: Vec<_> =
            places.iter().map(|(place, of)| (of.used_at.load(Ordering::Relaxed), *place)).collect();
        oldest.sort_unstable_by_key(|(used_at, (network, point))| (*used_at, network.0, *point));
        for (_, place) in oldest {
            if self.bytes.load(Ordering::Relaxed) <= self.most_bytes - self.most_bytes / 16 {
                return;
            }
            if place != current
                && let Some(of) = places.remove(&place)
            {
                self.bytes.fetch_sub(of.kept.lock().end(), Ordering::Relaxed);
            }
        }
    }

    /// The calls of a point that are kept, the newest first.
    pub(super) fn all(&self, network: NetworkId, point: Point) -> Vec<Arc<Record>> {
        self.known((network, point)).map(|of| of.kept.lock().all()).unwrap_or_default()
    }

    /// The newest calls of a point, the newest first; without those that are kept only because they failed.
    pub(super) fn newest(&self, network: NetworkId, point: Point, most: usize) -> Vec<Arc<Record>> {
        self.known((network, point)).map(|of| of.kept.lock().newest(most)).unwrap_or_default()
    }

    /// One call of a point.
    pub(super) fn find(&self, network: NetworkId, point: Point, call_id: &str) -> Option<Arc<Record>> {
        self.all(network, point).into_iter().find(|record| record.call.call_id == call_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hub_sandbox::Call;
    use hub_sandbox::case::Input;
    use serde_json::json;

    fn record(number: usize, message: &str) -> Record {
        let line = json!({
            "player": {"uuid": "u", "name": "n"}, "message": message, "serverId": "s", "serverType": "t",
        });
        let call = Call { call_id: number.to_string(), network_id: "n".into(), now_ms: 1, seed: 2 };
        Record::new(call, Input::parse(Point::Chat, line).unwrap(), None, vec![])
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
        for number in 0..CALLS + 5 {
            records.note(network(1), record(number, "hi"), 1);
        }
        let all = ids(&records.all(network(1), Point::Chat));
        assert_eq!((all.len(), all[0], all[CALLS - 1]), (CALLS, CALLS + 4, 5));
        assert_eq!(ids(&records.newest(network(1), Point::Chat, 2)), [CALLS + 4, CALLS + 3]);
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
            records.note(network(1), record(number, &"x".repeat(100_000)), 1);
        }
        let all = records.all(network(1), Point::Chat);
        assert!((20..45).contains(&all.len()), "{}", all.len());
        assert!(records.bytes.load(Ordering::Relaxed) <= 4 << 20);
    }

    #[test]
    fn the_networks_that_were_quiet_longest_give_way() {
        let records = Records::new(1 << 20);
        for number in 1..=30 {
            let now = i64::try_from(number).unwrap();
            records.note(network(number), record(0, &"x".repeat(50_000)), now);
            assert!(records.bytes.load(Ordering::Relaxed) <= 1 << 20);
        }
        assert!(records.all(network(1), Point::Chat).is_empty());
        assert_eq!(records.all(network(30), Point::Chat).len(), 1);
        assert_eq!(records.all(network(25), Point::Chat).len(), 1);
        // All of it is counted: what is left is what is kept.
        let kept: usize = records.places.read().values().map(|of| of.kept.lock().end()).sum();
        assert_eq!(kept, records.bytes.load(Ordering::Relaxed));
        let none = Records::new(0);
        none.note(network(1), record(0, "hi"), 1);
        assert!(none.all(network(1), Point::Chat).is_empty() && !none.samples(network(1), Point::Chat, 1));
    }

    #[test]
    fn few_calls_are_all_kept_and_of_many_some() {
        let records = Records::new(1 << 20);
        let sampled = |now| (0..1000).filter(|_| records.samples(network(1), Point::Matchmaking, now)).count();
        assert_eq!(sampled(0), 100);
        assert_eq!(sampled(50), 1);
        assert_eq!(sampled(1_050), 20);
        assert_eq!(sampled(i64::MAX), 100);
    }
}
