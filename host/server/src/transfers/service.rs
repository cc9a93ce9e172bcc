//! The rules of transfers.

use serde::Serialize;
use thiserror::Error;

use crate::app::App;
use crate::clock::Millis;
use crate::events::{self, EventKind, PublishError};
use crate::http::error::ApiError;
use crate::networks;
use crate::networks::service::NetworksError;
use crate::servers::{self, NetworkPresence, Reservation, Role, free_slots};
use crate::transfers::model::{Failure, GOOD_FOR, Order, Reported, SUCCESS, Transfer, TransferId};
use crate::transfers::signing::Command;
use crate::transfers::store;
use crate::values::{Identifier, NetworkId, PlayerId};
use crate::worlds;

/// What can be wrong with a request about transfers.
#[derive(Debug, Error)]
pub(super) enum TransfersError {
    /// No such transfer in the caller's network, or none of that player.
    #[error("This network has no transfer {0} of this player.")]
    UnknownReported(TransferId),
    /// No such transfer in the caller's network.
    #[error("This network has no transfer {0}; they can be read for a day.")]
    Unknown(TransferId),
    /// The network is gone.
    #[error(transparent)]
    Network(#[from] NetworksError),
    /// The command was not handed out.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<TransfersError> for ApiError {
    fn from(error: TransfersError) -> Self {
        let message = error.to_string();
        match error {
            TransfersError::UnknownReported(_) => Self::bad_request("unknown_transfer", message),
            TransfersError::Unknown(_) => Self::not_found("unknown_transfer", message),
            TransfersError::Network(error) => error.into(),
            TransfersError::Publish(error) => error.into(),
            TransfersError::Database(error) => error.into(),
        }
    }
}

/// Both ends of a transfer that can be made.
#[derive(Debug)]
struct Route {
    from: Identifier,
    host: String,
    port: u16,
    /// The id that a match promised the slot under, or a new one.
    id: TransferId,
}

#[derive(Serialize)]
struct Payload<'a> {
    #[serde(flatten)]
    command: &'a Command,
    signature: String,
}

/// Sends a player to another server: keeps a slot there and hands the signed command to the server they are on. The
/// row that is answered tells how that went.
pub(super) async fn transfer(app: &App, network: NetworkId, order: Order) -> Result<Transfer, TransfersError> {
    let now = app.clock.now();
    let opened = opened_there(app, network, &order, now).await?;
    let new = TransferId(app.ids.uuid());
    let looked = app.presence.with(network, |presence| route(presence, &order, opened, new, now));
    let connected = |route: &Route| app.bus.is_connected(network.0.as_u128(), route.from.as_str());
    let possible = match looked {
        Ok(route) if !connected(&route) => Err((Some(route.from), Failure::NotConnected)),
        Ok(_) => app.presence.with(network, |presence| {
            // Looked at again under the lock that keeps the slot: others may have been quicker.
            let route = route(presence, &order, opened, new, now)?;
            let slot = Reservation {
                id: route.id.0,
                player: Some(order.player),
                world: order.to_world.clone(),
                promised: false,
                expires_at: now.saturating_add(GOOD_FOR),
            };
            presence.reserve(&order.to_server, slot);
            Ok(route)
        }),
        Err(failed) => Err(failed),
    };
    match possible {
        Ok(route) => {
            servers::save_reserved(app, network).await?;
            hand_over(app, network, order, route, now).await
        }
        Err((from, mut failure)) => {
            if failure == Failure::ServerOffline
                && !servers::service::is_known_server(app, network, &order.to_server).await?
            {
                failure = Failure::ServerNotFound;
            }
            let mut row = row(new, &order, from, now);
            row.result = Some(failure.result().to_owned());
            row.error_message = Some(failure.sentence().to_owned());
            row.ended_at = Some(now);
            store::insert(&app.db, network, row.clone()).await?;
            Ok(row)
        }
    }
}

/// Whether the target's world was opened there on demand and is up, though no heartbeat shows it yet. A query only
/// where that is the question.
async fn opened_there(app: &App, network: NetworkId, order: &Order, now: Millis) -> Result<bool, hub_db::Error> {
    let Some(world) = &order.to_world else { return Ok(false) };
    let shown = app.presence.with(network, |presence| {
        presence.server(order.to_server.as_str(), now).is_none_or(|server| server.world(world).is_some())
    });
    Ok(!shown && worlds::service::hosts(app, network, &order.to_server, world).await?)
}

