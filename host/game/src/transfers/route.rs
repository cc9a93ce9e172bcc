//! Route of a transfer.

use crate::clock::Millis;
use crate::presence::{NetworkPresence, Role, free_slots};
use crate::transfers::model::{Failure, TransferId, TransferOrder};
use crate::values::Identifier;

/// Both ends of a possible transfer.
#[derive(Debug)]
pub(super) struct TransferRoute {
    pub(super) from: Identifier,
    pub(super) host: String,
    pub(super) port: u16,
    /// Id of the match that reserved the slot, or a new one.
    pub(super) id: TransferId,
}

/// Route from the player's server to the target; or the reason for none, and the player's server. `is_world_open`: the
/// world is live even if the server does not report it yet.
pub(super) fn find_route(
    presence: &NetworkPresence,
    order: &TransferOrder,
    is_world_open: bool,
    new_id: TransferId,
    now: Millis,
) -> Result<TransferRoute, (Option<Identifier>, Failure)> {
    let at = presence.locate(order.player, now).ok_or((None, Failure::PlayerOffline))?;
    let fail = |failure| (Some(at.server_id.clone()), failure);
    let server = presence.server(order.to_server.as_str(), now).ok_or_else(|| fail(Failure::ServerOffline))?;
    if at.server_id == order.to_server {
        return Err(fail(Failure::AlreadyOnServer));
    }
    if server.info.role == Role::Proxy {
        return Err(fail(Failure::Proxy));
    }
    let own = presence.reservation(&order.to_server, order.player, now);
    let except = own.map(|_| order.player);
    match order.to_world.as_ref().map(|id| server.world(id)) {
        Some(Some(world)) if free_slots(world.max_players(), server.taken_in(world, now, except.as_slice())) == 0 => {
            return Err(fail(Failure::WorldFull));
        }
        Some(None) if !is_world_open => return Err(fail(Failure::WorldNotFound)),
        _ => {}
    }
    if free_slots(server.info.max_players, server.taken(now, except.as_slice())) == 0 {
        return Err(fail(Failure::ServerFull));
    }
    let promised = own.filter(|own| order.to_world.is_none() || own.world.is_none() || own.world == order.to_world);
    Ok(TransferRoute {
        host: server.info.host.clone(),
        port: server.info.port,
        id: promised.filter(|own| own.promised).map_or(new_id, |own| TransferId(own.id)),
        from: at.server_id,
    })
}
