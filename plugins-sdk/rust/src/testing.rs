//! A stand-in for the hub in native unit tests: set its data, call your module, check its effects.
//!
//! ```
//! use network_hub_module::{store, testing};
//!
//! testing::hub(|hub| hub.regions = vec!["UNKNOWN".into(), "EUROPE".into()]);
//! store::set("seen", "1", None).unwrap();
//! assert_eq!(testing::hub(|hub| hub.store["seen"].0.clone()), "1");
//! ```
//!
//! [`line`], [`proposal`], [`attempt`], [`change`], [`ticket`], [`request`] and [`candidate`] make inputs; change the fields the test is about.
//!
//! There is one hub per thread, and each test runs on a thread of its own, so each starts with an empty one.

use crate::chat::Line;
use crate::economy::{Change, ChangeKind, Operation};
use crate::endpoints::{Caller, CallerKind, Request};
use crate::events::Event;
use crate::login::Attempt;
use crate::matchmaking::{Candidate, GameState, MatchRequest};
use crate::players::{Location, PermissionState, Punishment};
use crate::punishment::{Proposal, Terms};
use crate::queue::Ticket;
use crate::schedules::Tick;
use crate::timers::Timer;
use crate::{CallContext, HostError, PlayerRef, PunishmentKind};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The data of the stand-in, by the arguments of host calls.
#[derive(Debug, Default)]
pub struct Hub {
    /// Fails every data call with this error, if set.
    pub failing: Option<HostError>,
    /// Data calls since the last [`context`]. Like on the hub, one more than 8 ends the call, in handlers one more than 32.
    pub data_calls: u32,
    /// True after [`handler_context`]: the call is that of a handler, which has the state and no store.
    pub is_handler: bool,
    /// Current time, by which keys of the store expire. [`context_at`] sets it too.
    pub now_ms: u64,
    /// The store: values, with their expiry.
    pub store: BTreeMap<String, (String, Option<u64>)>,
    /// The state, in the same form. Writes are there at once: a handler that fails in a test leaves them.
    pub state: BTreeMap<String, (String, Option<u64>)>,
    /// Statistics by player and name, for any game mode and period.
    pub statistics: BTreeMap<(String, String), f64>,
    /// Balances by player and currency, in ten-thousandths.
    pub balances: BTreeMap<(String, String), i64>,
    /// Permissions by player and node.
    pub permissions: BTreeMap<(String, String), PermissionState>,
    /// Punishments by player, newest first.
    pub punishments: BTreeMap<String, Vec<Punishment>>,
    /// Locations of online players.
    pub online: BTreeMap<String, Location>,
    /// Texts of candidates, by index.
    pub candidates: Vec<CandidateDetails>,
    /// Names of regions; a region's number is its position.
    pub regions: Vec<String>,
    /// Log lines of the module.
    pub log: Vec<String>,
}

/// Texts of a candidate, and the players on it.
#[derive(Debug, Default, Clone)]
#[allow(missing_docs)] // Documented in `candidates`.
pub struct CandidateDetails {
    pub server_id: String,
    pub server_type: String,
    pub display_name: String,
    pub world_id: String,
    pub world_type: String,
    pub state_name: String,
    pub players: Vec<String>,
}

thread_local! {
    static HUB: RefCell<Hub> = RefCell::default();
}

/// Reads or changes the data of this thread's hub.
pub fn hub<R>(f: impl FnOnce(&mut Hub) -> R) -> R {
    HUB.with_borrow_mut(f)
}

/// A call's context with this configuration, at time 0.
pub fn context(config: &str) -> CallContext {
    context_at(0, config)
}

/// A call's context with this configuration at this time, which is the hub's time from now on.
pub fn context_at(now_ms: u64, config: &str) -> CallContext {
    hub(|hub| {
        hub.now_ms = now_ms;
        hub.data_calls = 0;
        hub.is_handler = false;
    });
    CallContext {
        call_id: "test".into(),
        network_id: "test".into(),
        now_ms,
        seed: 0,
        config: config.into(),
        version: 1,
        attempt: 1,
        cause: None,
        depth: 0,
        root_id: "test".into(),
    }
}

/// The context of a handler's, a schedule's or a timer's call with this configuration at this time.
pub fn handler_context(now_ms: u64, config: &str) -> CallContext {
    let context = context_at(now_ms, config);
    hub(|hub| hub.is_handler = true);
    context
}

/// An event of this type about the [`player`], with these fields: the text of one JSON object.
pub fn event(kind: &str, data: &str) -> Event {
    Event {
        id: "test".into(),
        kind: kind.into(),
        at_ms: hub(|hub| hub.now_ms),
        key: player().uuid,
        player_uuid: Some(player().uuid),
        player_name: Some(player().name),
        server_id: Some("lobby-1".into()),
        data: data.into(),
    }
}

