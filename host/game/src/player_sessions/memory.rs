//! Open sessions of the networks that this node owns, to notice those that are lost. The database decides: an entry that
//! is missing or outdated delays only that.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::Moment;
use crate::player_sessions::model::Session;
use crate::player_sessions::waiting::Queue;
use crate::player_sessions::writes::Writes;
use crate::side_by_side::SideBySide;
use crate::values::{Identifier, NetworkId, PlayerId};

/// Time without the player on any server after which a session is lost.
const NOWHERE: Duration = Duration::from_mins(1);
/// Time for the server of a restored session to send a heartbeat: the hub may have been down for longer than a server may
/// be silent.
const GRACE: Duration = Duration::from_mins(1);

/// Open sessions, and the requests that wait for them.
#[derive(Debug, Default)]
pub struct PlayerSessions {
    networks: Mutex<HashMap<NetworkId, NetworkSessions>>,
    pub(super) writes: Writes,
    /// The loop that ends lost sessions.
    pub(super) pass: SideBySide,
}

/// Those of one network.
#[derive(Debug, Default)]
pub(super) struct NetworkSessions {
    pub(super) open: HashMap<PlayerId, OpenSession>,
    pub(super) queues: HashMap<PlayerId, Queue>,
    /// Requests in all queues that wait.
    pub(super) waiting: i64,
}

/// An open session.
#[derive(Clone, Debug)]
pub(super) struct OpenSession {
    pub(super) fence: i64,
    pub(super) server: Identifier,
    /// Time since when the player is on no server.
    nowhere_since: Option<Moment>,
    /// Time until which the server of a restored session may be silent.
    grace_until: Option<Moment>,
    /// True if its fence is of an earlier epoch of the database.
    is_outdated: bool,
    /// True if only the database knows how the last transaction on it ended.
    is_unsure: bool,
}

/// Presence of a session's server and player.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sighting {
    pub(super) is_server_online: bool,
    pub(super) is_player_online: bool,
}

impl OpenSession {
    fn opened(fence: i64, server: Identifier, now: Moment) -> Self {
        Self { fence, server, nowhere_since: Some(now), grace_until: None, is_outdated: false, is_unsure: false }
    }

    fn restored(session: &Session, now: Moment) -> Self {
        Self {
            fence: session.fence,
            server: session.server_id.clone(),
            nowhere_since: Some(now),
            grace_until: Some(now + GRACE),
            is_outdated: !session.is_current,
            is_unsure: false,
        }
    }

    /// True if the session of this fence is open, as far as is known.
    pub(super) fn is_sure_of(&self, fence: i64) -> bool {
        self.fence == fence && !self.is_unsure
    }

    /// True if the session is lost by what is seen now, or the database has to say what became of it.
    pub(super) fn observe(&mut self, seen: Sighting, now: Moment) -> bool {
        if self.is_outdated || self.is_unsure {
            return true;
        }
        if !seen.is_server_online {
            return self.grace_until.is_none_or(|until| now >= until);
        }
        self.grace_until = None;
        if seen.is_player_online {
            self.nowhere_since = None;
            return false;
        }
        now >= *self.nowhere_since.get_or_insert(now) + NOWHERE
    }
}

impl PlayerSessions {
    pub(super) fn with<T>(&self, network: NetworkId, work: impl FnOnce(&mut NetworkSessions) -> T) -> T {
        work(self.networks.lock().entry(network).or_default())
    }

    /// Networks with open sessions.
    pub(super) fn networks(&self) -> Vec<NetworkId> {
        let networks = self.networks.lock();
        networks.iter().filter(|(_, sessions)| !sessions.open.is_empty()).map(|(network, _)| *network).collect()
    }

    /// Numbers of open sessions and of requests that wait.
    pub fn counts(&self) -> (usize, i64) {
        let networks = self.networks.lock();
        networks.values().fold((0, 0), |(open, waiting), it| (open + it.open.len(), waiting + it.waiting))
    }

    /// Adds a new session, which ends the player's earlier one.
    pub(super) fn opened(&self, network: NetworkId, player: PlayerId, fence: i64, server: &Identifier, now: Moment) {
        self.with(network, |sessions| {
            if sessions.open.get(&player).is_none_or(|open| open.fence <= fence) {
                sessions.open.insert(player, OpenSession::opened(fence, server.clone(), now));
            }
            sessions.wake(player);
        });
    }

