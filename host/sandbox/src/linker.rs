//! The host functions with the contract's names, for each version. Each only translates; their behaviour is in
//! `state.rs`.

use crate::contract::players::{Location, Period, PermissionState, Punishment, PunishmentFilter};
use crate::contract::{HostError, LogLevel, interface_name};
use crate::host::{HostAnswer, HostCall};
use crate::state::CallState;
use crate::state_overlay::{ListRange, StateOverlay};
use crate::texts::CandidateText;
use wasmtime::component::{ComponentType, Linker, Lower};
use wasmtime::{Result, StoreContextMut};

type Cx<'a> = StoreContextMut<'a, CallState>;
type Answer<T, E> = Result<(Result<T, E>,)>;

/// A version's type of [`HostError`].
pub(crate) trait VersionError: From<HostError> + ComponentType + Lower + Send + Sync + 'static {}

impl<E: From<HostError> + ComponentType + Lower + Send + Sync + 'static> VersionError for E {}

/// The functions of `log`.
pub(crate) fn log(linker: &mut Linker<CallState>, version: &str) -> Result<()> {
    let mut log = linker.instance(&interface_name("log", version))?;
    log.func_wrap("write", |mut cx: Cx<'_>, (level, message): (LogLevel, String)| {
        cx.data_mut().log(level, message);
        Ok(())
    })
}

/// The functions of `store`.
pub(crate) fn store<E: VersionError>(linker: &mut Linker<CallState>, version: &str) -> Result<()> {
    let mut store = linker.instance(&interface_name("store", version))?;
    store.func_wrap("get", |mut cx: Cx<'_>, (key,): (String,)| {
        call_host::<_, E>(&mut cx, HostCall::StoreGet { key }, |answer| match answer {
            HostAnswer::Value(value) => Some(value),
            _ => None,
        })
    })?;
    store.func_wrap("set", |mut cx: Cx<'_>, (key, value, ttl_ms): (String, String, Option<u64>)| {
        let call = HostCall::StoreSet { key, value, ttl_ms };
        call_host::<_, E>(&mut cx, call, |answer| match answer {
            HostAnswer::Done => Some(()),
            _ => None,
        })
    })?;
    store.func_wrap("increment", |mut cx: Cx<'_>, (key, by, ttl_ms): (String, i64, Option<u64>)| {
        let call = HostCall::StoreIncrement { key, by, ttl_ms };
        call_host::<_, E>(&mut cx, call, |answer| match answer {
            HostAnswer::Number(sum) => Some(sum),
            _ => None,
        })
    })?;
    store.func_wrap("delete", |mut cx: Cx<'_>, (key,): (String,)| {
        call_host::<_, E>(&mut cx, HostCall::StoreDelete { key }, |answer| match answer {
            HostAnswer::Deleted(deleted) => Some(deleted),
            _ => None,
        })
    })
}

type StatisticsParams = (Vec<String>, String, Option<String>, Period);
type PermissionParams = (String, String, Option<String>, Option<String>);

/// The functions of `players`.
pub(crate) fn players<E: VersionError>(linker: &mut Linker<CallState>, version: &str) -> Result<()> {
    let mut players = linker.instance(&interface_name("players", version))?;
    players.func_wrap("statistics", |mut cx: Cx<'_>, (players, name, game_mode, period): StatisticsParams| {
        let asked = players.len();
        let game_mode = game_mode.unwrap_or_else(|| "global".into());
        let call = HostCall::Statistics { players, name, game_mode, period };
        call_host::<_, E>(&mut cx, call, |answer| match answer {
            HostAnswer::Statistics(values) if values.len() == asked => Some(values),
            _ => None,
        })
    })?;
    players.func_wrap("balance", |mut cx: Cx<'_>, (player, currency): (String, String)| {
        let call = HostCall::Balance { player, currency };
        call_host::<_, E>(&mut cx, call, |answer| match answer {
            HostAnswer::Balance(balance) => Some(balance),
            _ => None,
        })
    })?;
    players.func_wrap(
        "permission",
        |mut cx: Cx<'_>, (player, node, context, world): PermissionParams| -> Answer<PermissionState, E> {
            let call = HostCall::Permission { player, node, context, world };
            call_host::<_, E>(&mut cx, call, |answer| match answer {
                HostAnswer::Permission(state) => Some(state),
                _ => None,
            })
        },
    )?;
    players.func_wrap(
        "punishments",
        |mut cx: Cx<'_>, (player, filter): (String, PunishmentFilter)| -> Answer<Vec<Punishment>, E> {
            let call = HostCall::Punishments { player, filter };
            call_host::<_, E>(&mut cx, call, |answer| match answer {
                HostAnswer::Punishments(punishments) => Some(punishments),
                _ => None,
            })
        },
    )?;
    players.func_wrap("online", |mut cx: Cx<'_>, (player,): (String,)| -> Answer<Option<Location>, E> {
        call_host::<_, E>(&mut cx, HostCall::Online { player }, |answer| match answer {
            HostAnswer::Online(location) => Some(location),
            _ => None,
        })
    })
}

