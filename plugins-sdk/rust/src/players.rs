//! The hub's data about the players of this network. Each function is one of the call's 8 host calls to data.

pub use crate::bindings::host::network_hub::module::players::{
    Location, Period, PermissionState, Punishment, PunishmentFilter,
};

use crate::HostError;
use crate::host::players as host;

/// A statistic of one player in the game mode `global`; none if there is no such value.
pub fn statistic(player: &str, name: &str, period: Period) -> Result<Option<f64>, HostError> {
    let values = statistics(&[player.to_owned()], name, None, period)?;
    Ok(values.into_iter().next().flatten())
}

/// A statistic of up to 100 players, in the given order. `game_mode` is `global` by default.
pub fn statistics(
    players: &[String],
    name: &str,
    game_mode: Option<&str>,
    period: Period,
) -> Result<Vec<Option<f64>>, HostError> {
    host::statistics(players, name, game_mode, period)
}

/// A player's balance in ten-thousandths of the currency's unit; none if there is no such currency.
pub fn balance(player: &str, currency: &str) -> Result<Option<i64>, HostError> {
    host::balance(player, currency)
}

/// Resolves a permission node of a player, in any context and world.
pub fn permission(player: &str, node: &str) -> Result<PermissionState, HostError> {
    permission_in(player, node, None, None)
}

/// True if a player is granted a permission node, in any context and world. False if the hub cannot answer.
pub fn is_granted(player: &str, node: &str) -> bool {
    matches!(permission(player, node), Ok(PermissionState::Granted))
}

/// Resolves a permission node of a player, in a context and world if given.
pub fn permission_in(
    player: &str,
    node: &str,
    context: Option<&str>,
    world: Option<&str>,
) -> Result<PermissionState, HostError> {
    host::permission(player, node, context, world)
}

/// A player's punishments, newest first, revoked and expired ones included. `player` is a UUID, or a name for a
/// record that was made by name.
pub fn punishments(player: &str, filter: PunishmentFilter) -> Result<Vec<Punishment>, HostError> {
    host::punishments(player, filter)
}

/// Location of a player; none when offline.
pub fn online(player: &str) -> Result<Option<Location>, HostError> {
    host::online(player)
}
