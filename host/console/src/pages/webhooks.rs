//! Webhooks: where events go, their deliveries as they were sent, and their secrets.

use serde_json::{Value, json};
use tokio::join;

use crate::action::{Action, Verb};
use crate::form::Field;
use crate::page::{Page, page};
use crate::refusal::Refusal;
use crate::visit::Visit;

pub(super) static PAGES: &[Page] = &[
    page!("/n/{network}/webhooks", "webhooks.html", list),
    page!("/n/{network}/webhooks/{webhookId}", "webhook.html", one),
    page!("/n/{network}/webhooks/{webhookId}/deliveries/{deliveryId}", "webhook-delivery.html", delivery),
];

const LIST: &str = "/n/{network}/webhooks";
const PAGE: &str = "/n/{network}/webhooks/{webhookId}";
const WEBHOOK: &str = "/api/manage/webhooks/{webhookId}";
const DELIVERY: &str = "/n/{network}/webhooks/{webhookId}/deliveries/{deliveryId}";
const NEW: &[Field] = &[Field::text("kind"), Field::text("name"), Field::text("url"), Field::list("events")];
const CHANGED: &[Field] = &[Field::text("name"), Field::text("url"), Field::list("events"), Field::json("templates")];
const ENABLED: &[Field] = &[Field::choice("enabled")];
const ROTATED: &[Field] = &[Field::number("overlapMs")];
const PREVIEWED: &[Field] = &[Field::json("templates")];

/// Events that webhooks can subscribe to; a test compares them with the document.
const EVENTS: &[&str] = &[
    "APPEAL_CREATED",
    "BALANCE_CHANGED",
    "CHAT",
    "CHAT_VERDICT",
    "CONFIG_UPDATED",
    "DELIVERY_READY",
    "DELIVERY_SETTLED",
    "LOCALIZATION_UPDATED",
    "MODULE_DEAD_LETTER",
    "MODULE_EVENT",
    "MODULE_LAGGING",
    "PERMISSIONS_UPDATED",
    "PLAYER_JOINED",
    "PLAYER_LEFT",
    "PLAYER_SWITCHED",
    "PUNISHMENT",
    "REPORT_CREATED",
    "SERVER_OFFLINE",
    "SERVER_ONLINE",
    "SESSION_ENDED",
    "TICKET_MATCHED",
    "WORLD_READY",
    "WORLD_STATE",
];

pub(super) static ACTIONS: &[Action] = &[
    Action::post(LIST, "/api/manage/webhooks", NEW, LIST, "").show(),
    Action::post(PAGE, WEBHOOK, CHANGED, PAGE, "Saved").verb(Verb::Patch).unless_changed(WEBHOOK),
    Action::post("/n/{network}/webhooks/{webhookId}/enabled", WEBHOOK, ENABLED, PAGE, "Changed").verb(Verb::Patch),
    Action::post("/n/{network}/webhooks/{webhookId}/delete", WEBHOOK, &[], PAGE, "")
        .verb(Verb::Delete)
        .confirm("webhookId")
        .go(LIST, "Deleted"),
    Action::post(
        "/n/{network}/webhooks/{webhookId}/rotate",
        "/api/manage/webhooks/{webhookId}/rotate-secret",
        ROTATED,
        PAGE,
        "",
    )
    .show(),
    Action::post(
        "/n/{network}/webhooks/{webhookId}/deliveries/{deliveryId}/preview",
        "/api/manage/webhooks/{webhookId}/deliveries/{deliveryId}/preview",
        PREVIEWED,
        DELIVERY,
        "",
    )
    .show(),
    Action::post("/n/{network}/webhooks/{webhookId}/test", "/api/manage/webhooks/{webhookId}/test", &[], PAGE, "Sent"),
    Action::post(
        "/n/{network}/webhooks/{webhookId}/deliveries/{deliveryId}/resend",
        "/api/manage/webhooks/{webhookId}/deliveries/{deliveryId}/resend",
        &[],
        PAGE,
        "Sent",
    ),
    Action::post(DELIVERY, "/api/manage/webhooks/{webhookId}/deliveries/{deliveryId}/resend", &[], DELIVERY, "Sent"),
];

async fn list(visit: &Visit) -> Result<Value, Refusal> {
    let webhooks = visit.get("/api/manage/webhooks", &[("limit", "100")]).await?;
    Ok(json!({"webhooks": webhooks, "events": EVENTS}))
}

async fn one(visit: &Visit) -> Result<Value, Refusal> {
    let query = [("limit", "50"), ("page", visit.query("page")), ("state", visit.query("state"))];
    let (webhook, deliveries) =
        join!(visit.get(WEBHOOK, &[]), visit.get("/api/manage/webhooks/{webhookId}/deliveries", &query));
    Ok(json!({"webhook": webhook?, "deliveries": deliveries?, "events": EVENTS}))
}

async fn delivery(visit: &Visit) -> Result<Value, Refusal> {
    let (webhook, delivery) =
        join!(visit.get(WEBHOOK, &[]), visit.get("/api/manage/webhooks/{webhookId}/deliveries/{deliveryId}", &[]));
    Ok(json!({"webhook": webhook?, "delivery": delivery?}))
}
