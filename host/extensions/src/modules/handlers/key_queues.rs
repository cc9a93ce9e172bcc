//! Queued events of one handler in memory: a part of the table, by key.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

use crate::clock::{Millis, Moment};
use crate::modules::handlers::model::QueueRow;
use crate::modules::handlers::pauses::longest;

/// Rows that are read at once.
pub(super) const BATCH: i64 = 256;
/// Keys in a pause, at which the handler waits as a whole.
const MAX_PAUSED: usize = 1_000;

/// Queued events of one handler.
#[derive(Debug, Default)]
pub(super) struct KeyQueues {
    /// First rows of each key that was read and is not in a pause, in order.
    loaded: HashMap<String, VecDeque<QueueRow>>,
    /// Number of the read that loaded each key; none where the read was cut.
    loaded_by: HashMap<String, Option<u64>>,
    /// Number of reads.
    reads: u64,
    /// Keys that may be handed over, by the number of their first row.
    ready: BTreeMap<i64, String>,
    /// Keys with a call under way.
    busy: HashSet<String>,
    /// Keys whose first event failed, and the end of the pause.
    paused: HashMap<String, Moment>,
    /// True if there may be rows that were not read.
    is_stale: bool,
}

impl KeyQueues {
    /// Marks that rows may have come.
    pub(super) fn mark_stale(&mut self) {
        self.is_stale = true;
    }

    /// True if more rows are to be read.
    pub(super) fn wants_rows(&self, free: usize) -> bool {
        self.is_stale && self.ready.len() < free && self.paused.len() < MAX_PAUSED
    }

    /// Keys whose rows are not to be read: they are loaded, busy or in a pause.
    pub(super) fn known_keys(&self) -> Vec<&str> {
        let loaded = self.loaded.keys().chain(&self.busy).chain(self.paused.keys());
        let keys: HashSet<&str> = loaded.map(String::as_str).collect();
        keys.into_iter().collect()
    }

    /// Adds the first rows of keys that were unknown, in order. `is_all`: there were no more.
    pub(super) fn add(&mut self, rows: Vec<QueueRow>, (now, moment): (Millis, Moment), is_all: bool) {
        self.is_stale = !is_all;
        self.reads += 1;
        let read = is_all.then_some(self.reads);
        for row in rows {
            let key = row.event_key.clone();
            if self.paused.contains_key(&key) {
                continue;
            }
            match self.loaded.get_mut(&key) {
                Some(queue) => queue.push_back(row),
                None if row.due_at > now && row.attempts > 0 => {
                    // The clock may have been set back since it was written.
                    let left = (row.due_at - now).min(longest(row.attempts));
                    self.paused.insert(key, moment + Duration::from_millis(left.unsigned_abs()));
                }
                None => {
                    self.ready.insert(row.seq, key.clone());
                    self.loaded_by.insert(key.clone(), read);
                    self.loaded.insert(key, VecDeque::from([row]));
                }
            }
        }
    }

    /// Ends the pauses that are over.
    pub(super) fn end_pauses(&mut self, now: Moment) {
        let before = self.paused.len();
        self.paused.retain(|_, until| *until > now);
        self.is_stale |= self.paused.len() < before;
    }

    /// Takes the next event. Its key is busy until [`Self::done`] or [`Self::pause`].
    pub(super) fn take(&mut self) -> Option<QueueRow> {
        let (_, key) = self.ready.pop_first()?;
        let row = self.loaded.get_mut(&key)?.pop_front()?;
        self.busy.insert(key);
        Some(row)
    }

    /// The event of a busy key was handled: the next one may come.
    pub(super) fn done(&mut self, key: &str) {
        self.busy.remove(key);
        if let Some(next) = self.loaded.get(key).and_then(VecDeque::front) {
            self.ready.insert(next.seq, key.to_owned());
            return;
        }
        self.loaded.remove(key);
        // A later read left the key out.
        let is_current = self.loaded_by.remove(key).flatten() == Some(self.reads);
        self.is_stale |= !is_current;
    }

    /// The event of a busy key failed: it and those after it wait.
    pub(super) fn pause(&mut self, key: &str, until: Moment) {
        self.busy.remove(key);
        self.loaded.remove(key);
        self.loaded_by.remove(key);
        self.paused.insert(key.to_owned(), until);
    }

    /// End of the first pause.
    pub(super) fn next_due(&self) -> Option<Moment> {
        self.paused.values().min().copied()
    }

    /// True if nothing is known to wait.
    pub(super) fn is_empty(&self) -> bool {
        self.loaded.is_empty() && self.busy.is_empty() && self.paused.is_empty() && !self.is_stale
    }

    /// True if a call is under way.
    pub(super) fn is_busy(&self) -> bool {
        !self.busy.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{Clock, ManualClock};

    fn at(now: Millis) -> (Millis, Moment) {
        (now, Clock::Manual(ManualClock::new(now)).moment())
    }

    fn row(seq: i64, key: &str) -> QueueRow {
        QueueRow { seq, event_key: key.to_owned(), attempts: 0, due_at: 0, queued_at: 0 }
    }

    #[test]
    fn events_of_a_key_come_one_after_the_other() {
        let mut queues = KeyQueues::default();
        queues.mark_stale();
        queues.add(vec![row(1, "a"), row(2, "a"), row(3, "b")], at(0), true);
        let taken = [queues.take().unwrap().seq, queues.take().unwrap().seq];
        assert_eq!((taken, queues.take().is_none()), ([1, 3], true));
        queues.done("a");
        assert_eq!(queues.take().unwrap().seq, 2);
        queues.pause("a", at(50).1);
        queues.done("b");
        assert!(queues.take().is_none() && !queues.wants_rows(1), "nothing came since");
        assert_eq!((queues.known_keys(), queues.next_due()), (vec!["a"], Some(at(50).1)));
        assert!(!queues.wants_rows(1) && !queues.is_empty());
        queues.end_pauses(at(49).1);
        assert!(!queues.wants_rows(1));
        queues.end_pauses(at(50).1);
        assert!(queues.wants_rows(1) && queues.known_keys().is_empty());
    }

    #[test]
    fn rows_that_come_while_their_key_is_busy_are_read_afterwards() {
        let mut queues = KeyQueues::default();
        queues.add(vec![row(1, "a")], at(0), true);
        assert_eq!(queues.take().unwrap().seq, 1);
        // A second row of the key came, which this read left out.
        queues.add(vec![row(3, "b")], at(0), true);
        queues.done("a");
        assert!(queues.wants_rows(2));
        queues.add(vec![row(2, "a")], at(0), true);
        assert_eq!(queues.take().unwrap().seq, 2);
    }

    #[test]
    fn a_key_whose_first_event_is_not_due_waits_with_all_its_events() {
        let mut queues = KeyQueues::default();
        queues.add(vec![QueueRow { attempts: 1, due_at: 9, ..row(1, "a") }, row(2, "a"), row(3, "b")], at(5), true);
        assert_eq!((queues.take().unwrap().seq, queues.take().is_none()), (3, true));
    }

    #[test]
    fn a_pause_by_a_clock_that_was_set_back_is_no_longer_than_it_ever_was() {
        let mut queues = KeyQueues::default();
        queues.add(vec![QueueRow { attempts: 1, due_at: 3_600_000, ..row(1, "a") }], at(0), true);
        assert_eq!(queues.next_due(), Some(at(1_200).1));
    }
}
