//! Rules of transfers.

use std::collections::HashMap;
use std::future::ready;

use serde::Serialize;
use thiserror::Error;
use utoipa::ToSchema;

use crate::app::App;
use crate::clock::Millis;
use crate::events::{self, EventKind, PublishError};
use crate::http::error::ApiError;
use crate::limits::{QuotaExceeded, check_rows};
use crate::presence::{self, Arrival, NetworkPresence, Presence, Reservation};
use crate::signing_secret;
use crate::signing_secret::service::SigningSecretError;
use crate::transfers::model::{COMMAND_TTL, Failure, Reported, SUCCESS, Transfer, TransferId, TransferOrder};
use crate::transfers::route::{TransferRoute, find_route};
use crate::transfers::signing::Command;
use crate::transfers::store;
use crate::values::{Identifier, NetworkId, PlayerId};
use crate::worlds;

/// Reason for the failure of a request about transfers.
#[derive(Debug, Error)]
pub(super) enum TransfersError {
    /// No such transfer in the caller's network, or none of that player.
    #[error("This network has no transfer {0} of this player.")]
    UnknownReported(TransferId),
    /// No such transfer in the caller's network.
    #[error("This network has no transfer {0}; transfers are available for a day.")]
    Unknown(TransferId),
    /// The network's quota is used up.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The network no longer exists.
    #[error(transparent)]
    SigningSecret(#[from] SigningSecretError),
    /// The command was not sent.
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
            TransfersError::Quota(exceeded) => exceeded.into(),
            TransfersError::SigningSecret(error) => error.into(),
            TransfersError::Publish(error) => error.into(),
            TransfersError::Database(error) => error.into(),
        }
    }
}

/// Command to transfer a player to another server.
#[derive(Serialize, ToSchema)]
#[schema(as = SignedTransferCommand)]
pub(super) struct TransferCommand<'a> {
    #[serde(flatten)]
    command: &'a Command,
    /// For each valid signing secret, `v1,` and the base64 of an HMAC, separated by spaces.
    #[schema(example = "v1,b64yKzOhqE4Nn2rJb0vJ3cV3dS7cJb9o4Z5n1xq2a8c=")]
    signature: String,
}

/// Transfers a player to another server: reserves a slot there and sends the signed command to the player's server. The
/// returned transfer has the result.
pub(super) async fn transfer(app: &App, network: NetworkId, order: TransferOrder) -> Result<Transfer, TransfersError> {
    if !app.bus.is_reachable() {
        // The command would arrive too late.
        return Err(PublishError::from(hub_bus::PublishError::Unreachable).into());
    }
    let now = app.clock.now();
    let _adding = check_rows::<TransfersError>(app, network, store::TRANSFERS, 1, ready(Ok(false))).await?;
    let is_world_open = is_world_open(app, network, &order, now).await?;
    let new_id = TransferId(app.ids.uuid());
    let find = |presence: &mut NetworkPresence| find_route(presence, &order, is_world_open, new_id, now);
    let is_connected = |route: &TransferRoute| app.bus.is_connected(network.0.as_u128(), route.from.as_str());
    let route = match app.state::<Presence>().with(network, find) {
        Ok(route) if !is_connected(&route) => Err((Some(route.from), Failure::NotConnected)),
        Ok(_) => app.state::<Presence>().with(network, |presence| {
            // Checked again under the lock that reserves the slot: others may have been quicker.
            let route = find(presence)?;
            let reservation = Reservation {
                id: route.id.0,
                player: Some(order.player),
                world: order.to_world.clone(),
                promised: false,
                expires_at: now.saturating_add(COMMAND_TTL),
            };
            presence.reserve(&order.to_server, reservation);
            Ok(route)
        }),
        Err(failure) => Err(failure),
    };
    match route {
        Ok(route) => {
            presence::save_reserved(app, network, &order.to_server, &[route.id.0]).await?;
            send_command(app, network, order, route, now).await
        }
        Err((from, mut failure)) => {
            if failure == Failure::ServerOffline
                && !presence::service::is_known_server(app, network, &order.to_server).await?
            {
                failure = Failure::ServerNotFound;
            }
            let mut transfer = new_transfer(new_id, &order, from, now);
            transfer.result = Some(failure.as_ref().to_owned());
            transfer.error_message = Some(failure.message().to_owned());
            transfer.ended_at = Some(now);
            store::insert(&app.db, network, &transfer).await?;
            Ok(transfer)
        }
    }
}

