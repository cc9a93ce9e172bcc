//! Changes of players that the hub has not confirmed.

use std::collections::{HashMap, HashSet, VecDeque};

use tokio::time::Instant;
use uuid::Uuid;

use crate::retry;

/// Something a player did that the hub has to learn.
#[derive(Clone, Debug)]
pub(super) struct PlayerChange {
    /// Rises in the order of the changes.
    pub(super) id: u64,
    pub(super) player: Uuid,
    pub(super) kind: ChangeKind,
    pub(super) made_at: Instant,
}

#[derive(Clone, Debug)]
pub(super) enum ChangeKind {
    /// Idempotency key: repeats are one change.
    Join {
        name: String,
        key: String,
    },
    World {
        world: String,
        previous: Option<String>,
    },
    Leave,
}

impl ChangeKind {
    pub(super) fn join(name: &str) -> Self {
        Self::Join { name: name.to_owned(), key: retry::new_key() }
    }
}

/// The changes in the order they happened. They stay until the hub has confirmed them, however long it is away.
#[derive(Debug)]
pub(super) struct PlayerOutbox {
    changes: VecDeque<PlayerChange>,
    capacity: usize,
    next_id: u64,
}

impl PlayerOutbox {
    pub(super) fn new(capacity: usize) -> Self {
        Self { changes: VecDeque::new(), capacity, next_id: 0 }
    }

    /// Adds a change. Returns the number of those dropped to make room: visits that are over, and changes of worlds.
    pub(super) fn add(&mut self, player: Uuid, kind: ChangeKind) -> usize {
        let is_world = |kind: &ChangeKind| matches!(kind, ChangeKind::World { .. });
        // Of several changes of world in a row the last one counts. The first change may be under way.
        let is_replaced = |last: &&PlayerChange| is_world(&kind) && is_world(&last.kind) && last.player == player;
        if self.changes.len() > 1 && self.changes.back().as_ref().is_some_and(is_replaced) {
            self.changes.pop_back();
        }
        self.next_id += 1;
        self.changes.push_back(PlayerChange { id: self.next_id, player, kind, made_at: Instant::now() });
        if self.changes.len() > self.capacity { self.drop_finished_visits() } else { 0 }
    }

    pub(super) fn first(&self) -> Option<&PlayerChange> {
        self.changes.front()
    }

    pub(super) fn first_mut(&mut self) -> Option<&mut PlayerChange> {
        self.changes.front_mut()
    }

    /// Removes a change that the hub has confirmed or refused.
    pub(super) fn remove(&mut self, id: u64) {
        self.changes.retain(|change| change.id != id);
    }

    /// The leave that ends the visit which begins with this join; none while the player is here.
    pub(super) fn end_of(&self, join: &PlayerChange) -> Option<u64> {
        let later = self.changes.iter().filter(|change| change.id > join.id && change.player == join.player);
        later.filter(|change| matches!(change.kind, ChangeKind::Leave)).map(|leave| leave.id).next()
    }

    /// Removes everything a player did from one change to another.
    pub(super) fn remove_visit(&mut self, player: Uuid, join: u64, leave: u64) {
        self.changes.retain(|change| change.player != player || change.id < join || change.id > leave);
    }

    pub(super) fn concerns(&self, player: Uuid) -> bool {
        self.changes.iter().any(|change| change.player == player)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.changes.len()
    }

    fn drop_finished_visits(&mut self) -> usize {
        let before = self.changes.len();
        let mut dropped = HashSet::new();
        let mut joins = HashMap::new();
        // The first one may be under way.
        for change in self.changes.iter().skip(1) {
            match change.kind {
                ChangeKind::World { .. } => {
                    dropped.insert(change.id);
                }
                ChangeKind::Join { .. } => {
                    joins.insert(change.player, change.id);
                }
                ChangeKind::Leave => {
                    if let Some(join) = joins.remove(&change.player) {
                        dropped.extend([join, change.id]);
                    }
                }
            }
        }
        self.changes.retain(|change| !dropped.contains(&change.id));
        before - self.changes.len()
    }
}
