//! Webhooks: events of a network that are sent to URLs, signed as Standard Webhooks says or as messages in Discord.
//!
//! What leaves the outbox is queued for the webhooks that subscribe to it, in the transaction that deletes it there. The
//! network's owner sends it: one request at a time to each webhook, in the order of the outbox, until it is answered with
//! success or a day has passed.
//!
//! Invariants: an event of a committed change reaches each webhook that subscribed to it at least once, in order, or its
//! delivery says why not; no request goes to an address that is not public, unless the operator allowed it; what waits for a
//! webhook and what is kept of it is bounded; a webhook that hangs holds up itself alone; secrets are shown once.
//! Tables: `webhooks`, `webhook_deliveries`; the events that they subscribe to are in `event_subscriptions`.

mod addresses;
mod client;
mod deliver;
mod discord;
mod fan_out;
mod message;
mod model;
mod notice;
mod outcome;
mod routes;
mod schedule;
mod service;
mod store;
mod template;
mod url;

pub(crate) use deliver::{Webhooks, start};
pub(crate) use fan_out::FanOut;
pub(crate) use routes::router;
