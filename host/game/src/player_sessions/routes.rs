//! `GET /api/plugin/players/{uuid}/session`.

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::PlayersRead;
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::player_sessions::error::SessionError;
use crate::player_sessions::model::{Session, SessionState};
use crate::player_sessions::service;
use crate::values::{Identifier, PlayerId};

pub(super) fn router() -> Endpoints {
    endpoints![get_session]
}

/// A player's newest session.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlayerSession {
    /// Number of the session, higher than those of all earlier sessions of the network.
    #[schema(example = 42)]
    fence: i64,
    /// Server that opened it.
    #[schema(example = "bedwars-1")]
    server_id: Identifier,
    #[schema(example = 1_804_680_000_000_i64)]
    opened_at: Millis,
    /// Null while it is open.
    #[schema(example = 1_804_680_000_000_i64)]
    ended_at: Option<Millis>,
    state: SessionState,
}

impl From<Session> for PlayerSession {
    fn from(session: Session) -> Self {
        let Session { fence, server_id, opened_at, ended_at, state, .. } = session;
        Self { fence, server_id, opened_at, ended_at, state }
    }
}

/// Get a player's newest session
///
/// Fails with 404 if there never was one, or the player was erased since.
#[utoipa::path(get, path = "/api/plugin/players/{uuid}/session", tag = "Player sessions", operation_id = "get_player_session",
    security(("apiKey" = ["players:read", "players:write", "plugin"])), params(("uuid" = PlayerId, Path)),
    responses((status = 200, body = PlayerSession), (status = 404, body = ErrorBody, description = "There never was one")))]
async fn get_session(
    PlayersRead(caller): PlayersRead,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
) -> Result<Json<PlayerSession>, ApiError> {
    let session = service::newest(&app, caller.network, player).await?.ok_or(SessionError::Unknown(player))?;
    if !caller.acts_on(Some(&session.server_id)) {
        return Err(SessionError::ForeignServer.into());
    }
    Ok(Json(session.into()))
}
