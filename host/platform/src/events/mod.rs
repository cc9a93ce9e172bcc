//! Events: one long-lived stream per server, and publication to the streams.
//!
//! Invariants: the event of a change is published if and only if the change is committed, even if its client
//! disconnected or the process was killed meanwhile; streams carry the events of one row in the order of its changes,
//! each once; a stream never shows another network's events; a server has at most one stream; a stream ends within a
//! second after its key was revoked or expired.
//! An event that streams must request is published only if one does: for other networks it costs one lookup. Events
//! also go to subscribers (webhooks): to each, once, in the transaction that deletes them from the outbox. Tables:
//! `outbox` (events not published yet), `event_listeners` and `event_subscriptions`. The bus retains recent events.

mod listeners;
mod model;
mod outbox;
mod relay;
mod routes;
mod schema;
mod service;
mod store;
mod stream;
mod subscriptions;

pub use listeners::is_listening;
pub use model::EventKind;
pub use outbox::{EventConsumer, WaitingEvents, open_data, publish_resync_in, publish_written};
pub use outbox::{Outbox, publish_in, publish_many_in};
pub use routes::router;
pub use schema::{ANY_EVENT, EventSchema, add_to};
pub use service::{PublishError, Streams, publish};
pub use service::{start, subscribe_in, waiting_events};
pub use store::{SubscribedEvent, insert_event};
pub use subscriptions::Subscriptions;
