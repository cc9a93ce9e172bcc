//! The waiting deliveries of a webhook during a turn: in order for each subject, independently of the others.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::RangeInclusive;

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
    /// Subjects of which none is in memory any more, and more were read without being kept.
    drained: BTreeSet<i64>,
}

/// Deliveries to read from the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The subject, unless those of all are wanted.
    pub(super) subject: Option<i64>,
    pub(super) numbers: RangeInclusive<i64>,
    pub(super) room: usize,
    /// The queue to fill again.
    of: Option<i64>,
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
    /// Number of the last one that was kept, if later ones were read without being kept.
    cut_after: Option<i64>,
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
            drained: BTreeSet::new(),
        }
    }

    /// Deliveries to read next; none if enough are in memory.
    pub(super) fn to_read(&self) -> Option<Part> {
        let room = MAX_BUFFERED.saturating_sub(self.buffered);
        if room == 0 {
            return None;
        }
        let cut = |of: &i64| Some((*of, self.queues.get(of)?.cut_after?));
        if let Some((of, after)) = self.drained.first().and_then(cut) {
            let subject = (self.order != Order::Total).then_some(of);
            let room = room.min(MAX_OF_SUBJECT);
            return Some(Part { subject, numbers: after + 1..=self.cursor, room, of: Some(of) });
        }
        let numbers = self.cursor + 1..=self.newest;
        (!numbers.is_empty()).then_some(Part { subject: None, numbers, room, of: None })
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
    pub(super) fn add(&mut self, part: &Part, deliveries: Vec<Delivery>) {
        let is_rest = deliveries.len() < part.room;
        if let Some(subject) = part.of {
            self.drained.remove(&subject);
            self.refill(subject, is_rest, deliveries);
            return;
        }
        for delivery in deliveries {
            self.cursor = delivery.seq;
            let subject = self.subject_of(&delivery);
            if self.held.contains(&subject) {
                continue;
            }
            let queue = self.queues.entry(subject).or_default();
            if queue.cut_after.is_none() && queue.next.len() == MAX_OF_SUBJECT {
                queue.cut_after = queue.next.back().map(|last| last.seq);
            }
            if queue.cut_after.is_none() {
                self.keep(subject, delivery);
            }
        }
        if is_rest {
            self.cursor = *part.numbers.end();
        }
    }

    /// Adds the next deliveries of a subject, of which none was in memory.
    fn refill(&mut self, subject: i64, is_rest: bool, deliveries: Vec<Delivery>) {
        let Some(queue) = self.queues.get_mut(&subject) else { return };
        queue.cut_after = if is_rest { None } else { deliveries.last().map(|last| last.seq) };
        if deliveries.is_empty() {
            self.queues.remove(&subject);
        }
        for delivery in deliveries {
            self.keep(subject, delivery);
        }
    }

    fn subject_of(&self, delivery: &Delivery) -> i64 {
        if self.order == Order::Total { 0 } else { delivery.subject }
    }

    fn keep(&mut self, subject: i64, delivery: Delivery) {
        self.queues.entry(subject).or_default().next.push_back(Delivery { subject, ..delivery });
        self.buffered += 1;
        self.make_ready(subject);
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
        } else if queue.next.is_empty() && queue.cut_after.is_some() {
            self.drained.insert(subject);
        } else if queue.next.is_empty() {
            self.queues.remove(&subject);
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
        while let Some(part) = queues.to_read() {
            let is_wanted = |(seq, subject): &&(i64, i64)| {
                part.numbers.contains(seq) && part.subject.is_none_or(|wanted| wanted == *subject)
            };
            let found = waiting.iter().filter(is_wanted).take(part.room).map(|it| delivery(*it, 0)).collect();
            queues.add(&part, found);
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
            let part = queues.to_read().unwrap();
            queues.add(&part, rows());
            assert_eq!(take_all(&mut queues), expected, "{order:?}");
        }
        let mut queues = SubjectQueues::new(Order::BySubject, 3, HashSet::from([1]));
        let part = queues.to_read().unwrap();
        queues.add(&part, rows());
        assert_eq!(take_all(&mut queues), [2], "what was held before");
    }
}
