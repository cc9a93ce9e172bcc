//! The punishments that are known.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::Instant;
use uuid::Uuid;

use super::clock::HubClock;
use crate::model::{Punishment, PunishmentKind};

const CAPACITY: usize = 50_000;
/// More events than come while an answer is on its way.
const RECENT: usize = 1_000;

/// The punishments that the connector knows of, kept current by events. Answers immediately, from memory, also while the hub is away.
/// It fails closed: a ban or mute stays until its own end, and an unknown player is treated as muted.
#[derive(Debug)]
pub struct PunishmentCache {
    clock: Arc<HubClock>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    active: HashMap<i64, Punishment>,
    checks: HashMap<Uuid, Check>,
    recent: VecDeque<(Punishment, bool, Instant)>,
    /// The checks before this time no longer count: events may have been missed.
    gap_at: Instant,
}

/// A player's state at their last check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) name: Option<String>,
    pub(super) ip: Option<String>,
}

#[derive(Debug)]
struct Check {
    identity: Identity,
    at: Instant,
}

impl PunishmentCache {
    pub(super) fn new(clock: Arc<HubClock>) -> Self {
        let (active, checks, recent) = (HashMap::new(), HashMap::new(), VecDeque::new());
        Self { clock, state: Mutex::new(State { active, checks, recent, gap_at: Instant::now() }) }
    }

    /// The ban that keeps a checked player out, if there is one.
    pub fn ban(&self, player: Uuid) -> Option<Punishment> {
        self.find(player, PunishmentKind::Ban)
    }

    /// The mute of a player, if one is known.
    pub fn mute(&self, player: Uuid) -> Option<Punishment> {
        self.find(player, PunishmentKind::Mute)
    }

    /// True if a player may not chat: they are muted, or were never checked, so that a mute would be unknown.
    pub fn is_muted(&self, player: Uuid) -> bool {
        let is_checked = self.state.lock().checks.contains_key(&player);
        !is_checked || self.mute(player).is_some()
    }

    /// The punishments that are known to be active.
    pub fn all(&self) -> Vec<Punishment> {
        self.state.lock().active.values().cloned().collect()
    }

    pub(super) fn find_ban(&self, player: Uuid, identity: &Identity) -> Option<Punishment> {
        self.state.lock().find(player, identity, PunishmentKind::Ban, self.clock.now())
    }

    fn find(&self, player: Uuid, kind: PunishmentKind) -> Option<Punishment> {
        let identity = self.identity(player);
        self.state.lock().find(player, &identity, kind, self.clock.now())
    }

    /// True if a punishment applies to a player who was checked here.
    pub(super) fn concerns(&self, punishment: &Punishment, player: Uuid) -> bool {
        concerns(punishment, player, &self.identity(player))
    }

    pub(super) fn identity(&self, player: Uuid) -> Identity {
        self.state.lock().checks.get(&player).map(|check| check.identity.clone()).unwrap_or_default()
    }

    /// The hub answered, when asked at this time, that these are all active punishments of a player. An answer is dropped where
    /// the same was asked later and answered before.
    pub(super) fn checked(&self, player: Uuid, identity: Identity, found: Vec<Punishment>, asked_at: Instant) {
        let mut state = self.state.lock();
        let last = state.checks.get(&player);
        if last.is_some_and(|last| last.at > asked_at && last.identity == identity) {
            return;
        }
        state.active.retain(|_, known| !concerns(known, player, &identity));
        state.active.extend(found.into_iter().map(|punishment| (punishment.id, punishment)));
        state.checks.insert(player, Check { identity, at: asked_at });
        // Events since then may be newer than the answer.
        let recent: Vec<_> = state.recent.iter().filter(|(.., at)| *at >= asked_at).cloned().collect();
        for (punishment, is_active, _) in recent {
            state.apply(punishment, is_active);
        }
    }

    /// Applies a punishment of an event.
    pub(super) fn update(&self, punishment: Punishment, is_active: bool) {
        let mut state = self.state.lock();
        state.recent.push_back((punishment.clone(), is_active, Instant::now()));
        if state.recent.len() > RECENT {
            state.recent.pop_front();
        }
        state.apply(punishment, is_active);
    }

    /// Events may have been missed: only what is checked from now on is current.
    pub(super) fn gap(&self) {
        self.state.lock().gap_at = Instant::now();
    }

    /// True if a player was checked with this address since the last gap; without an address, with any.
    pub(super) fn is_current(&self, player: Uuid, ip: Option<&str>) -> bool {
        let state = self.state.lock();
        let check = state.checks.get(&player).filter(|check| check.at >= state.gap_at);
        check.is_some_and(|check| ip.is_none() || check.identity.ip.as_deref() == ip)
    }

    /// Bounds what is kept: forgets the older half of those who are not online.
    pub(super) fn prune(&self, is_online: impl Fn(&Uuid) -> bool) {
        let mut state = self.state.lock();
        if state.checks.len() > CAPACITY {
            let mut absent: Vec<_> = state.checks.iter().filter(|(player, _)| !is_online(player)).collect();
            absent.sort_unstable_by_key(|(_, check)| check.at);
            let oldest: Vec<_> = absent.iter().take(absent.len().div_ceil(2)).map(|(player, _)| **player).collect();
            for player in oldest {
                state.checks.remove(&player);
            }
        }
        if state.active.len() > CAPACITY {
            let mut ids: Vec<_> = state.active.keys().copied().collect();
            ids.sort_unstable();
            let newest = ids.split_off(ids.len() / 2);
            state.active.retain(|id, _| newest.binary_search(id).is_ok());
            // Dropping a ban is a gap: it must not make a banned player look unpunished.
            state.gap_at = Instant::now();
        }
    }
}

impl State {
    fn apply(&mut self, punishment: Punishment, is_active: bool) {
        if is_active {
            self.active.insert(punishment.id, punishment);
        } else {
            self.active.remove(&punishment.id);
        }
    }

    fn find(&self, player: Uuid, identity: &Identity, kind: PunishmentKind, now: i64) -> Option<Punishment> {
        let of_kind = self.active.values().filter(|punishment| punishment.kind == kind);
        let mut in_force = of_kind.filter(|punishment| punishment.expires_at.is_none_or(|end| end > now));
        in_force.find(|punishment| concerns(punishment, player, identity)).cloned()
    }
}

fn concerns(punishment: &Punishment, player: Uuid, identity: &Identity) -> bool {
    if punishment.player_uuid == Some(player) {
        return true;
    }
    let has_nobody = punishment.player_uuid.is_none();
    let is_name =
        |name: &String| identity.name.as_ref().is_some_and(|known| known.to_lowercase() == name.to_lowercase());
    if has_nobody && punishment.player_name.as_ref().is_some_and(is_name) {
        return true;
    }
    let is_of_address = punishment.ip_based || has_nobody && punishment.player_name.is_none();
    is_of_address && identity.ip.is_some() && identity.ip == punishment.ip_address
}
