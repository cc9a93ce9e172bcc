//! Events: one long-lived stream per server, and publication to the streams.
//!
//! Invariants: the event of a change is published if and only if the change is committed, even if its client
//! disconnected or the process was killed meanwhile; streams carry the events of one row in the order of its changes,
//! each once; a stream never shows another network's events; a server has at most one stream; a stream ends within a
//! second after its key was revoked or expired.
//! An event that streams must request is published only if one does: for other networks it costs one lookup. Events
//! also go to subscribers (webhooks): to each, once, in the transaction that deletes them from the outbox. Tables:
//! `outbox` (events not published yet), `event_listeners`, `session_listeners` and `event_subscriptions`. The bus retains recent events.

mod background;
mod cause;
mod data;
mod deletion;
mod error;
mod listeners;
mod model;
mod network_state;
mod outbox;
mod publish;
mod relay;
mod routes;
mod schema;
mod store;
mod stream;
mod streams;
mod subscriptions;

use crate::component::column::text;
use crate::component::{Component, ErrorCode, Sealed, TableRule, Tag};

pub use background::waiting_events;
pub use cause::{caused_by, has_cause};
pub use deletion::EventConsumer;
pub use error::PublishError;
pub use listeners::{earlier_writes_ended, is_listening, is_requested, is_session_listener};
pub use model::EventKind;
pub use network_state::WaitingEvents;
pub use outbox::Outbox;
pub use publish::{
    open_data, publish, publish_copies_in, publish_in, publish_many_in, publish_resync_in, publish_written,
};
pub use schema::{ANY_EVENT, add_to};
pub use store::{SubscribedEvent, insert_event};
pub use streams::Streams;
pub use subscriptions::{MODULE_SUBSCRIBER, Subscriptions, is_wanted, subscribe_in};

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "the event stream of servers, and the events that wait for it ([events](../connectors/events.md))",
    tags: &[Tag("Events", "Event stream from the hub to servers.")],
    routes: routes::router,
    tables: &[
        TableRule::left("outbox")
            .not_backed_up("short-lived events for streams that are gone")
            .without_players("short-lived events")
            .sealed(&[Sealed::Text("data"), Sealed::Fields("data")]),
        TableRule::left("event_listeners").not_backed_up("renewed by streams").without_players("names of events"),
        TableRule::left("session_listeners").not_backed_up("renewed by streams").without_players("ids of servers"),
        TableRule::moved("event_subscriptions").columns(&[text::<64>("name"), text::<80>("subscriber")]),
    ],
    errors: &[ErrorCode::new("bus_unreachable", &[503], "Events are currently unavailable; try again.")],
    register: |states, _| {
        states.insert(Outbox::default());
        states.insert(Streams::default());
        states.insert(Subscriptions::default());
        Ok(())
    },
    network_state: Some(&WaitingEvents),
    start: |app| Box::pin(background::start(app)),
    terms: store::TERMS,
    forget: |app| app.state::<Subscriptions>().forget(),
    ..Component::new(module_path!())
};
