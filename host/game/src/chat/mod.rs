//! Chat: messages relayed to every server, through the network's filter, and the history of them that staff reads.
//!
//! Invariants: a message reaches every stream of its network, including the sender's server, or none; a message
//! refused by the filter reaches none. Connectors suppress messages of muted players: events notify them of mutes.
//! Lines are kept for the days that the network chose, at most its plan's. They are written behind the relay, many at
//! once (`history`): a crash loses those of the last half second. Table: `chat_lines`.

pub mod effects;
mod history;
mod line;
mod manage;
mod model;
mod retention;
mod routes;
pub mod service;
mod store;

use crate::component::column::{any_text, json, number, read};
use crate::component::{Component, ErrorCode, EventSchema, TableRule, Tag};
use crate::events::EventKind;
use crate::limits::{Limit, LimitRow};
use crate::values::Identifier;

pub(crate) use line::ChatLine;

/// Stored lines of a network.
const CHAT_LINES: Limit = Limit::new(&LimitRow {
    name: "chatLines",
    bound: 5_000_000,
    counted: "Chat lines that are kept.",
    effect: Some("the oldest lines are deleted"),
});

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "relays messages to all servers, through the network's filter, and keeps them for staff ([moderation](../operate/moderation.md#chat-history))",
    tags: &[Tag("Chat", "Relay chat messages to all servers, through the network's filters, and read what was said.")],
    routes: || routes::router().merge(manage::router()),
    events: || {
        vec![
            EventSchema::of::<model::ChatMessage>(EventKind::Chat),
            EventSchema::of::<line::ChatVerdict>(EventKind::ChatVerdict),
            EventSchema::of::<effects::SystemMessage>(EventKind::SystemMessage),
        ]
    },
    tables: &[
        // Lines of others stay when a player is erased, without the player's names.
        TableRule::moved("chat_lines").prose(&["search_text", "line"]).columns(&[
            number("chat_id", 0, i64::MAX >> 1),
            read::<Identifier>("server_id"),
            any_text("search_text"),
            json::<line::ChatVerdict>("line"),
        ]),
    ],
    limits: &[CHAT_LINES],
    errors: &[
        ErrorCode::new("chat_rejected", &[400], "The network's chat filter refused the message."),
        ErrorCode::new("player_offline", &[409], "The player is on no server."),
    ],
    register: |states, _| {
        states.insert(history::ChatHistory::default());
        Ok(())
    },
    network_state: Some(&history::WrittenHistory),
    background: |app| {
        history::start(app);
        retention::start(app);
    },
    forget: |app| app.state::<history::ChatHistory>().forget_ids(),
    stop: |app| Box::pin(history::stop(app)),
    ..Component::new(module_path!())
};
