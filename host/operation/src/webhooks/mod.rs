//! Webhooks: events of a network sent to URLs, signed by Standard Webhooks or as messages in Discord.
//!
//! Events from the outbox are queued for the webhooks that subscribe to them, in the transaction that deletes them
//! there. The network's owner sends them: one request at a time to each webhook, in the order of the outbox, until an
//! answer is a success or a day has passed.
//!
//! Invariants: an event of a committed change reaches each webhook that subscribed to it at least once, in order, or
//! its delivery has the reason; no request goes to an address that is not public, unless the operator allowed it; the
//! waiting and the stored deliveries of a webhook are bounded; a hanging webhook delays only itself; secrets are shown
//! only once.
//! Tables: `webhooks`, `webhook_deliveries`; the events that they subscribe to are in `event_subscriptions`.

mod addresses;
mod client;
mod deliver;
mod discord;
mod fan_out;
mod left;
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

pub use deliver::{Webhooks, start};
pub use fan_out::FanOut;
pub use left::CreatedWebhooks;
pub use routes::router;