    /// Adds an open session from the database, unless it is known.
    pub(super) fn restored(&self, network: NetworkId, session: &Session, now: Moment) {
        self.with(network, |sessions| {
            let known = sessions.open.get(&session.player_uuid);
            if known.is_none_or(|open| open.fence < session.fence || open.is_unsure) {
                sessions.open.insert(session.player_uuid, OpenSession::restored(session, now));
            }
        });
    }

    /// Replaces what is known by an open session that was just read under a lock.
    pub(super) fn corrected(&self, network: NetworkId, session: &Session, now: Moment) {
        self.with(network, |sessions| {
            let known = sessions.open.get(&session.player_uuid);
            if known.is_none_or(|open| open.fence != session.fence || open.is_unsure) {
                sessions.open.insert(session.player_uuid, OpenSession::restored(session, now));
            }
        });
    }

    /// Marks a player's session as changed by a transaction that ended, maybe without effect.
    pub(super) fn touched(&self, network: NetworkId, player: PlayerId, server: &Identifier, now: Moment) {
        self.with(network, |sessions| {
            let open = sessions.open.entry(player).or_insert_with(|| OpenSession::opened(0, server.clone(), now));
            open.is_unsure = true;
            sessions.wake(player);
        });
    }

    /// Removes a session that ended, and wakes those who wait for it.
    pub(super) fn ended(&self, network: NetworkId, player: PlayerId, fence: i64) {
        self.with(network, |sessions| {
            if sessions.open.get(&player).is_some_and(|open| open.fence <= fence) {
                sessions.open.remove(&player);
            }
            sessions.wake(player);
        });
    }

    /// True if a session of the player may be open.
    pub(super) fn may_be_open(&self, network: NetworkId, player: PlayerId) -> bool {
        self.networks.lock().get(&network).is_some_and(|sessions| sessions.open.contains_key(&player))
    }

    /// Begins or ends the time without the player on a server.
    pub(super) fn moved(&self, network: NetworkId, player: PlayerId, is_gone: bool, now: Moment) {
        if let Some(open) = self.networks.lock().get_mut(&network).and_then(|it| it.open.get_mut(&player)) {
            open.nowhere_since = is_gone.then_some(now);
        }
    }

    /// Drops the open sessions of a network; requests that wait leave by themselves.
    pub(super) fn evict(&self, network: NetworkId) {
        let mut networks = self.networks.lock();
        if let Some(sessions) = networks.get_mut(&network) {
            sessions.open.clear();
            sessions.queues.values().for_each(Queue::wake);
            if sessions.queues.is_empty() {
                networks.remove(&network);
            }
        }
    }
}

impl NetworkSessions {
    pub(super) fn wake(&self, player: PlayerId) {
        if let Some(queue) = self.queues.get(&player) {
            queue.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;

    fn seen(is_server_online: bool, is_player_online: bool) -> Sighting {
        Sighting { is_server_online, is_player_online }
    }

    #[test]
    fn sessions_are_lost_with_their_server_or_without_their_player() {
        let now = Clock::System.moment();
        let after = |seconds| now + Duration::from_secs(seconds);
        let mut open = OpenSession::opened(1, "a".parse().unwrap(), now);
        assert!(!open.observe(seen(true, false), after(59)), "the player may still come");
        assert!(!open.observe(seen(true, true), after(61)));
        assert!(!open.observe(seen(true, false), after(70)));
        assert!(!open.observe(seen(true, false), after(129)));
        assert!(open.observe(seen(true, false), after(130)));
        assert!(open.observe(seen(false, true), after(71)));
    }

    #[test]
    fn a_restored_session_waits_for_its_server() {
        let now = Clock::System.moment();
        let session = Session {
            player_uuid: PlayerId(uuid::Uuid::nil()),
            fence: 4,
            server_id: "a".parse().unwrap(),
            state: crate::player_sessions::model::SessionState::Open,
            opened_at: 5,
            ended_at: None,
            is_current: true,
        };
        let mut open = OpenSession::restored(&session, now);
        assert!(!open.observe(seen(false, false), now + Duration::from_secs(59)));
        assert!(open.clone().observe(seen(false, false), now + Duration::from_secs(60)));
        assert!(!open.observe(seen(true, true), now + Duration::from_secs(59)));
        assert!(open.observe(seen(false, true), now + Duration::from_secs(59)), "the grace is over");
        let outdated = Session { is_current: false, ..session };
        assert!(OpenSession::restored(&outdated, now).observe(seen(true, true), now));
    }
}
