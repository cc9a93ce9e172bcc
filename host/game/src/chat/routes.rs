//! `/api/plugin/chat`.

use axum::extract::State;
use axum::http::StatusCode;

use crate::app::App;
use crate::auth::Plugin;
use crate::chat::model::ChatMessage;
use crate::chat::service;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::Json;

/// Routes of chat.
pub(super) fn router() -> Endpoints {
    endpoints![relay_chat: publishing]
}

/// Relay a chat line
///
/// Every connected server gets it as a `CHAT` event, including the sender's. The network's modules at the extension
/// point `chat` see it first: they may rewrite it, refuse it (400 `chat_rejected` with their reason; no server gets
/// it), and mute its sender. Messages of muted players are not suppressed here: connectors learn of mutes from the
/// `PUNISHMENT` event and suppress messages at the source.
#[utoipa::path(post, path = "/api/plugin/chat", tag = "Chat", operation_id = "send_chat_message", security(("apiKey" = ["plugin"])),
    responses((status = 204, description = "Relayed"),
        (status = 503, body = ErrorBody, description = "The hub is stopping")))]
async fn relay_chat(
    Plugin(caller): Plugin,
    State(app): State<App>,
    Json(body): Json<ChatMessage>,
) -> Result<StatusCode, ApiError> {
    service::relay(&app, caller.network, body).await?;
    Ok(StatusCode::NO_CONTENT)
}
