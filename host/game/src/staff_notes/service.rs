//! The rules of notes.

use std::future::ready;

use axum::http::StatusCode;
use serde_json::{Value, json};
use thiserror::Error;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::{Caller, Scope};
use crate::http::error::ApiError;
use crate::limits::{self, QuotaExceeded, check_rows};
use crate::networks;
use crate::staff_notes::NOTES_PER_PLAYER;
use crate::staff_notes::store::{self, StaffNote};
use crate::values::{NetworkId, PlayerId};

const ID_LENGTH: usize = 16;

/// Errors of requests about notes.
#[derive(Debug, Error)]
pub(super) enum NotesError {
    /// No such note about the player in the caller's network.
    #[error("There is no such note about the player {0}.")]
    Unknown(PlayerId),
    /// The note is of another author.
    #[error("Only its author and admins can delete a note.")]
    OfAnother,
    /// A limit of the network is reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<NotesError> for ApiError {
    fn from(error: NotesError) -> Self {
        let message = error.to_string();
        match error {
            NotesError::Unknown(_) => Self::not_found("unknown_staff_note", message),
            NotesError::OfAnother => Self::new(StatusCode::FORBIDDEN, "forbidden_scope", message),
            NotesError::Quota(exceeded) => exceeded.into(),
            NotesError::Database(error) => error.into(),
        }
    }
}

/// A note's form in the audit log, which keeps no text about a player.
fn shown(note: &StaffNote) -> Value {
    json!({"pinned": note.pinned, "characters": note.text.chars().count()})
}

/// Writes a note about a player.
pub(super) async fn create(
    app: &App,
    caller: &Caller,
    player: PlayerId,
    text: String,
    pinned: bool,
) -> Result<StaffNote, NotesError> {
    let (network, origin) = (caller.network, caller.origin(app));
    let _adding = check_rows::<NotesError>(app, network, store::ROWS, 1, ready(Ok(false))).await?;
    let actor = origin.actor.clone();
    let stored = serde_json::to_string(&actor).unwrap_or_default();
    let note = StaffNote { note_id: app.ids.token(ID_LENGTH), text, pinned, at: app.clock.now(), actor: Some(actor) };
    app.db
        .transaction(async |mut tx| {
            // Two requests at once do not count the same notes.
            networks::service::lock_in(&mut tx, network).await?;
            limits::check(app, NOTES_PER_PLAYER, store::count_of(&mut tx, network, player).await?, 1)?;
            store::insert(&mut tx, network, player, &note, &stored).await?;
            let change = Change::new(Action::StaffNoteCreated, &note.note_id).after(shown(&note));
            Ok::<_, NotesError>(audit::record(&mut tx, network, &origin, change).await?)
        })
        .await?;
    Ok(note)
}

/// Notes about a player, pinned ones first, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    player: PlayerId,
    place: (i64, i64),
) -> Result<(Vec<StaffNote>, i64), NotesError> {
    Ok(store::list(&app.db, network, player, place).await?)
}

/// Deletes a note of the caller, or as an admin any.
pub(super) async fn delete(app: &App, caller: &Caller, player: PlayerId, id: &str) -> Result<(), NotesError> {
    let (network, origin) = (caller.network, caller.origin(app));
    app.db
        .transaction(async |mut tx| {
            let note = store::delete(&mut tx, network, player, id).await?.ok_or(NotesError::Unknown(player))?;
            let is_own = note.actor.as_ref().is_some_and(|actor| actor.id == origin.actor.id);
            if !is_own && !caller.scopes.allow(Scope::NetworkManage) {
                return Err(NotesError::OfAnother);
            }
            let change = Change::new(Action::StaffNoteDeleted, id).before(shown(&note));
            Ok(audit::record(&mut tx, network, &origin, change).await?)
        })
        .await
}
