//! The waiting deliveries of a webhook during a turn: in order for each subject, independently of the others.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use crate::webhooks::model::Delivery;

/// Deliveries in memory that are not being sent.
const MAX_BUFFERED: usize = 64;
/// Those of one subject: the others must not wait for a subject with many.
const MAX_OF_SUBJECT: usize = 16;

/// Order of subjects that may be sent to: attempts of the first delivery (only of a webhook that fails), its number,
/// and the subject.
type Ready = (i64, i64, i64);

/// Deliveries that were read and wait to be sent.
#[derive(Debug)]
pub(super) struct SubjectQueues {
    queues: HashMap<i64, SubjectQueue>,
    ready: BTreeSet<Ready>,
    /// Subjects that wait for the end of a pause.
    held: HashSet<i64>,
    order: Order,
    buffered: usize,
    /// Deliveries up to this one were read.
    cursor: i64,
    newest: i64,
    /// First delivery that was read without being kept.
    skipped_from: Option<i64>,
}

/// Order of a webhook's deliveries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// All have one subject.
    Total,
    /// Oldest first.
    BySubject,
    /// Deliveries with the fewest attempts first: the receiver may refuse only the oldest.
    Probing,
}

#[derive(Debug, Default)]
struct SubjectQueue {
    next: VecDeque<Delivery>,
    in_flight: Option<i64>,
    /// True if later ones were read without being kept.
    is_cut: bool,
}

impl SubjectQueue {
    fn has(&self, seq: i64) -> bool {
        self.in_flight == Some(seq) || self.next.iter().any(|delivery| delivery.seq == seq)
    }
}

impl SubjectQueues {
    /// Queues of a webhook with deliveries up to `newest`, and these held subjects.
    pub(super) fn new(order: Order, newest: i64, held: HashSet<i64>) -> Self {
        Self {
            queues: HashMap::new(),
            ready: BTreeSet::new(),
            held,
            order,
            buffered: 0,
            cursor: 0,
            newest,
            skipped_from: None,
        }
    }

    /// First and last number of the deliveries to read next, and how many; none if enough are in memory.
    pub(super) fn to_read(&self) -> Option<(i64, i64, usize)> {
        let room = MAX_BUFFERED.saturating_sub(self.buffered);
        (self.cursor < self.newest && room > 0).then_some((self.cursor + 1, self.newest, room))
    }

    pub(super) fn set_newest(&mut self, newest: i64) {
        self.newest = self.newest.max(newest);
    }

    /// Number up to which all deliveries were read.
    pub(super) fn cursor(&self) -> i64 {
        self.cursor
    }

    /// Number of held subjects.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// True if nothing is left to be sent but deliveries of held subjects.
    pub(super) fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.cursor >= self.newest
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Adds deliveries in order, the answer to [`Self::to_read`].
    pub(super) fn add(&mut self, (last, room): (i64, usize), deliveries: Vec<Delivery>) {
        let is_rest = deliveries.len() < room;
        for mut delivery in deliveries {
            self.cursor = delivery.seq;
            if self.order == Order::Total {
                delivery.subject = 0;
            }
            let (seq, subject) = (delivery.seq, delivery.subject);
            if self.held.contains(&subject) {
                continue;
            }
            let queue = self.queues.entry(subject).or_default();
            if queue.has(seq) {
                continue;
            }
            if queue.is_cut || queue.next.len() == MAX_OF_SUBJECT {
                queue.is_cut = true;
                self.skipped_from = Some(self.skipped_from.map_or(seq, |first| first.min(seq)));
                continue;
            }
            queue.next.push_back(delivery);
            self.buffered += 1;
            self.make_ready(subject);
        }
        if is_rest {
            self.cursor = last;
        }
    }

    /// The next delivery to send; no other of its subject is taken until [`Self::ended`].
    pub(super) fn take(&mut self) -> Option<Delivery> {
        let (.., subject) = self.ready.pop_first()?;
        let queue = self.queues.get_mut(&subject)?;
        let delivery = queue.next.pop_front()?;
        queue.in_flight = Some(delivery.seq);
        self.buffered -= 1;
        Some(delivery)
    }

    /// An attempt at the subject's delivery has ended; if it is to be repeated, the subject is held from now on.
    pub(super) fn ended(&mut self, subject: i64, is_held: bool) {
        let Some(queue) = self.queues.get_mut(&subject) else { return };
        queue.in_flight = None;
        if is_held {
            self.buffered -= queue.next.len();
            self.queues.remove(&subject);
            self.held.insert(subject);
        } else if queue.next.is_empty() {
            let is_cut = queue.is_cut;
            self.queues.remove(&subject);
            if is_cut {
                self.read_skipped_again();
            }
        } else {
            self.make_ready(subject);
        }
    }

