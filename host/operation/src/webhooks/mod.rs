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
pub mod effects;
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

use crate::component::column::{any_json, any_number, any_text, json, number, read, text, text_by};
use crate::component::{Component, ErrorCode, Now, Sealed, TableRule, Tag, Undo, UndoBy};
use crate::events::Outbox;
use crate::webhooks::model::{DeliveryState, DisabledReason, Templates, WebhookKind};

pub use deliver::Webhooks;
use fan_out::FanOut;
pub use message::{check_secret, signed_message};
pub use model::{is_subscribable, new_secret};
pub(crate) use service::{count, in_trouble};

const WEBHOOK: &str = "/api/manage/webhooks/{webhookId}";
/// Changes that can be undone.
const UNDOS: &[Undo] = &[Undo {
    action: "webhook.changed",
    target: &["webhookId"],
    fields: &["name", "events", "enabled"],
    route: WEBHOOK,
    changes: UndoBy::Patch,
    deletes: false,
    now: Now::alone(WEBHOOK),
}];

/// Declaration of this component.
pub static COMPONENT: Component = Component {
    purpose: "events sent to URLs and Discord channels ([webhooks](../operate/webhooks.md))",
    tags: &[Tag("Webhooks", "Events sent to URLs and Discord channels.")],
    routes: || routes::router().database_only(),
    tables: &[
        TableRule::moved("webhooks")
            .columns(&[
                text::<64>("webhook_id"),
                read::<WebhookKind>("kind"),
                any_text("name"),
                text_by("url", url::check_stored),
                json::<Vec<String>>("events"),
                json::<Templates>("templates"),
                text_by("secret", message::check_secret),
                text_by("previous_secret", message::check_secret),
                text::<16>("state"),
                read::<DisabledReason>("disabled_reason"),
                text::<255>("created_by"),
                text::<255>("url_by"),
            ])
            .sealed(&[Sealed::Text("url"), Sealed::Text("secret"), Sealed::Text("previous_secret")])
            .row(|row| match (row.text("state"), row.text("disabled_reason")) {
                (Some("ENABLED"), _) | (Some("DISABLED"), Some(_)) => Ok(()),
                (Some("DISABLED"), None) => {
                    Err("the column disabled_reason: must not be null where the state is DISABLED".to_owned())
                }
                _ => Err("the column state: must be ENABLED or DISABLED".to_owned()),
            }),
        TableRule::moved("webhook_deliveries")
            .columns(&[
                text::<64>("webhook_id"),
                any_number("subject"),
                text::<255>("message_id"),
                text::<64>("event"),
                any_json("data"),
                read::<DeliveryState>("state"),
                number("status", 0, 999),
                any_text("error"),
            ])
            .sealed(&[Sealed::Fields("data")]),
    ],
    errors: &[
        ErrorCode::new("unknown_webhook", &[404], "No such webhook."),
        ErrorCode::new("unknown_delivery", &[404], "No such delivery, or it was deleted."),
        ErrorCode::new("webhook_disabled", &[409], "The webhook is disabled, so nothing is sent to it."),
        ErrorCode::new("delivery_waiting", &[409], "The delivery is still waiting."),
    ],
    register: |states, opening| {
        states.insert(Webhooks::new(opening.settings)?);
        states.get::<Outbox>().add_consumer(&FanOut);
        Ok(())
    },
    creations: Some(&left::CreatedWebhooks),
    terms: store::queue::PAUSES,
    background: deliver::start,
    undos: UNDOS,
    ..Component::new(module_path!())
};
