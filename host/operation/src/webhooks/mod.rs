//! Webhooks: events of a network sent to URLs, signed by Standard Webhooks or as messages in Discord.
//!
//! Events from the outbox are queued for the webhooks that subscribe to them, in the transaction that deletes them
//! there. The network's owner sends them: several at once to each webhook, those about one subject one after the other
//! in the order of the outbox, until an answer is a success or a day has passed.
//!
//! Invariants: an event of a committed change reaches each webhook that subscribed to it at least once, in the order of
//! its subject, or its delivery has the reason; no request goes to an address that is not public, unless the operator
//! allowed it; the waiting and the stored deliveries of a webhook are bounded, and so are the requests under way of a
//! webhook, a network and a node; a hanging webhook delays only itself; secrets are shown only once.
//! Tables: `webhooks`, `webhook_deliveries`; the events that they subscribe to are in `event_subscriptions`.

mod addresses;
mod client;
mod deliver;
mod discord;
mod fan_out;
mod finish;
mod left;
mod message;
mod model;
mod notice;
mod outcome;
mod permits;
mod resolver;
mod routes;
mod schedule;
mod service;
mod store;
mod subject;
mod subject_queues;
mod template;
mod turn;
mod url;

use crate::component::{Component, ErrorCode, TableRule, Tag};
use crate::events::Outbox;

pub use deliver::Webhooks;
use fan_out::FanOut;

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "events sent to URLs and Discord channels ([webhooks](../operate/webhooks.md))",
    tags: &[Tag("Webhooks", "Events sent to URLs and Discord channels.")],
    routes: || routes::router().database_only(),
    tables: &[TableRule::moved("webhooks"), TableRule::moved("webhook_deliveries")],
    errors: &[
        ErrorCode::new("unknown_webhook", &[404], "No such webhook."),
        ErrorCode::new("unknown_delivery", &[404], "No such delivery, or it was deleted."),
        ErrorCode::new("webhook_disabled", &[409], "The webhook is disabled, so nothing is sent to it."),
        ErrorCode::new("delivery_waiting", &[409], "The delivery is still waiting."),
    ],
    register: |states, opening| {
        states.insert(Webhooks::new(opening.settings)?);
        states.get::<Outbox>().set_consumer(&FanOut);
        Ok(())
    },
    creations: Some(&left::CreatedWebhooks),
    background: deliver::start,
    ..Component::new(module_path!())
};
