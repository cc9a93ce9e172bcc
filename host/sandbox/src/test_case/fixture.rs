//! A host that answers from the data of a test case.

use super::store::TestStore;
use crate::contract::state::StateChanges;
use crate::contract::players::{Location, PermissionState, Punishment, PunishmentFilter};
use crate::contract::{HostError, PunishmentKind};
use crate::host::{BoxFuture, Host, HostAnswer, HostCall};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of listed players of one server or world.
const MAX_PLAYERS: usize = 200;
/// The contract counts balances in ten-thousandths.
const BALANCE_PARTS: f64 = 10_000.0;

/// The hub's data about the players, by UUID, and the content of the module's store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Fixtures {
    /// The module's store: texts that never expire.
    pub store: BTreeMap<String, String>,
    /// The module's state: texts that never expire.
    pub state: BTreeMap<String, String>,
    /// Resolved nodes, in any context and world.
    pub permissions: BTreeMap<String, BTreeMap<String, bool>>,
    /// By `name`, or by `game-mode/name`; in any period.
    pub statistics: BTreeMap<String, BTreeMap<String, f64>>,
    /// By currency, in its unit.
    pub balances: BTreeMap<String, BTreeMap<String, f64>>,
    /// By player, or by name for a record that was made by name.
    pub punishments: BTreeMap<String, Vec<PastPunishment>>,
    /// Locations of online players. They also determine the players on a candidate.
    pub online: BTreeMap<String, Location>,
}

/// A punishment of a player's record. Missing fields follow from the others and the time of the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PastPunishment {
    id: Option<u64>,
    #[serde(rename = "type")]
    kind: PunishmentKind,
    issued_at_ms: u64,
    duration_ms: Option<u64>,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    ip_based: bool,
    issuer_name: Option<String>,
    active: Option<bool>,
    #[serde(default)]
    revoked: bool,
    expired: Option<bool>,
}

impl PastPunishment {
    fn at(&self, now_ms: u64, place: usize) -> Punishment {
        let over = self.duration_ms.is_some_and(|duration| self.issued_at_ms.saturating_add(duration) <= now_ms);
        let kick = self.kind == PunishmentKind::Kick;
        let expired = self.expired.unwrap_or(over && !kick && !self.revoked);
        Punishment {
            id: self.id.unwrap_or(place as u64 + 1),
            kind: self.kind,
            reason: self.reason.clone(),
            issued_at_ms: self.issued_at_ms,
            duration_ms: self.duration_ms,
            ip_based: self.ip_based,
            issuer_name: self.issuer_name.clone(),
            active: self.active.unwrap_or(!kick && !self.revoked && !expired),
            revoked: self.revoked,
            expired,
        }
    }
}

/// Answers from [`Fixtures`]. Clones share the store.
#[derive(Clone)]
pub struct FixtureHost {
    fixtures: Arc<Fixtures>,
    store: Arc<Mutex<TestStore>>,
    state: Arc<Mutex<TestStore>>,
    now_ms: u64,
}

impl FixtureHost {
    /// A host with these fixtures.
    pub fn new(fixtures: Fixtures) -> Self {
        let of = |values| Arc::new(Mutex::new(TestStore::new(values)));
        let (store, state) = (of(&fixtures.store), of(&fixtures.state));
        Self { fixtures: Arc::new(fixtures), store, state, now_ms: 0 }
    }

    /// The same host at that time, which decides the expiry of its store's entries.
    #[must_use]
    pub fn at(&self, now_ms: u64) -> Self {
        Self { now_ms, ..self.clone() }
    }

    /// Applies what a call at that time wrote into `state`, for the calls after it.
    pub fn commit(&self, changes: &StateChanges, now_ms: u64) {
        self.state.lock().commit(&changes.writes, now_ms);
    }
}

impl Host for FixtureHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        let known = self.fixtures.find(call, self.now_ms).or_else(|| self.state.lock().read_state(call, self.now_ms));
        let answer = match known {
            Some(answer) => Ok(answer),
            None => self.store.lock().apply(call, self.now_ms),
        };
        Box::pin(std::future::ready(answer))
    }
}

impl Fixtures {
    /// Answers a call about players; `None` for any other.
    fn find(&self, call: &HostCall, now_ms: u64) -> Option<HostAnswer> {
        Some(match call {
            HostCall::Statistics { players, name, game_mode, .. } => {
                let of =
                    |player: &String| of(&self.statistics, player).and_then(|known| statistic(known, game_mode, name));
                HostAnswer::Statistics(players.iter().map(of).collect())
            }
            HostCall::Balance { player, currency } => {
                let balance = of(&self.balances, player).and_then(|known| known.get(currency));
                HostAnswer::Balance(balance.map(|amount| (amount * BALANCE_PARTS).round() as i64))
            }
            HostCall::Permission { player, node, .. } => {
                let decided = of(&self.permissions, player).and_then(|known| known.get(node));
                HostAnswer::Permission(match decided {
                    Some(true) => PermissionState::Granted,
                    Some(false) => PermissionState::Denied,
                    None => PermissionState::Undefined,
                })
            }
            HostCall::Punishments { player, filter } => HostAnswer::Punishments(self.record(player, *filter, now_ms)),
            HostCall::Online { player } => HostAnswer::Online(of(&self.online, player).cloned()),
            HostCall::PlayersOn { server_id, world_id } => {
                let there = self.online.iter().filter(|(_, location)| {
                    location.server_id == *server_id && (world_id.is_none() || location.world_id == *world_id)
                });
                HostAnswer::Players(there.map(|(player, _)| player.clone()).take(MAX_PLAYERS).collect())
            }
            HostCall::OnlinePlayers { after, limit } => {
                let players = self.online.keys().filter(|player| after.as_ref().is_none_or(|after| *player > after));
                HostAnswer::Players(players.take(*limit as usize).cloned().collect())
            }
            HostCall::StateGet { .. }
            | HostCall::StateList { .. }
            | HostCall::StoreGet { .. }
            | HostCall::StoreSet { .. }
            | HostCall::StoreIncrement { .. }
            | HostCall::StoreDelete { .. } => return None,
        })
    }

    /// A player's record, newest first.
    fn record(&self, player: &str, filter: PunishmentFilter, now_ms: u64) -> Vec<Punishment> {
        let all = of(&self.punishments, player).into_iter().flatten().enumerate();
        let mut record: Vec<_> = all
            .filter(|(_, past)| filter.since_ms.is_none_or(|since| past.issued_at_ms >= since))
            .filter(|(_, past)| filter.kind.is_none_or(|kind| past.kind == kind))
            .map(|(place, past)| past.at(now_ms, place))
            .collect();
        record.sort_by_key(|past| std::cmp::Reverse((past.issued_at_ms, past.id)));
        record.truncate(filter.limit as usize);
        record
    }
}

/// The entry of a player, by UUID or name in any letter case.
fn of<'a, T>(known: &'a BTreeMap<String, T>, player: &str) -> Option<&'a T> {
    let mut entries = known.iter();
    entries.find(|(key, _)| key.eq_ignore_ascii_case(player)).map(|(_, value)| value)
}

fn statistic(known: &BTreeMap<String, f64>, game_mode: &str, name: &str) -> Option<f64> {
    let plain = || known.get(name).filter(|_| game_mode == "global");
    known.get(&format!("{game_mode}/{name}")).or_else(plain).copied()
}
