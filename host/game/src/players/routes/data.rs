//! Data that games store about a player.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{PlayersRead, PlayersWrite};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::player_sessions::service::Fenced;
use crate::players::model::{DataKey, JsonText};
use crate::players::service;
use crate::values::{Label, PlayerId};

pub(super) fn router() -> Endpoints {
    endpoints![get_player_data, put_player_data, delete_player_data]
}

/// A namespace's data.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataEntry {
    #[schema(example = "global")]
    pub(super) game_mode: Label,
    #[schema(example = "inventory")]
    pub(super) namespace: Label,
    /// JSON text as written.
    #[schema(example = r#"{"coins":5}"#)]
    pub(super) data: String,
    /// Number of the write, from 1. Send it in a write that must not overwrite another one's.
    #[schema(example = 3)]
    pub(super) version: i64,
}

type DataPath = Path<(PlayerId, Label, Label)>;

fn data_key(Path((player, game_mode, namespace)): DataPath) -> DataKey {
    DataKey { player, game_mode, namespace }
}

/// Read a namespace's data
#[utoipa::path(get, path = "/api/plugin/players/{uuid}/data/{gameMode}/{namespace}", tag = "Players",
    security(("apiKey" = ["players:read", "players:write", "plugin"])),
    params(("uuid" = PlayerId, Path), ("gameMode" = Label, Path), ("namespace" = Label, Path, example = "inventory")),
    responses((status = 200, body = DataEntry), (status = 404, body = ErrorBody, description = "No data")))]
async fn get_player_data(
    PlayersRead(caller): PlayersRead,
    State(app): State<App>,
    path: DataPath,
) -> Result<Json<DataEntry>, ApiError> {
    let key = data_key(path);
    let entry = service::data(&app, caller.network, &key).await?;
    let DataKey { game_mode, namespace, .. } = key;
    Ok(Json(DataEntry { game_mode, namespace, data: entry.data, version: entry.version }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = DataUpdate)]
struct PutData {
    /// One JSON value as text, at most 256 KiB; it is stored byte for byte.
    data: JsonText,
    /// Version this write builds on; any other than the stored one is 409. Absent: the stored data is overwritten.
    /// Ignored if nothing is stored.
    #[schema(example = 3)]
    version: Option<i64>,
    /// Fence of the player's open session; any other is 409 `stale_session`. Without it the write needs no session, unless
    /// the network requires one.
    #[schema(example = 42)]
    fence: Option<i64>,
}

/// Write a namespace's data
///
/// Every write raises the version by one, even with equal data. The player need not be known.
#[utoipa::path(put, path = "/api/plugin/players/{uuid}/data/{gameMode}/{namespace}", tag = "Players",
    security(("apiKey" = ["players:write", "plugin"])),
    params(("uuid" = PlayerId, Path), ("gameMode" = Label, Path), ("namespace" = Label, Path, example = "inventory")),
    responses((status = 200, body = DataEntry),
        (status = 409, body = ErrorBody, description = "Another version is stored, read again and retry; or the session is over")))]
async fn put_player_data(
    PlayersWrite(caller): PlayersWrite,
    State(app): State<App>,
    path: DataPath,
    Json(body): Json<PutData>,
) -> Result<Json<DataEntry>, ApiError> {
    let key = data_key(path);
    let fenced = Fenced { player: key.player, fence: body.fence, caller: &caller };
    let version = service::put_data(&app, caller.network, &key, &body.data, body.version, fenced).await?;
    let DataKey { game_mode, namespace, .. } = key;
    Ok(Json(DataEntry { game_mode, namespace, data: body.data.into_string(), version }))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct DeleteQuery {
    /// Fence of the player's open session; any other is 409 `stale_session`.
    #[param(required = false, example = 42)]
    fence: Option<i64>,
}

/// Delete a namespace's data
///
/// Later writes begin at version 1 again.
#[utoipa::path(delete, path = "/api/plugin/players/{uuid}/data/{gameMode}/{namespace}", tag = "Players",
    security(("apiKey" = ["players:write", "plugin"])),
    params(("uuid" = PlayerId, Path), ("gameMode" = Label, Path), ("namespace" = Label, Path, example = "inventory"), DeleteQuery),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No data"),
        (status = 409, body = ErrorBody, description = "The session is over")))]
async fn delete_player_data(
    PlayersWrite(caller): PlayersWrite,
    State(app): State<App>,
    path: DataPath,
    Query(query): Query<DeleteQuery>,
) -> Result<StatusCode, ApiError> {
    let key = data_key(path);
    let fenced = Fenced { player: key.player, fence: query.fence, caller: &caller };
    service::delete_data(&app, caller.network, &key, fenced).await?;
    Ok(StatusCode::NO_CONTENT)
}
