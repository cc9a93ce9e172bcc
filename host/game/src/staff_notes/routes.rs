//! `/api/manage/players/{uuid}/notes`.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{Actor, PlayerRecordsRead, PunishmentsManage};
use crate::clock::Millis;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Page, PageQuery};
use crate::staff_notes::service;
use crate::staff_notes::store::StaffNote;
use crate::values::{PlayerId, Text};

/// Routes of notes.
pub(super) fn router() -> Endpoints {
    endpoints![create_staff_note: transactional, list_staff_notes: large_answer, delete_staff_note]
}

/// A note of staff about a player.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StaffNote)]
struct NoteBody {
    #[schema(example = "4fTq0ZkX91ab4fTq")]
    note_id: String,
    #[schema(example = "Second chance after an apology.")]
    text: String,
    /// True if it is listed before others.
    pinned: bool,
    #[schema(example = 1_804_680_000_000_i64)]
    at: Millis,
    /// Author.
    actor: Option<Actor>,
}

impl From<StaffNote> for NoteBody {
    fn from(note: StaffNote) -> Self {
        let StaffNote { note_id, text, pinned, at, actor } = note;
        Self { note_id, text, pinned, at, actor }
    }
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = NewStaffNote)]
struct CreateNote {
    #[schema(value_type = Text<2000>, example = "Second chance after an apology.")]
    text: Text<2000>,
    /// List it before others. Default: false.
    pinned: Option<bool>,
}

/// Write a note about a player
///
/// Notes are only for staff: no game server reads them. They are erased with the player.
#[utoipa::path(post, path = "/api/manage/players/{uuid}/notes", operation_id = "create_staff_note", tag = "Staff notes",
    security(("apiKey" = ["punishments:manage", "network:manage"])), params(("uuid" = PlayerId, Path)),
    responses((status = 201, body = NoteBody)))]
async fn create_staff_note(
    PunishmentsManage(caller): PunishmentsManage,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Json(body): Json<CreateNote>,
) -> Result<(StatusCode, Json<NoteBody>), ApiError> {
    if body.text.as_str().trim().is_empty() {
        return Err(ApiError::invalid("In the body, `text`: must not be blank."));
    }
    let pinned = body.pinned.unwrap_or(false);
    let note = service::create(&app, &caller, player, body.text.into_string(), pinned).await?;
    Ok((StatusCode::CREATED, Json(note.into())))
}

/// List the notes about a player
///
/// Pinned ones first, then the newest.
#[utoipa::path(get, path = "/api/manage/players/{uuid}/notes", operation_id = "list_staff_notes", tag = "Staff notes",
    security(("apiKey" = ["players:read", "network:manage"])), params(("uuid" = PlayerId, Path), PageQuery),
    responses((status = 200, body = Page<NoteBody>)))]
async fn list_staff_notes(
    PlayerRecordsRead(caller): PlayerRecordsRead,
    State(app): State<App>,
    Path(player): Path<PlayerId>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<NoteBody>>, ApiError> {
    let place = (query.limit.0, query.page.offset(query.limit));
    let (rows, total) = service::list(&app, caller.network, player, place).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(NoteBody::from)))
}

/// Delete a note
///
/// One's own; with `network:manage`, any.
#[utoipa::path(delete, path = "/api/manage/players/{uuid}/notes/{noteId}", operation_id = "delete_staff_note",
    tag = "Staff notes", security(("apiKey" = ["punishments:manage", "network:manage"])),
    params(("uuid" = PlayerId, Path), ("noteId" = String, Path, description = "Id of the note", example = "4fTq0ZkX91ab4fTq")),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such note")))]
async fn delete_staff_note(
    PunishmentsManage(caller): PunishmentsManage,
    State(app): State<App>,
    Path((player, id)): Path<(PlayerId, String)>,
) -> Result<StatusCode, ApiError> {
    service::delete(&app, &caller, player, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