    fn make_ready(&mut self, subject: i64) {
        let Some(queue) = self.queues.get(&subject).filter(|queue| queue.in_flight.is_none()) else { return };
        if let Some(first) = queue.next.front() {
            let attempts = if self.order == Order::Probing { first.attempts } else { 0 };
            self.ready.insert((attempts, first.seq, subject));
        }
    }

    fn read_skipped_again(&mut self) {
        if let Some(first) = self.skipped_from.take() {
            self.cursor = self.cursor.min(first - 1);
            self.queues.values_mut().for_each(|queue| queue.is_cut = false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::webhooks::model::DeliveryState;

    fn delivery((seq, subject): (i64, i64), attempts: i64) -> Delivery {
        Delivery {
            seq,
            subject,
            message_id: String::new(),
            event: String::new(),
            data: String::new(),
            event_at: 0,
            queued_at: 0,
            state: DeliveryState::Waiting,
            attempts,
            attempted_at: None,
            status: None,
            error: None,
            duration_ms: None,
            finished_at: None,
        }
    }

    /// Answers all reads from `waiting`, as the database does.
    fn fill(queues: &mut SubjectQueues, waiting: &[(i64, i64)]) {
        while let Some((first, last, room)) = queues.to_read() {
            let found = waiting.iter().filter(|(seq, _)| (first..=last).contains(seq)).take(room);
            let found = found.map(|it| delivery(*it, 0)).collect();
            queues.add((last, room), found);
        }
    }

    fn take_all(queues: &mut SubjectQueues) -> Vec<i64> {
        std::iter::from_fn(|| queues.take()).map(|delivery| delivery.seq).collect()
    }

    #[test]
    fn one_of_each_subject_is_sent_at_a_time() {
        let mut queues = SubjectQueues::new(Order::BySubject, 5, HashSet::new());
        fill(&mut queues, &[(1, 7), (2, 8), (3, 7), (4, 9), (5, 8)]);
        assert_eq!(take_all(&mut queues), [1, 2, 4]);
        queues.ended(8, false);
        assert_eq!(take_all(&mut queues), [5]);
        // The rest of its subject waits with what failed, also if it is read later.
        queues.ended(7, true);
        assert_eq!((take_all(&mut queues), queues.held()), (vec![], 1));
        queues.set_newest(7);
        fill(&mut queues, &[(6, 7), (7, 9)]);
        assert!(!queues.has_ready() && !queues.is_empty());
        queues.ended(9, false);
        assert_eq!(take_all(&mut queues), [7]);
        queues.ended(9, false);
        queues.ended(8, false);
        assert!(queues.is_empty());
        assert_eq!(queues.cursor(), 7);
    }

    #[test]
    fn subject_with_many_delays_no_other() {
        let mut waiting: Vec<_> = (1..=500).map(|seq| (seq, 1)).collect();
        waiting.extend([(501, 2), (502, 1), (503, 2)]);
        let mut queues = SubjectQueues::new(Order::BySubject, 503, HashSet::new());
        fill(&mut queues, &waiting);
        assert_eq!(take_all(&mut queues), [1, 501]);
        queues.ended(2, false);
        assert_eq!(take_all(&mut queues), [503]);
        waiting.retain(|(seq, _)| *seq != 501);
        // All of the first arrive in order, although they were not all kept.
        let mut sent = vec![1];
        while sent.last() != Some(&502) {
            let seq = *sent.last().unwrap();
            waiting.retain(|(other, _)| *other != seq);
            queues.ended(1, false);
            fill(&mut queues, &waiting);
            sent.extend(take_all(&mut queues));
        }
        assert_eq!(sent, (1..=500).chain([502]).collect::<Vec<_>>());
        queues.ended(1, false);
        assert!(!queues.is_empty(), "503 is on its way");
        queues.ended(2, false);
        assert!(queues.is_empty());
    }

    #[test]
    fn failing_webhooks_try_the_least_tried_and_total_order_has_one_subject() {
        let rows = || [((1, 1), 3), ((2, 2), 0), ((3, 1), 0)].map(|(it, attempts)| delivery(it, attempts)).into();
        for (order, expected) in [(Order::BySubject, vec![1, 2]), (Order::Probing, vec![2, 1]), (Order::Total, vec![1])]
        {
            let mut queues = SubjectQueues::new(order, 3, HashSet::new());
            queues.add((3, 64), rows());
            assert_eq!(take_all(&mut queues), expected, "{order:?}");
        }
        let mut queues = SubjectQueues::new(Order::BySubject, 3, HashSet::from([1]));
        queues.add((3, 64), rows());
        assert_eq!(take_all(&mut queues), [2], "what was held before");
    }
}
