//! Host calls of modules, answered by the components' services for one network and one module.

use hub_sandbox::contract::HostError;
use hub_sandbox::contract::players::{Location, Period, PermissionState, Punishment, PunishmentFilter};
use hub_sandbox::{BoxFuture, Host, HostAnswer, HostCall};
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use crate::app::{App, WeakApp};
use crate::clock::Millis;
use crate::economy::{self, Amount};
use crate::modules::service::key_value as store;
use crate::modules::store::key_value::Owner;
use crate::permissions;
use crate::punishments::{self, Identity};
use crate::values::{Identifier, Label, NetworkId};
use crate::{servers, statistics};

/// Maximum number of players listed for one server or world.
const MAX_PLAYERS: usize = 200;
/// Maximum size in bytes of one [`DryHost`]; the least recently used entry is evicted first.
const MAX_DRY_BYTES: u64 = 1 << 20;

/// Host of one module of one network.
pub(super) struct ModuleHost {
    /// Weak, because the app holds the chains, which hold this.
    app: WeakApp,
    network: NetworkId,
    module: String,
}

impl ModuleHost {
    pub(super) fn new(app: &App, network: NetworkId, module: &str) -> Self {
        Self { app: app.downgrade(), network, module: module.to_owned() }
    }

    async fn answer_call(&self, call: &HostCall) -> Result<HostAnswer, HostError> {
        hub_db::with_tenant(self.network.0, self.answer_as_tenant(call)).await
    }

    async fn answer_as_tenant(&self, call: &HostCall) -> Result<HostAnswer, HostError> {
        let app = self.app.upgrade().ok_or(HostError::Unavailable)?;
        let of = Owner { network: self.network, module: &self.module };
        Ok(match call {
            HostCall::StoreGet { key } => HostAnswer::Value(store::get(&app, of, key).await?),
            HostCall::StoreSet { key, value, ttl_ms } => {
                store::set(&app, of, key, value, *ttl_ms).await?;
                HostAnswer::Done
            }
            HostCall::StoreIncrement { key, by, ttl_ms } => {
                HostAnswer::Number(store::increment(&app, of, key, *by, *ttl_ms).await?)
            }
            HostCall::StoreDelete { key } => HostAnswer::Deleted(store::delete(&app, of, key).await?),
            HostCall::Punishments { player, filter } => {
                HostAnswer::Punishments(punishments(&app, self.network, player, filter).await?)
            }
            HostCall::Online { player } => HostAnswer::Online(online(&app, self.network, player)),
            HostCall::PlayersOn { server_id, world_id } => {
                let on = servers::service::players_on(&app, self.network, server_id, world_id.as_deref());
                HostAnswer::Players(on.iter().take(MAX_PLAYERS).map(ToString::to_string).collect())
            }
            HostCall::Permission { player, node, context, world } => {
                let (context, world) = (context.as_deref(), world.as_deref());
                HostAnswer::Permission(permission(&app, self.network, player, node, context, world).await?)
            }
            HostCall::Statistics { players, name, game_mode, period } => {
                HostAnswer::Statistics(statistics(&app, self.network, players, name, game_mode, *period).await?)
            }
            HostCall::Balance { player, currency } => {
                HostAnswer::Balance(balance(&app, self.network, player, currency).await?)
            }
        })
    }
}

/// A player's punishments, newest first.
async fn punishments(
    app: &App,
    network: NetworkId,
    player: &str,
    filter: &PunishmentFilter,
) -> Result<Vec<Punishment>, HostError> {
    // PostgreSQL's text cannot hold it, so no name contains one.
    if player.contains('\0') {
        return Ok(vec![]);
    }
    let identity = match player.parse() {
        Ok(id) => Identity { player: Some(id), ..Identity::default() },
        Err(_) => Identity { name: Some(player.to_owned()), ..Identity::default() },
    };
    let since = filter.since_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
    let (kind, limit) = (filter.kind.map(Into::into), i64::from(filter.limit));
    let filter =
        punishments::PunishmentFilter { active_only: false, since, kind, limit, offset: 0, prefers_bans: false };
    let record = punishments::service::find(app, network, &identity, &filter).await.map_err(|error| {
        tracing::warn!(%network, %error, "could not read a player's punishments for a module");
        HostError::Unavailable
    })?;
    let now = app.clock.now();
    Ok(record.iter().map(|punishment| punishment.for_module(now)).collect())
}

/// Checks a player's permission; undefined for an invalid UUID.
async fn permission(
    app: &App,
    network: NetworkId,
    player: &str,
    node: &str,
    context: Option<&str>,
    world: Option<&str>,
) -> Result<PermissionState, HostError> {
    let Ok(player) = player.parse() else { return Ok(PermissionState::Undefined) };
    let context = context.map(str::parse).transpose().map_err(HostError::Invalid)?;
    let world = world.map(str::parse).transpose().map_err(HostError::Invalid)?;
    let may = permissions::service::check(app, network, player, node, context.as_ref(), world.as_ref()).await;
    let may = may.map_err(|error| {
        tracing::warn!(%network, %error, "could not read a player's permissions for a module");
        HostError::Unavailable
    })?;
    Ok(may
        .map_or(PermissionState::Undefined, |may| if may { PermissionState::Granted } else { PermissionState::Denied }))
}

