//! The host calls of modules that read players' data, answered by the components that have it.

use futures_util::future::FutureExt as _;
use hub_sandbox::contract::HostError;
use hub_sandbox::contract::players::{Location, Period, PermissionState, Punishment, PunishmentFilter};
use hub_sandbox::{BoxFuture, HostAnswer, HostCall};

use crate::app::App;
use crate::economy::{self, Amount};
use crate::modules::ModuleData;
use crate::owner::Owner;
use crate::permissions;
use crate::punishments::{self, Identity};
use crate::values::{Identifier, Label, NetworkId};
use crate::{presence, statistics};

/// The most players that are named of one server or world.
const MAX_PLAYERS: usize = 200;

/// The data of the game's components.
pub(crate) struct GameData;

impl ModuleData for GameData {
    fn answer<'a>(
        &'a self,
        app: &'a App,
        network: NetworkId,
        call: &'a HostCall,
    ) -> BoxFuture<'a, Result<HostAnswer, HostError>> {
        answer(app, network, call).boxed()
    }
}

async fn answer(app: &App, network: NetworkId, call: &HostCall) -> Result<HostAnswer, HostError> {
    Ok(match call {
        HostCall::Punishments { player, filter } => {
            HostAnswer::Punishments(punishments(app, network, player, filter).await?)
        }
        HostCall::Online { player } => HostAnswer::Online(online(app, network, player)),
        HostCall::PlayersOn { server_id, world_id } => {
            let on = presence::service::players_on(app, network, server_id, world_id.as_deref());
            HostAnswer::Players(on.iter().take(MAX_PLAYERS).map(ToString::to_string).collect())
        }
        HostCall::Permission { player, node, context, world } => {
            let (context, world) = (context.as_deref(), world.as_deref());
            HostAnswer::Permission(permission(app, network, player, node, context, world).await?)
        }
        HostCall::Statistics { players, name, game_mode, period } => {
            HostAnswer::Statistics(statistics(app, network, players, name, game_mode, *period).await?)
        }
        HostCall::Balance { player, currency } => HostAnswer::Balance(balance(app, network, player, currency).await?),
        // A module's own store answers these.
        HostCall::OnlinePlayers { .. }
        | HostCall::StateGet { .. }
        | HostCall::StateList { .. }
        | HostCall::StoreGet { .. }
        | HostCall::StoreSet { .. }
        | HostCall::StoreIncrement { .. }
        | HostCall::StoreDelete { .. } => return Err(HostError::Unavailable),
    })
}

/// A player's record, newest first.
async fn punishments(
    app: &App,
    network: NetworkId,
    player: &str,
    filter: &PunishmentFilter,
) -> Result<Vec<Punishment>, HostError> {
    // PostgreSQL's text can't hold it, so no name has one.
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
        tracing::warn!(%network, %error, "a player's record could not be read for a module");
        HostError::Unavailable
    })?;
    let now = app.clock.now();
    Ok(record.iter().map(|punishment| punishment.for_module(now)).collect())
}

/// The permission of a player; undefined for what is no UUID.
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
        tracing::warn!(%network, %error, "a player's permissions could not be read for a module");
        HostError::Unavailable
    })?;
    Ok(may
        .map_or(PermissionState::Undefined, |may| if may { PermissionState::Granted } else { PermissionState::Denied }))
}

/// One statistic of each player; none for what is no UUID, no name of a statistic or no game mode.
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

/// A player's balance in ten-thousandths; none for what is no UUID or no currency.
async fn balance(app: &App, network: NetworkId, player: &str, currency: &str) -> Result<Option<i64>, HostError> {
    let (Ok(player), Ok(currency)) = (player.parse(), currency.parse()) else { return Ok(None) };
    let balance = economy::service::balance(app, network, &Owner::player(player), &currency).await;
    Ok(balance.map_err(|error| unavailable(network, &error))?.map(Amount::ten_thousandths))
}

fn unavailable(network: NetworkId, error: &hub_db::Error) -> HostError {
    tracing::warn!(%network, %error, "what a module asked for could not be read");
    HostError::Unavailable
}

/// Location of a player; none for what is no UUID.
fn online(app: &App, network: NetworkId, player: &str) -> Option<Location> {
    let location = presence::service::online_player(app, network, player.parse().ok()?)?;
    Some(Location {
        server_id: location.server_id.into_string(),
        server_type: location.server_type.into_string(),
        world_id: location.world_id.map(Identifier::into_string),
    })
}