/// The way from where the player is to where they are to go, or why there is none and where they are. `opened` says
/// that the world is there whether or not the server shows it.
fn route(
    presence: &NetworkPresence,
    order: &Order,
    opened: bool,
    new: TransferId,
    now: Millis,
) -> Result<Route, (Option<Identifier>, Failure)> {
    let at = presence.locate(order.player, now).ok_or((None, Failure::PlayerOffline))?;
    let fail = |failure| (Some(at.server_id.clone()), failure);
    let server = presence.server(order.to_server.as_str(), now).ok_or_else(|| fail(Failure::ServerOffline))?;
    if at.server_id == order.to_server {
        return Err(fail(Failure::AlreadyOnServer));
    }
    if server.facts.role == Role::Proxy {
        return Err(fail(Failure::Proxy));
    }
    let own = presence.reservation(&order.to_server, order.player, now);
    let except = own.map(|_| order.player);
    match order.to_world.as_ref().map(|id| server.world(id)) {
        Some(Some(world)) if free_slots(world.max_players(), server.taken_in(world, now, except)) == 0 => {
            return Err(fail(Failure::WorldFull));
        }
        Some(None) if !opened => return Err(fail(Failure::WorldNotFound)),
        _ => {}
    }
    if free_slots(server.facts.max_players, server.taken(now, except)) == 0 {
        return Err(fail(Failure::ServerFull));
    }
    let promised = own.filter(|own| order.to_world.is_none() || own.world.is_none() || own.world == order.to_world);
    Ok(Route {
        host: server.facts.host.clone(),
        port: server.facts.port,
        id: promised.filter(|own| own.promised).map_or(new, |own| TransferId(own.id)),
        from: at.server_id,
    })
}

async fn hand_over(
    app: &App,
    network: NetworkId,
    order: Order,
    route: Route,
    now: Millis,
) -> Result<Transfer, TransfersError> {
    let secret = networks::service::signing_secret(app, network).await?;
    let mut row = row(route.id, &order, Some(route.from.clone()), now);
    app.db
        .transaction(async |mut tx| {
            store::supersede(&mut tx, network, order.player, now).await?;
            store::insert_in(&mut tx, network, &row).await
        })
        .await?;
    let command = Command {
        transfer_id: route.id,
        player_uuid: order.player,
        target_server_id: order.to_server,
        target_world_id: order.to_world,
        host: route.host,
        port: route.port,
        issued_at: now,
        expires_at: row.expires_at,
    };
    let payload = Payload { signature: command.sign(&secret), command: &command };
    events::publish(app, network, EventKind::Transfer, Some(route.from.as_str()), payload).await?;
    // As far as the caller is concerned; a read shows that it is under way.
    row.result = Some(SUCCESS.to_owned());
    Ok(row)
}

fn row(id: TransferId, order: &Order, from_server: Option<Identifier>, now: Millis) -> Transfer {
    Transfer {
        id,
        player_uuid: order.player,
        from_server,
        to_server: order.to_server.clone(),
        to_world: order.to_world.clone(),
        result: None,
        error_message: None,
        created_at: now,
        expires_at: now.saturating_add(GOOD_FOR),
        ended_at: None,
    }
}

/// A server says how a transfer ended. What has an outcome keeps it.
pub(super) async fn report(
    app: &App,
    network: NetworkId,
    id: TransferId,
    player: PlayerId,
    result: Reported,
    error_message: Option<String>,
) -> Result<(), TransfersError> {
    let (now, succeeded) = (app.clock.now(), result.0 == SUCCESS);
    match store::end(&app.db, network, id, player, result.0, error_message, now).await? {
        Some(server) if !succeeded => {
            // Nobody is on their way any more.
            app.presence.with(network, |presence| presence.unreserve(&server, player));
        }
        Some(_) => {}
        None => {
            let known = store::get(&app.db, network, id).await?.filter(|known| known.player_uuid == player);
            known.ok_or(TransfersError::UnknownReported(id))?;
        }
    }
    Ok(())
}

/// A transfer as it stands.
pub(super) async fn get(app: &App, network: NetworkId, id: TransferId) -> Result<Transfer, TransfersError> {
    let row = store::get(&app.db, network, id).await?.ok_or(TransfersError::Unknown(id))?;
    Ok(row.at(app.clock.now()))
}

/// A player has joined a server: where they were being transferred there, that is its good end. One indexed read for
/// who was not.
pub(crate) async fn arrived(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    server: &Identifier,
) -> Result<(), hub_db::Error> {
    let now = app.clock.now();
    let under_way = store::under_way(&app.db, network, player, now).await?;
    if under_way.iter().any(|(_, to, _)| to == server) {
        store::arrive(&app.db, network, player, server.clone(), now).await?;
    }
    Ok(())
}

/// Whether the player leaves that server because they are being transferred; until when they may take to arrive.
pub(crate) async fn leaves_for_another(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    server: &Identifier,
) -> Result<Option<Millis>, hub_db::Error> {
    let under_way = store::under_way(&app.db, network, player, app.clock.now()).await?;
    Ok(under_way.iter().filter(|(from, ..)| from.as_ref() == Some(server)).map(|(.., until)| *until).max())
}
