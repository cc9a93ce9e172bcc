//! Order of those who wait, with order statistics: a place in a line of 50,000 costs some hundred steps.
//!
//! The points of a ticket rise with time for all alike, so that two of them never change places, until they reach their
//! maximum and stay. Each line therefore has two sorted lists, of rising and of constant points, for each size of party.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::clock::Millis;

/// Time after which waiting counts no more.
pub(super) const COUNTED_WAIT: Millis = 1_000_000;
/// Lead of a ticket that returns to its line: before all whose points, in whole seconds, are the same.
const RETURNED_LEAD: Millis = 999;

/// Number of a ticket in its network, in the order of arrival.
pub(super) type Seq = i64;

/// Values that the order of tickets follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) priority: i64,
    pub(super) since: Millis,
    pub(super) seq: Seq,
    /// True for a ticket that goes before all of its effective priority.
    pub(super) leads: bool,
}

/// Position among all at one moment, best first: points in thousandths, then the order of arrival.
pub(super) type Turn = (Reverse<Millis>, Seq);

/// Key in a sorted list, best first.
type Key = (i64, Seq);

impl Standing {
    fn base(self) -> i64 {
        self.priority * 1_000 + if self.leads { RETURNED_LEAD } else { 0 }
    }

    fn key(self, is_constant: bool) -> Key {
        (if is_constant { -self.base() } else { self.since - self.base() }, self.seq)
    }

    /// Time from which its points are constant.
    pub(super) fn constant_from(self) -> Millis {
        self.since.saturating_add(COUNTED_WAIT)
    }

    /// Position at `now`.
    pub(super) fn turn(self, now: Millis) -> Turn {
        (Reverse(self.base() + (now - self.since).min(COUNTED_WAIT)), self.seq)
    }
}

fn turn_of((key, seq): Key, is_constant: bool, now: Millis) -> Turn {
    (Reverse(if is_constant { COUNTED_WAIT - key } else { now - key }), seq)
}

/// Sorted list in chunks.
#[derive(Debug, Default)]
struct RankList {
    chunks: Vec<Vec<Key>>,
    len: usize,
}

/// Maximum length of a chunk; a longer one is split.
const CHUNK: usize = 512;

impl RankList {
    /// Chunk in which the key is, or belongs.
    fn chunk_of(&self, key: Key) -> usize {
        let after = self.chunks.partition_point(|chunk| chunk.first().is_some_and(|first| *first <= key));
        after.saturating_sub(1)
    }

    fn insert(&mut self, key: Key) {
        if self.chunks.is_empty() {
            self.chunks.push(vec![]);
        }
        let at = self.chunk_of(key);
        let chunk = &mut self.chunks[at];
        if let Err(position) = chunk.binary_search(&key) {
            chunk.insert(position, key);
            self.len += 1;
            if chunk.len() > CHUNK {
                let rest = chunk.split_off(CHUNK / 2);
                self.chunks.insert(at + 1, rest);
            }
        }
    }

    fn remove(&mut self, key: Key) -> bool {
        let at = self.chunk_of(key);
        let Some(chunk) = self.chunks.get_mut(at) else { return false };
        let Ok(position) = chunk.binary_search(&key) else { return false };
        chunk.remove(position);
        self.len -= 1;
        if chunk.is_empty() {
            self.chunks.remove(at);
        }
        true
    }

    /// Number of keys before this one.
    fn rank(&self, key: Key) -> usize {
        let at = self.chunk_of(key);
        let before: usize = self.chunks.iter().take(at).map(Vec::len).sum();
        before + self.chunks.get(at).map_or(0, |chunk| chunk.partition_point(|it| *it < key))
    }

    /// Number of keys whose turn at `now` comes before this one.
    fn count_before(&self, turn: Turn, is_constant: bool, now: Millis) -> usize {
        let (Reverse(points), seq) = turn;
        self.rank((if is_constant { COUNTED_WAIT - points } else { now - points }, seq))
    }

    /// First key after this one.
    fn after(&self, key: Option<Key>) -> Option<Key> {
        let Some(key) = key else { return self.chunks.first()?.first().copied() };
        let at = self.chunk_of(key);
        let chunk = self.chunks.get(at)?;
        let next = chunk.get(chunk.partition_point(|it| *it <= key));
        next.or_else(|| self.chunks.get(at + 1)?.first()).copied()
    }
}

/// Tickets of a line in their order.
#[derive(Debug, Default)]
pub(super) struct LineOrder {
    /// Rising and constant points, by number of players.
    sizes: BTreeMap<usize, [RankList; 2]>,
    players: usize,
}

/// Position of an iteration in one sorted list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    size: usize,
    is_constant: bool,
    last: Option<Key>,
}

impl Cursor {
    /// Number of players of its tickets.
    pub(super) fn size(&self) -> usize {
        self.size
    }
}

impl LineOrder {
    /// Number of players.
    pub(super) fn players(&self) -> usize {
        self.players
    }

    pub(super) fn insert(&mut self, standing: Standing, size: usize, is_constant: bool) {
        self.sizes.entry(size).or_default()[usize::from(is_constant)].insert(standing.key(is_constant));
        self.players += size;
    }

    /// Removes a ticket, and says if its points were constant.
    pub(super) fn remove(&mut self, standing: Standing, size: usize) -> Option<bool> {
        let lists = self.sizes.get_mut(&size)?;
        let is_constant = [false, true].into_iter().find(|is| lists[usize::from(*is)].remove(standing.key(*is)))?;
        if lists.iter().all(|list| list.len == 0) {
            self.sizes.remove(&size);
        }
        self.players -= size;
        Some(is_constant)
    }

    /// Number of players before this turn.
    pub(super) fn players_before(&self, turn: Turn, now: Millis) -> usize {
        let count = |(size, lists): (&usize, &[RankList; 2])| {
            size * (lists[0].count_before(turn, false, now) + lists[1].count_before(turn, true, now))
        };
        self.sizes.iter().map(count).sum()
    }

    /// Cursors before all tickets, of parties of any size.
    pub(super) fn cursors(&self) -> impl Iterator<Item = Cursor> {
        let of = |size| [false, true].map(|is_constant| Cursor { size, is_constant, last: None });
        self.sizes.keys().copied().flat_map(of)
    }

    /// Next turn of a cursor, without moving it.
    pub(super) fn peek(&self, cursor: &Cursor, now: Millis) -> Option<Turn> {
        let list = &self.sizes.get(&cursor.size)?[usize::from(cursor.is_constant)];
        Some(turn_of(list.after(cursor.last)?, cursor.is_constant, now))
    }

    /// Moves a cursor past its next ticket.
    pub(super) fn advance(&self, cursor: &mut Cursor) {
        if let Some(lists) = self.sizes.get(&cursor.size) {
            cursor.last = lists[usize::from(cursor.is_constant)].after(cursor.last).or(cursor.last);
        }
    }

    /// Tickets in their order at `now`.
    pub(super) fn iter(&self, now: Millis) -> impl Iterator<Item = Seq> + '_ {
        let mut cursors: Vec<_> = self.cursors().collect();
        std::iter::from_fn(move || {
            let next = cursors.iter_mut().filter_map(|cursor| Some((self.peek(cursor, now)?, cursor)));
            let (turn, cursor) = next.min_by_key(|(turn, _)| *turn)?;
            self.advance(cursor);
            Some(turn.1)
        })
    }
}

#[cfg(test)]
mod tests;
