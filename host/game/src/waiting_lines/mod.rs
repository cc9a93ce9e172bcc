//! Waiting lines: tickets for players and parties who wait until there is room on a server or world.
//!
//! A line is in the memory of the network's owner ([`memory`]), in the order of its tickets ([`order`]); the database has a
//! copy, written before a request is answered and before a match is announced. Slots are presence's reservations, and the
//! evaluation of servers and worlds is matchmaking's. Presence's lock is taken first, then that of the lines.
//!
//! Invariants: an active ticket is in one line at most once; a player is in at most one active ticket; a free slot that a
//! waiting ticket could use goes to the first of them over all lines, and no `find` takes it. Tables: `waiting_tickets`,
//! `waiting_line_settings`.

mod background;
mod memory;
mod model;
mod network;
mod network_state;
mod order;
mod placing;
mod ranked;
mod routes;
mod saved;
mod saving;
pub mod service;
mod store;

use crate::cluster::ShardRegistry;
use crate::component::column::text_by;
use crate::component::{Component, ErrorCode, EventSchema, Now, TableRule, Undo, UndoBy};
use crate::events::EventKind;
use crate::networks;

pub use network::WaitingLines;
pub use network_state::LinesState;

/// Changes that can be undone.
const UNDOS: &[Undo] = &[Undo {
    action: "line.put",
    target: &["line"],
    fields: &["paused", "pausedUntil", "maxWaiting"],
    route: "/api/manage/matchmaking/lines/{line}",
    changes: UndoBy::Put,
    deletes: false,
    now: Now::among("/api/manage/matchmaking/lines?limit=200", "line", "line"),
}];

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "lines of players and parties who wait until there is room ([waiting lines](../connectors/waiting-lines.md))",
    routes: routes::router,
    events: || {
        vec![
            EventSchema::of::<saving::TicketMatched>(EventKind::TicketMatched),
            EventSchema::of::<background::TicketUpdated>(EventKind::TicketUpdated),
        ]
    },
    tables: &[
        TableRule::left("waiting_tickets").not_backed_up("live for minutes"),
        TableRule::moved("waiting_line_settings")
            .without_players("settings of lines")
            .columns(&[text_by("line", model::read_line)]),
    ],
    errors: &[
        ErrorCode::new("unknown_ticket", &[404], "No such ticket in the network; ended ones are kept for 10 minutes."),
        ErrorCode::new("ticket_ended", &[409], "The ticket of a waiting line has ended and cannot be changed."),
    ],
    register: |states, _| {
        states.insert(WaitingLines::default());
        Ok(())
    },
    network_state: Some(&LinesState),
    clock_set: |app, _, shift| network::shift(app, shift),
    start: |app| {
        Box::pin(async move {
            if app.state::<ShardRegistry>().is_single_node() {
                // In turn: reads, before the first request.
                for network in networks::service::network_ids(&app.db).await? {
                    saving::restore(app, network).await?;
                }
            }
            Ok(())
        })
    },
    background: background::start,
    stop: |app| Box::pin(saving::stop(app)),
    undos: UNDOS,
    ..Component::new(module_path!())
};