/// A signed POST to this endpoint with this body, the text of JSON.
pub fn endpoint_request(endpoint: &str, body: &str) -> Request {
    Request {
        endpoint: endpoint.into(),
        method: "POST".into(),
        path: endpoint.into(),
        parameters: vec![],
        query: vec![],
        headers: vec![("content-type".into(), "application/json".into())],
        body: body.into(),
        dedupe: None,
        caller: Caller { kind: CallerKind::Signed, id: String::new(), servers: vec![] },
        address_hash: "test".into(),
        address: None,
    }
}

/// A tick of this schedule that is due at the hub's time.
pub fn tick(schedule: &str) -> Tick {
    Tick { schedule: schedule.into(), due_at_ms: hub(|hub| hub.now_ms), missed: 0, manual: false }
}

/// A timer of this key with this payload, the text of one JSON value, at the hub's time.
pub fn timer(key: &str, payload: &str) -> Timer {
    Timer { key: key.into(), at_ms: hub(|hub| hub.now_ms), payload: payload.into() }
}

/// The player of all inputs: UUID `p`, name `Steve`.
pub fn player() -> PlayerRef {
    PlayerRef { uuid: "p".into(), name: "Steve".into() }
}

/// A line of the [`player`]'s on the server `lobby-1` of the type `lobby`.
pub fn line(message: &str) -> Line {
    Line {
        player: player(),
        message: message.into(),
        server_id: "lobby-1".into(),
        server_type: "lobby".into(),
        world: None,
        rank: None,
    }
}

/// A punishment of the [`player`] for spam, for a minute, without an issuer.
pub fn proposal(kind: PunishmentKind) -> Proposal {
    Proposal {
        player_uuid: Some(player().uuid),
        player_name: Some(player().name),
        terms: Terms { kind, duration_ms: Some(60_000), reason: "spam".into() },
        ip_based: false,
        issuer_uuid: None,
        issuer_name: None,
    }
}

/// The [`player`], who wants to join `lobby-1` from Europe and has been there before.
pub fn attempt() -> Attempt {
    Attempt {
        player: player(),
        ip_hash: Some("b1946ac9".into()),
        region: "EUROPE".into(),
        server_id: "lobby-1".into(),
        first_join: false,
    }
}

/// A single change of the [`player`]'s `coins`, in ten-thousandths, on `lobby-1`.
pub fn change(amount: i64) -> Change {
    let operation =
        Operation { owner_type: "player".into(), owner_key: player().uuid, currency: "coins".into(), amount };
    Change { kind: ChangeKind::Modify, operations: vec![operation], reason: None, server_id: Some("lobby-1".into()) }
}

/// A ticket of the [`player`] alone, for a `lobby`.
pub fn ticket() -> Ticket {
    Ticket {
        player: player(),
        members: Vec::new(),
        server_type: "lobby".into(),
        world_type: None,
        region: Some("EUROPE".into()),
    }
}

/// A request of the [`player`], in region 0, for a `lobby`.
pub fn request() -> MatchRequest {
    MatchRequest {
        player_uuid: Some(player().uuid),
        player_name: Some(player().name),
        region: 0,
        server_type: "lobby".into(),
        world_type: None,
        affinity_game_id: None,
        affinity_owner_scope: None,
        affinity_owner_id: None,
    }
}

/// An empty candidate for 16 players in region 0, with an idle game.
pub fn candidate(index: u32) -> Candidate {
    Candidate {
        index,
        region: 0,
        state: GameState::Idle,
        affinity: false,
        current_players: 0,
        max_players: 16,
        free_slots: 16,
        players_to_start: 0,
        players_needed: 0,
    }
}

/// The host functions, answered by this thread's hub.
pub(crate) mod host {
    use super::{Hub, hub};
    use crate::HostError;
    use std::collections::BTreeMap;

    /// Data calls of one call of a module.
    const DATA_CALLS: u32 = 8;
    /// Data calls of one call of a handler.
    const HANDLER_DATA_CALLS: u32 = 32;

    fn data<T>(f: impl FnOnce(&mut Hub) -> Result<T, HostError>) -> Result<T, HostError> {
        hub(|hub| {
            hub.data_calls += 1;
            let most = if hub.is_handler { HANDLER_DATA_CALLS } else { DATA_CALLS };
            assert!(hub.data_calls <= most, "more than {most} data calls in one call");
            match &hub.failing {
                Some(error) => Err(error.clone()),
                None => f(hub),
            }
        })
    }

    pub(crate) mod log {
        use crate::log::Level;

        pub(crate) fn write(level: Level, message: &str) {
            super::hub(|hub| hub.log.push(format!("{level:?}: {message}")));
        }
    }

    pub(crate) mod store {
        use super::{HostError, Hub, data, live};

