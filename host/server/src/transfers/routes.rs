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

/// The routes of transfers.
pub(crate) fn router() -> Endpoints {
    endpoints![transfer_player: publishing, report_transfer, get_transfer]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TransferRequest {
    /// Who is to be sent; they must be online.
    player_uuid: PlayerId,
    /// Where to.
    #[schema(example = "bedwars-1")]
    target_server_id: Identifier,
    /// Into which of its worlds; absent: the server decides.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(example = "arena-3")]
    target_world_id: Option<Identifier>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TransferOutcome {
    /// Under this it is reported and read.
    transfer_id: TransferId,
    player_uuid: PlayerId,
    /// `SUCCESS`: the command was handed to the server the player is on. Else one of `PLAYER_OFFLINE`,
    /// `SERVER_NOT_FOUND`, `SERVER_OFFLINE`, `SERVER_FULL`, `WORLD_NOT_FOUND`, `ALREADY_ON_SERVER`, `NOT_CONNECTED`
    /// and `FAILED`.
    #[schema(example = "SUCCESS")]
    result: String,
    /// The reason, for a person; null for a success.
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
/// Finds out where the player is, keeps a slot at the target for as long as the command is good (30 seconds), and
/// hands the signed command as a `TRANSFER` event to the server the player is on. That it could not be done is no
/// error: `success` is false and `result` says why. A slot that `/api/plugin/matchmaking/find` keeps there for the
/// player is used, and the transfer then has the match's `transferId`. Another transfer of the same player that is
/// still under way ends as `FAILED`: this one takes its place.
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
    /// The player who was to be sent.
    player_uuid: PlayerId,
    /// `SUCCESS`, or an upper-case word for what went wrong, such as `FAILED`.
    result: Reported,
    /// The reason, for a person.
    #[schema(example = json!(null))]
    error_message: Option<Text<1000>>,
}

/// Report how a transfer ended
///
/// Sent by the server that receives the player, or by the one that could not send them. The first outcome stands:
/// a report on a transfer that ended already (the player joined the target, or 30 seconds passed) is accepted and
/// changes nothing. Anything but `SUCCESS` gives the slot at the target back. 400 `unknown_transfer` where the network
/// has no such transfer of this player.
#[utoipa::path(post, path = "/api/plugin/transfers/result", tag = "Transfers", security(("apiKey" = ["matchmaking", "plugin"])),
    responses((status = 204, description = "Noted")))]
async fn report_transfer(
    Matchmaking(caller): Matchmaking,
    State(app): State<App>,
    Json(body): Json<TransferReport>,
) -> Result<StatusCode, ApiError> {
    let message = body.error_message.map(Text::into_string);
    service::report(&app, caller.network, body.transfer_id, body.player_uuid, body.result, message).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How a transfer went.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct TransferRecord {
    /// `PENDING` while it is under way; `TIMEOUT` where nobody said how it ended within 30 seconds; else as it was
    /// answered or reported. A join at the target is a `SUCCESS`.
    #[serde(flatten)]
    outcome: TransferOutcome,
    /// Where the player was; null where they were not online.
    #[schema(example = "lobby-1")]
    from_server_id: Option<Identifier>,
    #[schema(example = "bedwars-1")]
    target_server_id: Identifier,
    #[schema(example = "arena-3")]
    target_world_id: Option<Identifier>,
    #[schema(example = 1_804_680_000_000_i64)]
    created_at: Millis,
    /// Until when the command was good.
    #[schema(example = 1_804_680_030_000_i64)]
    expires_at: Millis,
    /// Null while it is under way.
    #[schema(example = 1_804_680_002_000_i64)]
    ended_at: Option<Millis>,
}

/// Read how a transfer went
///
/// For a day after it was ordered; then, and for another network's, 404 `unknown_transfer`.
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
