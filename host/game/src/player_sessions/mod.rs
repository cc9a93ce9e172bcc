//! Player sessions: the right of one server at a time to write a player's data.
//!
//! `docs/connectors/player-data.md` has the timeline of a switch. Each session has a fence, higher than all earlier ones of
//! its network. A write that names a fence locks the session's row, so it comes before the session's end or fails. Openers
//! wait in memory at the network's owner, without a lock and without a connection to the database. `players` opens and
//! saves by this component's service, and keeps snapshots of what a session leaves behind ([`SessionEnds`]).
//!
//! Invariants: a player has at most one open session; no fence is given twice; fences of an earlier epoch of the database
//! are refused; servers that wait for a player come in the order in which they asked.
//! Tables: `player_sessions`, `player_session_counters`.

mod error;
mod hooks;
mod memory;
mod model;
mod network_state;
mod opening;
mod routes;
pub mod service;
mod store;
mod upkeep;
mod waiting;
mod writes;

use crate::component::column::{any_json, read};
use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;
use crate::limits::{Limit, LimitRow};
use crate::values::Identifier;

pub use error::SessionError;
pub use hooks::{EndHooks, SessionBegins, SessionEnds};
pub use memory::PlayerSessions;
pub use model::{PreviousState, SaveDecision, SavedSession, Session, SessionState};
pub use opening::Opened;
pub use routes::PlayerSession;

/// Openers of a network that wait at once.
const WAITERS: Limit = Limit::new(&LimitRow {
    name: "sessionWaiters",
    bound: 1_000,
    counted: "Openings of player sessions that wait for another server.",
    effect: Some("429 `rate_limited`"),
});

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "the right of one server at a time to write a player's data ([player data](../connectors/player-data.md))",
    tags: &[Tag("Player sessions", "The right of one server at a time to write a player's data.")],
    routes: routes::router,
    events: || {
        vec![
            EventSchema::of::<model::SessionRequest>(EventKind::SessionRequested),
            EventSchema::of::<model::SessionEnd>(EventKind::SessionEnded),
        ]
    },
    tables: &[
        TableRule::moved("player_sessions").columns(&[
            read::<Identifier>("server_id"),
            read::<SessionState>("state"),
            any_json("saved_answer"),
        ]),
        TableRule::moved("player_session_counters").without_players("a number"),
    ],
    limits: &[WAITERS],
    errors: &[
        ErrorCode::new("stale_session", &[409], "The fence is not that of the player's open session."),
        ErrorCode::new("session_required", &[409], "The player has an open session; the write must name its fence."),
        ErrorCode::new("session_open", &[409], "The player has an open session; `force` ends it."),
        ErrorCode::new("stale_save", &[409], "A save with this number or a higher one was made before."),
    ],
    register: |states, _| {
        states.insert(PlayerSessions::default());
        Ok(())
    },
    network_state: Some(&network_state::OpenSessions),
    start: |app| Box::pin(network_state::start(app)),
    background: upkeep::start,
    forget: network_state::forget,
    ..Component::new(module_path!())
};