        pub(crate) fn get(key: &str) -> Result<Option<String>, HostError> {
            of_override(|hub| Ok(live(&hub.store, hub.now_ms, key).map(|(value, _)| value)))
        }

        pub(crate) fn set(key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), HostError> {
            of_override(|hub| {
                let expires = ttl_ms.map(|ttl| hub.now_ms + ttl);
                hub.store.insert(key.into(), (value.into(), expires));
                Ok(())
            })
        }

        pub(crate) fn increment(key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, HostError> {
            of_override(|hub| super::add(&mut hub.store, hub.now_ms, key, by, ttl_ms))
        }

        pub(crate) fn delete(key: &str) -> Result<bool, HostError> {
            of_override(|hub| {
                let found = live(&hub.store, hub.now_ms, key).is_some();
                hub.store.remove(key);
                Ok(found)
            })
        }

        fn of_override<T>(f: impl FnOnce(&mut Hub) -> Result<T, HostError>) -> Result<T, HostError> {
            data(|hub| if hub.is_handler { Err(HostError::Unavailable) } else { f(hub) })
        }
    }

    pub(crate) mod state {
        use super::{HostError, Hub, data, live};
        use crate::state::Entry;

        pub(crate) fn get(key: &str) -> Result<Option<String>, HostError> {
            data(|hub| Ok(live(&hub.state, hub.now_ms, key).map(|(value, _)| value)))
        }

        pub(crate) fn get_many(keys: &[String]) -> Result<Vec<Option<String>>, HostError> {
            data(|hub| Ok(keys.iter().map(|key| live(&hub.state, hub.now_ms, key).map(|(value, _)| value)).collect()))
        }

        pub(crate) fn list(prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<Entry>, HostError> {
            data(|hub| {
                let keys = hub.state.keys().filter(|key| key.starts_with(prefix));
                let keys = keys.filter(|key| after.is_none_or(|after| key.as_str() > after));
                let entry = |key: &String| {
                    live(&hub.state, hub.now_ms, key).map(|(value, _)| Entry { key: key.clone(), value })
                };
                Ok(keys.filter_map(entry).take(limit as usize).collect())
            })
        }

        pub(crate) fn set(key: &str, value: &str, ttl_ms: Option<u64>) -> Result<(), HostError> {
            of_handler(|hub| {
                let expires = ttl_ms.map(|ttl| hub.now_ms + ttl);
                hub.state.insert(key.into(), (value.into(), expires));
                Ok(())
            })
        }

        pub(crate) fn increment(key: &str, by: i64, ttl_ms: Option<u64>) -> Result<(), HostError> {
            of_handler(|hub| super::add(&mut hub.state, hub.now_ms, key, by, ttl_ms).map(drop))
        }

        pub(crate) fn delete(key: &str) -> Result<(), HostError> {
            of_handler(|hub| {
                hub.state.remove(key);
                Ok(())
            })
        }

        fn of_handler<T>(f: impl FnOnce(&mut Hub) -> Result<T, HostError>) -> Result<T, HostError> {
            let refused = || HostError::Invalid("an override can read `state`, but not write it".into());
            data(|hub| if hub.is_handler { f(hub) } else { Err(refused()) })
        }
    }

    /// Values with their expiry.
    type Values = BTreeMap<String, (String, Option<u64>)>;

    fn live(values: &Values, now_ms: u64, key: &str) -> Option<(String, Option<u64>)> {
        let entry = values.get(key)?;
        entry.1.is_none_or(|expires| now_ms < expires).then(|| entry.clone())
    }

    fn add(values: &mut Values, now_ms: u64, key: &str, by: i64, ttl_ms: Option<u64>) -> Result<i64, HostError> {
        let created = (String::from("0"), ttl_ms.map(|ttl| now_ms + ttl));
        let (value, expires) = live(values, now_ms, key).unwrap_or(created);
        let sum = value.parse::<i64>().ok().and_then(|number| number.checked_add(by));
        let sum = sum.ok_or_else(|| HostError::Invalid("not a number".into()))?;
        values.insert(key.into(), (sum.to_string(), expires));
        Ok(sum)
    }

    pub(crate) mod players {
        use super::{HostError, data};
        use crate::players::{Location, Period, PermissionState, Punishment, PunishmentFilter};

        pub(crate) fn statistics(
            players: &[String],
            name: &str,
            _game_mode: Option<&str>,
            _period: Period,
        ) -> Result<Vec<Option<f64>>, HostError> {
            data(|hub| {
                if players.len() > 100 {
                    return Err(HostError::Invalid("more than 100 players".into()));
                }
                let value = |player: &String| hub.statistics.get(&(player.clone(), name.into())).copied();
                Ok(players.iter().map(value).collect())
            })
        }

