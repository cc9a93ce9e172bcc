//! Changes for a component that follows a network's slots and players: waiting lines. Nothing is recorded unless it
//! watches.

use std::collections::HashSet;
use std::sync::Arc;

use crate::values::PlayerId;

/// Wakes the watcher of a network. Called under presence's lock, so it only leaves a note.
pub(crate) trait Watcher: std::fmt::Debug + Send + Sync {
    fn wake(&self);
}

/// Changes since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct Watched {
    /// Servers whose slots, game or worlds changed, or that came or went.
    pub(crate) servers: HashSet<Arc<str>>,
    /// Players who came, left or moved to another server.
    pub(crate) players: HashSet<PlayerId>,
    /// Players with the servers that they joined, though they may have left again.
    pub(crate) joined: HashSet<(PlayerId, Arc<str>)>,
}

/// The watcher of a network's presence, and the changes that it has not taken.
#[derive(Debug)]
pub(super) struct Watch {
    watcher: Arc<dyn Watcher>,
    changes: Watched,
}

impl Watch {
    pub(super) fn new(watcher: Arc<dyn Watcher>) -> Self {
        Self { watcher, changes: Watched::default() }
    }

    pub(super) fn take(&mut self) -> Watched {
        std::mem::take(&mut self.changes)
    }

    pub(super) fn server(&mut self, id: &Arc<str>) {
        if self.changes.servers.insert(Arc::clone(id)) {
            self.watcher.wake();
        }
    }

    pub(super) fn joined(&mut self, player: PlayerId, server: &Arc<str>) {
        self.changes.joined.insert((player, Arc::clone(server)));
        self.player(player);
    }

    pub(super) fn player(&mut self, player: PlayerId) {
        if self.changes.players.insert(player) {
            self.watcher.wake();
        }
    }
}
