//! `/api/manage/chat`.

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::ChatRead;
use crate::chat::line::{ChatId, ChatLine};
use crate::chat::service::{self, Wanted};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::ApiError;
use crate::http::extract::{Json, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::values::{Identifier, PlayerId, Text, blank_as_absent};

/// Routes of the chat history.
pub(super) fn router() -> Endpoints {
    endpoints![list_chat_lines: large_answer]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct ListQuery {
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only lines of this player.
    player_uuid: Option<PlayerId>,
    /// Only lines from this server.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(value_type = Option<String>, example = "lobby-1")]
    server_id: Option<Identifier>,
    /// Only lines before the one with this id.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(inline, required = false, value_type = Option<ChatId>)]
    before: Option<ChatId>,
    /// Lines around the one with this id: half of `limit` newer ones, then it and older ones. Without `before` and `page`.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(inline, required = false, value_type = Option<ChatId>)]
    around: Option<ChatId>,
    /// Only lines with this in their text or original, in any case.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[param(required = false, value_type = Option<String>, example = "hello")]
    search: Option<Text<255>>,
}

/// Read the chat history
///
/// Newest first, for the days that the network keeps lines (`chatHistoryDays` of its settings, at most its plan's). `total`
/// counts up to 100,000 lines; `before` reaches older ones.
#[utoipa::path(get, path = "/api/manage/chat", operation_id = "list_chat_lines", tag = "Chat",
    security(("apiKey" = ["chat:read", "network:manage"])), params(ListQuery),
    responses((status = 200, body = Page<ChatLine>)))]
async fn list_chat_lines(
    ChatRead(caller): ChatRead,
    State(app): State<App>,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page<ChatLine>>, ApiError> {
    let ListQuery { limit, page, player_uuid, server_id, before, around, search } = query;
    let search = search.map(|search| search.as_str().to_lowercase());
    let wanted = Wanted { player: player_uuid, server: server_id, search, before: before.map(|id| id.0) };
    let Some(around) = around else {
        let place = (limit.0, page.offset(limit));
        let (lines, total) = service::list(&app, caller.network, wanted, place).await?;
        return Ok(Json(Page::new(lines, page, limit, total)));
    };
    if before.is_some() {
        return Err(ApiError::invalid("In the query, `around`: cannot be used with `before`."));
    }
    if page.0 > 0 {
        return Err(ApiError::invalid("In the query, `page`: must be 0 with `around`."));
    }
    let (lines, total) = service::list_around(&app, caller.network, wanted, around.0, limit.0).await?;
    Ok(Json(Page::new(lines, page, limit, total)))
}