/// The function of `players` that came with 1.1.
pub(crate) fn online_players<E: VersionError>(linker: &mut Linker<CallState>, version: &str) -> Result<()> {
    let mut players = linker.instance(&interface_name("players", version))?;
    players.func_wrap("online-players", |mut cx: Cx<'_>, (after, limit): (Option<String>, u32)| {
        call_host::<_, E>(&mut cx, HostCall::OnlinePlayers { after, limit }, |answer| match answer {
            HostAnswer::Players(players) => Some(players),
            _ => None,
        })
    })
}

/// The functions of `candidates`.
pub(crate) fn candidates<E: VersionError>(linker: &mut Linker<CallState>, version: &str) -> Result<()> {
    let mut candidates = linker.instance(&interface_name("candidates", version))?;
    for (name, text) in [
        ("server-id", CandidateText::ServerId),
        ("server-type", CandidateText::ServerType),
        ("display-name", CandidateText::DisplayName),
        ("world-id", CandidateText::WorldId),
        ("world-type", CandidateText::WorldType),
        ("state-name", CandidateText::StateName),
    ] {
        candidates.func_wrap(name, move |cx: Cx<'_>, (candidate,): (u32,)| Ok((cx.data().text(candidate, text)?,)))?;
    }
    candidates.func_wrap("region-name", |cx: Cx<'_>, (region,): (u16,)| Ok((cx.data().region_name(region)?,)))?;
    candidates.func_wrap("region-number", |cx: Cx<'_>, (name,): (String,)| Ok((cx.data().region_number(&name)?,)))?;
    candidates.func_wrap("players", |mut cx: Cx<'_>, (candidate,): (u32,)| {
        let server_id = cx.data().text(candidate, CandidateText::ServerId)?;
        let world_id = Some(cx.data().text(candidate, CandidateText::WorldId)?).filter(|id| !id.is_empty());
        let call = HostCall::PlayersOn { server_id, world_id };
        call_host::<_, E>(&mut cx, call, |answer| match answer {
            HostAnswer::Players(players) => Some(players),
            _ => None,
        })
    })
}

/// The functions of `state`, since 1.1.
pub(crate) fn state<E: VersionError>(linker: &mut Linker<CallState>, version: &str) -> Result<()> {
    let mut state = linker.instance(&interface_name("state", version))?;
    state.func_wrap("get", |mut cx: Cx<'_>, (key,): (String,)| {
        let values = cx.data_mut().state_values(&[key])?;
        Ok((values.map(|values| values.into_iter().next().flatten()).map_err(E::from),))
    })?;
    state.func_wrap("get-many", |mut cx: Cx<'_>, (keys,): (Vec<String>,)| {
        Ok((cx.data_mut().state_values(&keys)?.map_err(E::from),))
    })?;
    state.func_wrap("list", |mut cx: Cx<'_>, (prefix, after, limit): (String, Option<String>, u32)| {
        let range = ListRange { prefix, after, limit };
        Ok((cx.data_mut().state_entries(&range)?.map_err(E::from),))
    })?;
    state.func_wrap("set", |mut cx: Cx<'_>, (key, value, ttl_ms): (String, String, Option<u64>)| {
        write::<E>(&mut cx, key, Some(value), ttl_ms, |overlay, key, value| {
            overlay.set(key, value.unwrap_or_default(), ttl_ms);
            Ok(())
        })
    })?;
    state.func_wrap("increment", |mut cx: Cx<'_>, (key, by, ttl_ms): (String, i64, Option<u64>)| {
        write::<E>(&mut cx, key, None, ttl_ms, |overlay, key, _| overlay.increment(key, by, ttl_ms))
    })?;
    state.func_wrap("delete", |mut cx: Cx<'_>, (key,): (String,)| {
        write::<E>(&mut cx, key, None, None, |overlay, key, _| {
            overlay.delete(key);
            Ok(())
        })
    })
}

/// Checks and buffers a write of `state`.
fn write<E: VersionError>(
    cx: &mut Cx<'_>,
    key: String,
    value: Option<String>,
    ttl_ms: Option<u64>,
    put: impl FnOnce(&mut StateOverlay, String, Option<String>) -> std::result::Result<(), HostError>,
) -> Answer<(), E> {
    let state = cx.data_mut();
    let refused = state.check_state_write(&key, value.as_deref().unwrap_or_default(), ttl_ms)?;
    let written = refused.and_then(|()| put(&mut state.overlay, key, value));
    Ok((written.map_err(E::from),))
}

fn call_host<T, E: VersionError>(
    cx: &mut Cx<'_>,
    call: HostCall,
    pick: impl FnOnce(HostAnswer) -> Option<T>,
) -> Answer<T, E> {
    Ok((cx.data_mut().call_host(call, pick)?.map_err(E::from),))
}