/// One statistic of each player; none for an invalid UUID, statistic name or game mode.
async fn statistics(
    app: &App,
    network: NetworkId,
    players: &[String],
    name: &str,
    game_mode: &str,
    period: Period,
) -> Result<Vec<Option<f64>>, HostError> {
    let (Ok(name), Ok(game_mode)) = (name.parse(), Label::try_from(game_mode.to_owned())) else {
        return Ok(vec![None; players.len()]);
    };
    let players: Vec<_> = players.iter().map(|player| player.parse().ok()).collect();
    let found = statistics::service::of_players(app, network, &players, game_mode, name, period.into()).await;
    found.map_err(|error| unavailable(network, &error))
}

/// A player's balance in ten-thousandths; none for an invalid UUID or an unknown currency.
async fn balance(app: &App, network: NetworkId, player: &str, currency: &str) -> Result<Option<i64>, HostError> {
    let (Ok(player), Ok(currency)) = (player.parse(), currency.parse()) else { return Ok(None) };
    let balance = economy::service::balance(app, network, &crate::owner::Owner::player(player), &currency).await;
    Ok(balance.map_err(|error| unavailable(network, &error))?.map(Amount::ten_thousandths))
}

fn unavailable(network: NetworkId, error: &hub_db::Error) -> HostError {
    tracing::warn!(%network, %error, "could not read data requested by a module");
    HostError::Unavailable
}

/// Location of a player; none for an invalid UUID.
fn online(app: &App, network: NetworkId, player: &str) -> Option<Location> {
    let location = servers::service::online_player(app, network, player.parse().ok()?)?;
    Some(Location {
        server_id: location.server_id.into_string(),
        server_type: location.server_type.into_string(),
        world_id: location.world_id.map(Identifier::into_string),
    })
}

impl Host for ModuleHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        Box::pin(self.answer_call(call))
    }
}

/// Reads like [`ModuleHost`] and keeps writes to itself, so that dry runs and shadows have no effect.
pub(super) struct DryHost {
    host: ModuleHost,
    overlay: Cache<String, OverlayEntry>,
    /// Held during an increment.
    incrementing: tokio::sync::Mutex<()>,
}

#[derive(Clone)]
struct OverlayEntry {
    /// None for a deleted key.
    value: Option<String>,
    expires_at: Option<Millis>,
}

impl DryHost {
    pub(super) fn new(app: &App, network: NetworkId, module: &str) -> Self {
        let weigh = |key: &String, entry: &OverlayEntry| {
            let bytes = key.len() + entry.value.as_ref().map_or(0, String::len) + size_of::<OverlayEntry>();
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let overlay =
            Cache::builder().max_capacity(MAX_DRY_BYTES).weigher(weigh).eviction_policy(EvictionPolicy::lru()).build();
        Self { host: ModuleHost::new(app, network, module), overlay, incrementing: tokio::sync::Mutex::default() }
    }

    fn now(&self) -> Result<Millis, HostError> {
        Ok(self.host.app.upgrade().ok_or(HostError::Unavailable)?.clock.now())
    }

    async fn read(&self, key: &str) -> Result<Option<OverlayEntry>, HostError> {
        let now = self.now()?;
        if let Some(entry) = self.overlay.get(key) {
            let live = entry.value.is_some() && entry.expires_at.is_none_or(|at| at > now);
            return Ok(Some(entry).filter(|_| live));
        }
        match self.host.answer_call(&HostCall::StoreGet { key: key.to_owned() }).await? {
            HostAnswer::Value(value) => Ok(value.map(|value| OverlayEntry { value: Some(value), expires_at: None })),
            _ => Err(HostError::Unavailable),
        }
    }

    fn write(&self, key: &str, value: Option<String>, expires_at: Option<Millis>) {
        self.overlay.insert(key.to_owned(), OverlayEntry { value, expires_at });
    }

    async fn answer_call(&self, call: &HostCall) -> Result<HostAnswer, HostError> {
        let expiry = |ttl_ms: &Option<u64>| Ok::<_, HostError>(store::expiry(self.now()?, *ttl_ms));
        Ok(match call {
            HostCall::StoreGet { key } => HostAnswer::Value(self.read(key).await?.and_then(|it| it.value)),
            HostCall::StoreSet { key, value, ttl_ms } => {
                self.write(key, Some(value.clone()), expiry(ttl_ms)?);
                HostAnswer::Done
            }
            HostCall::StoreIncrement { key, by, ttl_ms } => {
                let _incrementing = self.incrementing.lock().await;
                let before = self.read(key).await?;
                let expires_at = before.as_ref().map_or_else(|| expiry(ttl_ms), |before| Ok(before.expires_at))?;
                let sum = store::sum(before.and_then(|it| it.value).as_deref(), *by)?;
                self.write(key, Some(sum.to_string()), expires_at);
                HostAnswer::Number(sum)
            }
            HostCall::StoreDelete { key } => {
                let existed = self.read(key).await?.is_some();
                self.write(key, None, None);
                HostAnswer::Deleted(existed)
            }
            _ => self.host.answer_call(call).await?,
        })
    }
}

impl Host for DryHost {
    fn answer<'a>(&'a self, call: &'a HostCall) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        Box::pin(self.answer_call(call))
    }
}
