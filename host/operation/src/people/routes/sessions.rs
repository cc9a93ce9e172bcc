//! Sessions of the signed-in person.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::SignedIn;
use crate::clock::Millis;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path};
use crate::people::service;

/// A session of a person.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PersonSession)]
struct SessionItem {
    #[schema(example = "4fTq0ZkX91ab4fTq")]
    session_id: String,
    /// True for the session of this request.
    current: bool,
    created_at: Millis,
    expires_at: Millis,
    /// Client address of the sign-in.
    #[schema(example = "203.0.113.7")]
    address: Option<String>,
}

/// Sessions of a person.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PersonSessions)]
pub(super) struct SessionList {
    /// Newest first.
    items: Vec<SessionItem>,
}

/// List the own sessions
///
/// Those that last, newest first: browsers, and devices such as a command line.
#[utoipa::path(get, path = "/api/people/sessions", operation_id = "list_own_sessions", tag = "People",
    responses((status = 200, body = SessionList), (status = 401, body = ErrorBody, description = "No session")))]
pub(super) async fn list(who: SignedIn, State(app): State<App>) -> Result<Json<SessionList>, ApiError> {
    let items = service::sessions(&app, &who).await?.into_iter().map(|row| SessionItem {
        current: row.session_id == who.session,
        session_id: row.session_id,
        created_at: row.created_at,
        expires_at: row.expires_at,
        address: row.address,
    });
    Ok(Json(SessionList { items: items.collect() }))
}

/// End an own session
///
/// In effect within a second, also for this one.
#[utoipa::path(delete, path = "/api/people/sessions/{sessionId}", operation_id = "delete_own_session", tag = "People",
    params(("sessionId" = String, Path, description = "Session id, from the list of sessions.",
        example = "4fTq0ZkX91ab4fTq")),
    responses((status = 204, description = "Ended"), (status = 401, body = ErrorBody, description = "No session"),
        (status = 404, body = ErrorBody, description = "No such session")))]
pub(super) async fn end(
    who: SignedIn,
    State(app): State<App>,
    Path(session): Path<String>,
) -> Result<StatusCode, ApiError> {
    service::end_session(&app, &who, &session).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// End all other sessions
///
/// In effect within a second. This session goes on.
#[utoipa::path(post, path = "/api/people/sign-out-elsewhere", operation_id = "sign_out_elsewhere", tag = "People",
    responses((status = 204, description = "Ended"), (status = 401, body = ErrorBody, description = "No session")))]
pub(super) async fn end_others(who: SignedIn, State(app): State<App>) -> Result<StatusCode, ApiError> {
    service::end_other_sessions(&app, &who).await?;
    Ok(StatusCode::NO_CONTENT)
}