        pub(crate) fn balance(player: &str, currency: &str) -> Result<Option<i64>, HostError> {
            data(|hub| Ok(hub.balances.get(&(player.into(), currency.into())).copied()))
        }

        pub(crate) fn permission(
            player: &str,
            node: &str,
            _context: Option<&str>,
            _world: Option<&str>,
        ) -> Result<PermissionState, HostError> {
            data(|hub| {
                let state = hub.permissions.get(&(player.into(), node.into()));
                Ok(state.copied().unwrap_or(PermissionState::Undefined))
            })
        }

        pub(crate) fn punishments(player: &str, filter: PunishmentFilter) -> Result<Vec<Punishment>, HostError> {
            data(|hub| {
                let all = hub.punishments.get(player).map(Vec::as_slice).unwrap_or_default();
                let wanted = all.iter().filter(|punishment| {
                    filter.since_ms.is_none_or(|since| punishment.issued_at_ms >= since)
                        && filter.kind.is_none_or(|kind| punishment.kind == kind)
                });
                Ok(wanted.take(filter.limit as usize).cloned().collect())
            })
        }

        pub(crate) fn online(player: &str) -> Result<Option<Location>, HostError> {
            data(|hub| Ok(hub.online.get(player).cloned()))
        }
    }

    pub(crate) mod candidates {
        use super::super::CandidateDetails;
        use super::{HostError, data, hub};

        #[allow(clippy::expect_used)] // A wrong index ends the call, as on the hub.
        fn text(candidate: u32, pick: impl FnOnce(&CandidateDetails) -> &String) -> String {
            hub(|hub| {
                let found = hub.candidates.get(candidate as usize);
                pick(found.expect("no such candidate in this call")).clone()
            })
        }

        pub(crate) fn server_id(candidate: u32) -> String {
            text(candidate, |candidate| &candidate.server_id)
        }

        pub(crate) fn server_type(candidate: u32) -> String {
            text(candidate, |candidate| &candidate.server_type)
        }

        pub(crate) fn display_name(candidate: u32) -> String {
            text(candidate, |candidate| &candidate.display_name)
        }

        pub(crate) fn world_id(candidate: u32) -> String {
            text(candidate, |candidate| &candidate.world_id)
        }

        pub(crate) fn world_type(candidate: u32) -> String {
            text(candidate, |candidate| &candidate.world_type)
        }

        pub(crate) fn state_name(candidate: u32) -> String {
            text(candidate, |candidate| &candidate.state_name)
        }

        #[allow(clippy::expect_used)] // A wrong number ends the call, as on the hub.
        pub(crate) fn region_name(region: u16) -> String {
            hub(|hub| {
                let name = hub.regions.get(usize::from(region));
                name.expect("no such region in this call").clone()
            })
        }

        pub(crate) fn region_number(name: &str) -> Option<u16> {
            hub(|hub| {
                let position = hub.regions.iter().position(|region| region.eq_ignore_ascii_case(name))?;
                u16::try_from(position).ok()
            })
        }

        pub(crate) fn players(candidate: u32) -> Result<Vec<String>, HostError> {
            data(|hub| {
                let found = hub.candidates.get(candidate as usize);
                Ok(found.map(|candidate| candidate.players.clone()).unwrap_or_default())
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store;

    #[test]
    #[should_panic(expected = "more than 8 data calls")]
    fn a_call_has_eight_data_calls() {
        for _ in 0..2 {
            context("{}");
            (0..8).for_each(|_| drop(store::get("k")));
        }
        drop(store::get("k"));
    }

    #[test]
    fn a_counter_keeps_the_expiry_it_was_created_with() {
        context_at(1000, "{}");
        assert_eq!(store::increment("k", 2, Some(100)), Ok(2));
        context_at(1099, "{}");
        assert_eq!(store::increment("k", 2, Some(100)), Ok(4));
        context_at(1100, "{}");
        assert_eq!(store::get("k"), Ok(None));
        assert_eq!(store::increment("k", 2, None), Ok(2));
        assert_eq!(store::delete("k"), Ok(true));
        assert_eq!(store::delete("k"), Ok(false));
    }

    #[test]
    fn a_handler_has_the_state_and_an_override_the_store() {
        use crate::state;
        let _ = handler_context(0, "{}");
        assert_eq!(store::get("k"), Err(HostError::Unavailable));
        state::increment("k", 2, Some(5)).unwrap();
        (0..20).for_each(|_| drop(state::get("k")));
        assert_eq!(state::list("", None, 9).unwrap().len(), 1);
        let _ = context_at(4, "{}");
        assert_eq!(state::get("k"), Ok(Some("2".into())));
        assert!(matches!(state::set("k", "v", None), Err(HostError::Invalid(_))));
        let _ = context_at(5, "{}");
        assert_eq!(state::get("k"), Ok(None));
    }
}
