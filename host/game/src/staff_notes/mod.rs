//! Notes of a network's staff about players.
//!
//! Invariants: a note is never changed; its author or an admin deletes it; it is erased with its player.
//! Table: `staff_notes`.

mod routes;
mod service;
mod store;

use crate::auth::Actor;
use crate::component::column::{any_text, json, text};
use crate::component::{Component, ErrorCode, TableRule, Tag};
use crate::limits::{Limit, LimitRow};

/// All notes of a network.
const STAFF_NOTES: Limit = Limit::new(&LimitRow {
    name: "staffNotes",
    bound: 5_000_000,
    counted: "Notes of staff about players.",
    effect: None,
});
/// Notes about one player.
const NOTES_PER_PLAYER: Limit =
    Limit::new(&LimitRow { name: "staffNotesPerPlayer", bound: 500, counted: "Notes about one player.", effect: None });

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "notes of a network's staff about players ([moderation](../operate/moderation.md))",
    tags: &[Tag("Staff notes", "Notes of staff about players.")],
    routes: || routes::router().database_only(),
    tables: &[TableRule::moved("staff_notes").prose(&["text"]).columns(&[
        text::<64>("note_id"),
        any_text("text"),
        json::<Actor>("actor"),
    ])],
    limits: &[STAFF_NOTES, NOTES_PER_PLAYER],
    errors: &[ErrorCode::new("unknown_staff_note", &[404], "The player has no such note.")],
    ..Component::new(module_path!())
};
