//! `/api/plugin/transfers` and `/api/manage/transfers`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Matchmaking, ServersRead};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::transfers::model::{PENDING, Reported, SUCCESS, Transfer, TransferId, TransferOrder};
use crate::transfers::service;
use crate::values::{Identifier, PlayerId, Text, blank_as_absent};

/// Routes of transfers.
pub(super) fn router() -> Endpoints {
    endpoints![transfer_player: publishing, report_transfer, get_transfer]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TransferRequest {
    /// Player to transfer; must be online.
    player_uuid: PlayerId,
    /// Target server.
    #[schema(example = "bedwars-1")]
    target_server_id: Identifier,
    /// Target world. Default: the server decides.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "arena-3")]
    target_world_id: Option<Identifier>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TransferOutcome {
    /// Id for reports and reads.
    transfer_id: TransferId,
    player_uuid: PlayerId,
    /// `SUCCESS`: the command was sent to the player's server. Else one of `PLAYER_OFFLINE`, `SERVER_NOT_FOUND`,
    /// `SERVER_OFFLINE`, `SERVER_FULL`, `WORLD_NOT_FOUND`, `ALREADY_ON_SERVER`, `NOT_CONNECTED` and `FAILED`.
    #[schema(example = "SUCCESS")]
    result: String,
    /// Human-readable reason; null on success.
    #[schema(example = json!(null))]
    error_message: Option<String>,
    success: bool,
}

impl From<Transfer> for TransferOutcome {
    fn from(row: Transfer) -> Self {
        let result = row.result.unwrap_or_else(|| PENDING.to_owned());
        Self {
            transfer_id: row.id,
            player_uuid: row.player_uuid,
            success: result == SUCCESS,
            result,
            error_message: row.error_message,
        }
    }
}

/// Send a player to another server
///
/// Locates the player, reserves a slot at the target while the command is valid (30 seconds), and sends the signed
/// command as a `TRANSFER` event to the player's server. An impossible transfer is not an error: `success` is false and
/// `result` is the reason. A slot reserved there for the player by `/api/plugin/matchmaking/find` is used, and the
/// transfer then has the match's `transferId`. A pending transfer of the same player ends as `FAILED`: this one
/// replaces it.
#[utoipa::path(post, path = "/api/plugin/transfers", tag = "Transfers", security(("apiKey" = ["matchmaking", "plugin"])),
    responses((status = 200, body = TransferOutcome)))]
async fn transfer_player(
    Matchmaking(caller): Matchmaking,
    State(app): State<App>,
    Json(body): Json<TransferRequest>,
) -> Result<Json<TransferOutcome>, ApiError> {
    let order =
        TransferOrder { player: body.player_uuid, to_server: body.target_server_id, to_world: body.target_world_id };
    Ok(Json(service::transfer(&app, caller.network, order).await?.into()))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TransferReport {
    transfer_id: TransferId,
    /// The transferred player.
    player_uuid: PlayerId,
    /// `SUCCESS`, or an upper-case word for the error, such as `FAILED`.
    result: Reported,
    /// Human-readable reason.
    #[schema(example = json!(null))]
    error_message: Option<Text<1000>>,
}

/// Report the outcome of a transfer
///
/// Sent by the server that receives the player, or by the one that could not send them. The first outcome stands: a
/// report on an ended transfer (the player joined the target, or 30 seconds passed) is accepted without effect. Any
/// result except `SUCCESS` releases the slot at the target. 400 `unknown_transfer` if the network has no such transfer
/// of this player.
#[utoipa::path(post, path = "/api/plugin/transfers/result", tag = "Transfers", security(("apiKey" = ["matchmaking", "plugin"])),
    responses((status = 204, description = "Recorded")))]
async fn report_transfer(
    Matchmaking(caller): Matchmaking,
    State(app): State<App>,
    Json(body): Json<TransferReport>,
) -> Result<StatusCode, ApiError> {
    let message = body.error_message.map(Text::into_string);
    service::report(&app, caller.network, body.transfer_id, body.player_uuid, body.result, message).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// State of a transfer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TransferRecord {
    /// `PENDING` while it is in progress; `TIMEOUT` if no outcome was reported within 30 seconds; else as answered or
    /// reported. A join at the target is a `SUCCESS`.
    #[serde(flatten)]
    outcome: TransferOutcome,
    /// The player's server; null if they were not online.
    #[schema(example = "lobby-1")]
    from_server_id: Option<Identifier>,
    #[schema(example = "bedwars-1")]
    target_server_id: Identifier,
    #[schema(example = "arena-3")]
    target_world_id: Option<Identifier>,
    #[schema(example = 1_804_680_000_000_i64)]
    created_at: Millis,
    /// End of the command's validity.
    #[schema(example = 1_804_680_030_000_i64)]
    expires_at: Millis,
    /// Null while it is pending.
    #[schema(example = 1_804_680_002_000_i64)]
    ended_at: Option<Millis>,
}

/// Get a transfer
///
/// Available for a day after its order; then, and for transfers of other networks, 404 `unknown_transfer`.
#[utoipa::path(get, path = "/api/manage/transfers/{transferId}", tag = "Transfers",
    security(("apiKey" = ["servers:read"])), params(("transferId" = TransferId, Path)),
    responses((status = 200, body = TransferRecord), (status = 404, body = ErrorBody,
        description = "The network has no such transfer")))]
async fn get_transfer(
    ServersRead(caller): ServersRead,
    State(app): State<App>,
    Path(id): Path<TransferId>,
) -> Result<Json<TransferRecord>, ApiError> {
    let row = service::get(&app, caller.network, id).await?;
    Ok(Json(TransferRecord {
        from_server_id: row.from_server.clone(),
        target_server_id: row.to_server.clone(),
        target_world_id: row.to_world.clone(),
        created_at: row.created_at,
        expires_at: row.expires_at,
        ended_at: row.ended_at,
        outcome: row.into(),
    }))
}