/// True if the target's world was opened on demand and is live, though no heartbeat reports it yet. Queries only if the
/// server does not report the world.
async fn is_world_open(
    app: &App,
    network: NetworkId,
    order: &TransferOrder,
    now: Millis,
) -> Result<bool, hub_db::Error> {
    let Some(world) = &order.to_world else { return Ok(false) };
    let shown = app.state::<Presence>().with(network, |presence| {
        presence.server(order.to_server.as_str(), now).is_none_or(|server| server.world(world).is_some())
    });
    Ok(!shown && worlds::service::is_live_on(app, network, &order.to_server, world).await?)
}

/// Records the transfer and sends its command.
async fn send_command(
    app: &App,
    network: NetworkId,
    order: TransferOrder,
    route: TransferRoute,
    now: Millis,
) -> Result<Transfer, TransfersError> {
    let secrets = signing_secret::service::get(app, network).await?;
    let mut transfer = new_transfer(route.id, &order, Some(route.from.clone()), now);
    let command = Command {
        transfer_id: route.id,
        player_uuid: order.player,
        target_server_id: order.to_server,
        target_world_id: order.to_world,
        host: route.host,
        port: route.port,
        issued_at: now,
        expires_at: transfer.expires_at,
    };
    let payload = TransferCommand { signature: command.sign(secrets.all()), command: &command };
    app.db
        .transaction(async |mut tx| {
            store::supersede(&mut tx, network, order.player, now).await?;
            store::insert(&mut tx, network, &transfer).await?;
            let from = Some(route.from.as_str());
            events::publish_in(app, &mut tx, network, EventKind::Transfer, from, &payload).await
        })
        .await?;
    // The answer means that the command is sent; reads show the transfer as pending.
    transfer.result = Some(SUCCESS.to_owned());
    Ok(transfer)
}

fn new_transfer(id: TransferId, order: &TransferOrder, from_server: Option<Identifier>, now: Millis) -> Transfer {
    Transfer {
        id,
        player_uuid: order.player,
        from_server,
        to_server: order.to_server.clone(),
        to_world: order.to_world.clone(),
        result: None,
        error_message: None,
        created_at: now,
        expires_at: now.saturating_add(COMMAND_TTL),
        ended_at: None,
    }
}

/// Records a server's report of the outcome. The first outcome stands.
pub(super) async fn report(
    app: &App,
    network: NetworkId,
    id: TransferId,
    player: PlayerId,
    result: Reported,
    error_message: Option<String>,
) -> Result<(), TransfersError> {
    match store::finish(&app.db, network, id, player, &result, error_message.as_deref(), app.clock.now()).await? {
        Some(server) if result.as_str() != SUCCESS => {
            app.state::<Presence>().with(network, |presence| presence.release(&server, player));
        }
        Some(_) => {}
        None => {
            let known = store::get(&app.db, network, id).await?.filter(|known| known.player_uuid == player);
            known.ok_or(TransfersError::UnknownReported(id))?;
        }
    }
    Ok(())
}

/// Current state of a transfer.
pub(super) async fn get(app: &App, network: NetworkId, id: TransferId) -> Result<Transfer, TransfersError> {
    let transfer = store::get(&app.db, network, id).await?.ok_or(TransfersError::Unknown(id))?;
    Ok(transfer.with_timeout(app.clock.now()))
}

/// Ends the transfer of a player who joined its target. One indexed read for players without a transfer.
pub async fn record_arrival(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    server: &Identifier,
) -> Result<(), hub_db::Error> {
    let now = app.clock.now();
    let under_way = store::under_way(&app.db, network, player, now).await?;
    if under_way.iter().any(|(_, to, _)| to == server) {
        store::arrive(&app.db, network, player, server, now).await?;
    }
    Ok(())
}

/// Ends the transfers of players who came with the list of their target. One read for players without a transfer.
pub async fn record_arrivals(app: &App, network: NetworkId, arrivals: &[Arrival]) -> Result<(), hub_db::Error> {
    let now = app.clock.now();
    let servers: HashMap<_, _> = arrivals.iter().map(|arrival| (arrival.player, &*arrival.server)).collect();
    let players: Vec<_> = servers.keys().copied().collect();
    for (player, to) in store::targets(&app.db, network, &players, now).await? {
        if servers.get(&player) == Some(&to.as_str()) {
            store::arrive(&app.db, network, player, &to, now).await?;
        }
    }
    Ok(())
}

/// Deadline for the arrival of a player who leaves that server in a transfer; none without such a transfer.
pub async fn arrival_deadline(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    server: &Identifier,
) -> Result<Option<Millis>, hub_db::Error> {
    let under_way = store::under_way(&app.db, network, player, app.clock.now()).await?;
    Ok(under_way.iter().filter(|(from, ..)| from.as_ref() == Some(server)).map(|(.., until)| *until).max())
}
