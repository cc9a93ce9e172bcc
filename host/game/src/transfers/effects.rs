//! Transfers by modules.

use axum::http::StatusCode;
use hub_sandbox::contract::effects::Transfer;

use crate::app::App;
use crate::http::error::ApiError;
use crate::modules::read_field;
use crate::transfers::model::{SUCCESS, TransferOrder};
use crate::transfers::service;
use crate::values::{Identifier, NetworkId};

/// Sends a player to a server, once it is committed. The command is lost with a server that goes away.
pub async fn transfer(app: &App, network: NetworkId, effect: &Transfer) -> Result<(), ApiError> {
    let world = effect.target_world_id.as_deref();
    let order = TransferOrder {
        player: read_field("playerUuid", &effect.player_uuid)?,
        to_server: read_field("targetServerId", &effect.target_server_id)?,
        to_world: world.map(|world| read_field::<Identifier>("targetWorldId", world)).transpose()?,
    };
    let transfer = service::transfer(app, network, order).await?;
    if transfer.result.as_deref() == Some(SUCCESS) {
        return Ok(());
    }
    let result = transfer.result.unwrap_or_default();
    let message = format!("{result}: {}", transfer.error_message.unwrap_or_default());
    Err(ApiError::new(StatusCode::CONFLICT, "transfer_failed", message))
}
