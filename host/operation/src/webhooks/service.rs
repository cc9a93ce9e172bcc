//! Rules of webhooks.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use hub_db::Tx;
use serde_json::{Value, json};
use thiserror::Error;

use crate::app::App;
use crate::audit::{self, Action, Change};
use crate::auth::Caller;
use crate::clock::Millis;
use crate::compute::compute_in_turn;
use crate::events::{self, EventKind};
use crate::http::answer::json_size;
use crate::http::error::ApiError;
use crate::http::if_match::{IfMatch, revision_of};
use crate::limits::{self, Limit, QuotaExceeded, Usage};
use crate::secret_text::SecretText;
use crate::secrets::{self, HubSecrets};
use crate::values::{Identifier, NetworkId};
use crate::webhooks::Webhooks;
use crate::webhooks::fan_out::{enqueue, new_message_id};
use crate::webhooks::message::Message;
use crate::webhooks::model::{
    Delivery, DeliveryState, DisabledReason, NewDelivery, TEST_EVENT, Templates, Webhook, WebhookEvent, WebhookKind,
    new_secret,
};
use crate::webhooks::notice::end_deliveries;
use crate::webhooks::store::deliveries;
use crate::webhooks::store::webhooks::{self as store, WEBHOOKS};
use crate::webhooks::subject::subject;
use crate::webhooks::template::LONGEST_TEMPLATES;
use crate::webhooks::url;

const ID_LENGTH: usize = 16;

/// Reason for the failure of a request about webhooks.
#[derive(Debug, Error)]
pub(super) enum WebhooksError {
    /// No such webhook in the caller's network.
    #[error("This network has no such webhook.")]
    Unknown,
    /// The webhook has no such delivery, or it was deleted.
    #[error("The webhook has no such delivery; ended ones are deleted after seven days.")]
    UnknownDelivery,
    /// The webhook is disabled.
    #[error("The webhook is disabled; enable it first.")]
    Disabled,
    /// The delivery is still waiting.
    #[error("The delivery is still waiting.")]
    Waiting,
    /// A value of the body is invalid.
    #[error("In the body, `{0}`: {1}.")]
    Invalid(&'static str, String),
    /// The caller lacks the scope of an event.
    #[error(transparent)]
    Forbidden(#[from] ApiError),
    /// The network's limit is reached.
    #[error(transparent)]
    Quota(#[from] QuotaExceeded),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] hub_db::Error),
}

impl From<WebhooksError> for ApiError {
    fn from(error: WebhooksError) -> Self {
        let message = error.to_string();
        match error {
            WebhooksError::Unknown => Self::not_found("unknown_webhook", message),
            WebhooksError::UnknownDelivery => Self::not_found("unknown_delivery", message),
            WebhooksError::Disabled => Self::new(StatusCode::CONFLICT, "webhook_disabled", message),
            WebhooksError::Waiting => Self::new(StatusCode::CONFLICT, "delivery_waiting", message),
            WebhooksError::Invalid(..) => Self::invalid(message),
            WebhooksError::Forbidden(error) => error,
            WebhooksError::Quota(exceeded) => exceeded.into(),
            WebhooksError::Database(error) => error.into(),
        }
    }
}

/// Fields of a request; absent ones keep their values.
#[derive(Debug, Default)]
pub(super) struct WebhookRequest {
    pub(super) name: Option<Identifier>,
    pub(super) url: Option<String>,
    pub(super) events: Option<Vec<WebhookEvent>>,
    pub(super) templates: Option<Templates>,
    pub(super) is_enabled: Option<bool>,
}

impl WebhookRequest {
    /// Checks the fields for a webhook of this kind.
    fn check(&self, app: &App, kind: WebhookKind) -> Result<(), WebhooksError> {
        if let Some(url) = &self.url {
            let wrong = |why| WebhooksError::Invalid("url", why);
            let parsed = app.state::<Webhooks>().client.parse_url(url).map_err(wrong)?;
            if kind == WebhookKind::Discord {
                url::check_discord(&parsed).map_err(wrong)?;
            }
        }
        if self.events.as_ref().is_some_and(Vec::is_empty) {
            return Err(WebhooksError::Invalid("events", "must name at least one".to_owned()));
        }
        let Some(templates) = &self.templates else { return Ok(()) };
        let wrong = |why: String| WebhooksError::Invalid("templates", why);
        if kind != WebhookKind::Discord && !templates.is_empty() {
            return Err(wrong("only Discord webhooks have templates".to_owned()));
        }
        if json_size(templates) > LONGEST_TEMPLATES {
            return Err(wrong(format!("must have at most {LONGEST_TEMPLATES} bytes in total")));
        }
        for (name, template) in templates {
            if name != TEST_EVENT {
                WebhookEvent::parse(name).map_err(wrong)?;
            }
            template.check().map_err(|why| wrong(format!("the one of {name} {why}")))?;
        }
        Ok(())
    }

    /// Applies the changes.
    fn apply(&self, webhook: &mut Webhook) {
        if let Some(name) = &self.name {
            webhook.name = Some(name.as_str().to_owned());
        }
        if let Some(url) = &self.url {
            webhook.url = url.clone().into();
        }
        if let Some(events) = &self.events {
            let names: BTreeSet<_> = events.iter().map(|event| event.0.name()).collect();
            webhook.events = names.into_iter().filter_map(|name| WebhookEvent::parse(name).ok()).collect();
        }
        if let Some(templates) = &self.templates {
            webhook.templates.clone_from(templates);
        }
        webhook.disabled = match self.is_enabled {
            Some(true) => None,
            Some(false) => webhook.disabled.or(Some(DisabledReason::Requested)),
            None => webhook.disabled,
        };
    }
}

/// A webhook's form in the audit log, which backups have in the clear: URLs of many receivers hold a token.
fn audited(webhook: &Webhook) -> Value {
    let url = url::without_token(webhook.url.expose());
    json!({"kind": webhook.kind, "name": webhook.name, "url": url, "events": webhook.events,
        "enabled": webhook.disabled.is_none()})
}

/// Refuses an enabled webhook of events that the caller could not read in the event stream.
fn require_events(caller: &Caller, webhook: &Webhook) -> Result<(), WebhooksError> {
    let events = webhook.events.iter().filter(|_| webhook.disabled.is_none());
    Ok(events.flat_map(|event| event.0.scopes()).try_for_each(|scope| caller.require(&[*scope]))?)
}

/// Creates a webhook, with its secret.
pub(super) async fn create(
    app: &App,
    caller: &Caller,
    kind: WebhookKind,
    request: WebhookRequest,
) -> Result<Webhook, WebhooksError> {
    let network = caller.network;
    request.check(app, kind)?;
    let _adding = limits::check_rows::<WebhooksError>(app, network, WEBHOOKS, 1, std::future::ready(Ok(false))).await?;
    let now = app.clock.now();
    let mut webhook = Webhook {
        network,
        id: app.ids.token(ID_LENGTH),
        kind,
        name: None,
        url: String::new().into(),
        events: vec![],
        templates: Templates::new(),
        secret: new_secret(&app.ids),
        previous_secret: None,
        previous_until: None,
        disabled: None,
        created_at: now,
        created_by: Some(caller.key.0.clone()),
        updated_at: now,
        waiting: 0,
        dropped: 0,
        failures: 0,
        failing_since: None,
        last_success_at: None,
        last_failure_at: None,
        next_attempt_at: 0,
        last_seq: 0,
    };
    request.apply(&mut webhook);
    require_events(caller, &webhook)?;
    let origin = caller.origin(app);
    app.db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            store::insert(&mut tx, app.state::<HubSecrets>(), &webhook).await?;
            subscribe(app, &mut tx, &webhook).await?;
            let change = Change::new(Action::WebhookCreated, &webhook.id).after(audited(&webhook));
            Ok::<_, WebhooksError>(audit::record(&mut tx, network, &origin, change).await?)
        })
        .await?;
    Ok(webhook)
}

async fn subscribe(app: &App, tx: &mut Tx, webhook: &Webhook) -> Result<(), hub_db::Error> {
    let kinds: Vec<EventKind> = match webhook.disabled {
        None => webhook.events.iter().map(|event| event.0).collect(),
        Some(_) => vec![],
    };
    events::subscribe_in(app, tx, webhook.network, &webhook.id, &kinds).await
}

/// One webhook.
pub(super) async fn get(app: &App, network: NetworkId, id: &str) -> Result<Webhook, WebhooksError> {
    store::find(&app.db, app.state::<HubSecrets>(), network, id).await?.ok_or(WebhooksError::Unknown)
}

/// A page of the network's webhooks, oldest first, and their number.
pub(super) async fn list(
    app: &App,
    network: NetworkId,
    limit: i64,
    offset: i64,
) -> Result<(Vec<Webhook>, i64), WebhooksError> {
    Ok(store::list(&app.db, app.state::<HubSecrets>(), network, limit, offset).await?)
}

/// A webhook that fails, or that the hub disabled for it.
pub(crate) struct FailingWebhook {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) is_disabled: bool,
    /// Time of the first failure, or of the last one before it was disabled.
    pub(crate) since: Option<Millis>,
}

/// The network's webhooks that fail, or that the hub disabled for it.
pub(crate) async fn in_trouble(app: &App, network: NetworkId) -> Result<Vec<FailingWebhook>, ApiError> {
    // A network has few.
    let (all, _) = list(app, network, limits::of(app, network).await?.value(Limit::Webhooks), 0).await?;
    let failing = all.into_iter().filter_map(|webhook| {
        let is_disabled = webhook.disabled.is_some_and(|reason| reason != DisabledReason::Requested);
        let since = if is_disabled { webhook.last_failure_at } else { webhook.failing_since };
        let is_failing = webhook.disabled.is_none() && webhook.failing_since.is_some();
        (is_disabled || is_failing).then_some(FailingWebhook { id: webhook.id, name: webhook.name, is_disabled, since })
    });
    Ok(failing.collect())
}

/// Number of the network's webhooks.
pub(crate) async fn count(app: &App, network: NetworkId) -> Result<i64, hub_db::Error> {
    limits::used(app, network, WEBHOOKS).await
}

/// Form of a webhook of which its revision is made: what its owner chose, and when.
fn chosen(webhook: &Webhook) -> Value {
    let mut shown = audited(webhook);
    shown["updatedAt"] = json!(webhook.updated_at);
    shown
}

/// Revision of what its owner chose.
pub(super) fn revision(webhook: &Webhook) -> i64 {
    revision_of(&chosen(webhook))
}

/// Changes a webhook. Enabling it resets its failures; disabling it fails the waiting deliveries.
pub(super) async fn change(
    app: &App,
    caller: &Caller,
    id: &str,
    request: WebhookRequest,
    expected: IfMatch,
) -> Result<Webhook, WebhooksError> {
    let (network, origin, now) = (caller.network, caller.origin(app), app.clock.now());
    let secrets = app.state::<HubSecrets>();
    // Its kind never changes.
    request.check(app, get(app, network, id).await?.kind)?;
    app.db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            let before = store::find_locked(&mut tx, secrets, network, id).await?.ok_or(WebhooksError::Unknown)?;
            expected.check(Some(&chosen(&before))).map_err(ApiError::from)?;
            let mut after = Webhook { updated_at: now.max(before.updated_at + 1), ..before.clone() };
            request.apply(&mut after);
            require_events(caller, &after)?;
            let has_new_url = after.url.expose() != before.url.expose();
            store::update(&mut tx, secrets, &after, has_new_url).await?;
            if has_new_url {
                store::set_url_by(&mut tx, network, id, &caller.key.0).await?;
            }
            if after.disabled.is_some() && before.disabled.is_none() {
                end_deliveries(app, &mut tx, &after).await?;
            } else {
                subscribe(app, &mut tx, &after).await?;
            }
            if request.is_enabled == Some(true) {
                store::retry(&mut tx, network, id, true, now).await?;
                app.state::<Webhooks>().wake_on_end(&tx, network, id);
            }
            let change = Change::new(Action::WebhookChanged, id).before(audited(&before)).after(audited(&after));
            audit::record(&mut tx, network, &origin, change).await?;
            store::find(&mut tx, secrets, network, id).await?.ok_or(WebhooksError::Unknown)
        })
        .await
}

/// Deletes a webhook with its deliveries.
pub(super) async fn delete(app: &App, caller: &Caller, id: &str) -> Result<(), WebhooksError> {
    let (network, origin) = (caller.network, caller.origin(app));
    let secrets = app.state::<HubSecrets>();
    app.db
        .transaction(async |mut tx| {
            let before = store::find_locked(&mut tx, secrets, network, id).await?.ok_or(WebhooksError::Unknown)?;
            events::subscribe_in(app, &mut tx, network, id, &[]).await?;
            store::delete(&mut tx, network, id).await?;
            let change = Change::new(Action::WebhookDeleted, id).before(audited(&before));
            Ok::<_, WebhooksError>(audit::record(&mut tx, network, &origin, change).await?)
        })
        .await?;
    app.state::<Usage>().removed(network, Limit::Webhooks, 1);
    Ok(())
}

/// Replaces the secret. Returns the new one, and the end of the old one's validity.
pub(super) async fn rotate_secret(
    app: &App,
    caller: &Caller,
    id: &str,
    overlap_ms: Millis,
) -> Result<(SecretText, Millis), WebhooksError> {
    let (network, origin, now) = (caller.network, caller.origin(app), app.clock.now());
    let (secret, until) = (new_secret(&app.ids), now.saturating_add(overlap_ms));
    let secrets = app.state::<HubSecrets>();
    app.db
        .transaction(async |mut tx| {
            origin.still_may(&mut tx).await?;
            let webhook = store::find_locked(&mut tx, secrets, network, id).await?.ok_or(WebhooksError::Unknown)?;
            let times = (until, now.max(webhook.updated_at + 1));
            store::rotate(&mut tx, secrets, (network, id), &secret, times).await?;
            let change = Change::new(Action::WebhookSecretRotated, id).after(json!({"overlapUntil": until}));
            Ok::<_, WebhooksError>(audit::record(&mut tx, network, &origin, change).await?)
        })
        .await?;
    Ok((secret, until))
}

/// Queues a test event.
pub(super) async fn test(app: &App, caller: &Caller, id: &str) -> Result<Delivery, WebhooksError> {
    send(app, caller, id, None).await
}

/// Queues a finished delivery again, with the same message id.
pub(super) async fn resend(app: &App, caller: &Caller, id: &str, seq: i64) -> Result<Delivery, WebhooksError> {
    send(app, caller, id, Some(seq)).await
}

/// Queues a test, or an earlier delivery again, and ends the pause after a failure, so that it is tried at once.
async fn send(app: &App, caller: &Caller, id: &str, earlier: Option<i64>) -> Result<Delivery, WebhooksError> {
    let (network, origin, now) = (caller.network, caller.origin(app), app.clock.now());
    let action = if earlier.is_some() { Action::WebhookDeliveryResent } else { Action::WebhookTested };
    app.db
        .transaction(async |mut tx| {
            let secrets = app.state::<HubSecrets>();
            let webhook = store::find_locked(&mut tx, secrets, network, id).await?.ok_or(WebhooksError::Unknown)?;
            if webhook.disabled.is_some() {
                return Err(WebhooksError::Disabled);
            }
            let delivery = match earlier {
                Some(seq) => again(&mut tx, network, id, seq).await?,
                None => test_event(app, id, now),
            };
            let queued = enqueue(app, &mut tx, network, id, std::slice::from_ref(&delivery)).await?;
            let seq = queued.ok_or(WebhooksError::Disabled)?;
            store::retry(&mut tx, network, id, false, now).await?;
            let change = Change::new(action, id).after(json!({"deliveryId": seq, "messageId": delivery.message_id}));
            audit::record(&mut tx, network, &origin, change).await?;
            deliveries::find(&mut tx, network, id, seq).await?.ok_or(WebhooksError::UnknownDelivery)
        })
        .await
}

fn test_event(app: &App, id: &str, now: Millis) -> NewDelivery {
    let data = json!({"type": TEST_EVENT, "at": now, "webhookId": id}).to_string();
    NewDelivery {
        subject: subject(TEST_EVENT, &data),
        message_id: new_message_id(app),
        event: TEST_EVENT.to_owned(),
        data,
        event_at: now,
    }
}

async fn again(tx: &mut Tx, network: NetworkId, id: &str, seq: i64) -> Result<NewDelivery, WebhooksError> {
    let ended = deliveries::find(tx, network, id, seq).await?.ok_or(WebhooksError::UnknownDelivery)?;
    if ended.state == DeliveryState::Waiting {
        return Err(WebhooksError::Waiting);
    }
    let Delivery { subject, message_id, event, data, event_at, .. } = ended;
    Ok(NewDelivery { subject, message_id, event, data, event_at })
}

/// One delivery, with its event as it was.
pub(super) async fn delivery(app: &App, network: NetworkId, id: &str, seq: i64) -> Result<Delivery, WebhooksError> {
    match deliveries::find(&app.db, network, id, seq).await? {
        Some(mut delivery) => {
            delivery.data = secrets::open_fields_with_newest(app, network, delivery.data).await?;
            Ok(delivery)
        }
        None => Err(get(app, network, id).await.err().unwrap_or(WebhooksError::UnknownDelivery)),
    }
}

/// Body of a delivery as it would be sent now, with the webhook's templates or with others.
pub(super) async fn preview(
    app: &App,
    network: NetworkId,
    id: &str,
    seq: i64,
    templates: Option<Templates>,
) -> Result<String, WebhooksError> {
    let mut webhook = get(app, network, id).await?;
    let delivery = delivery(app, network, id, seq).await?;
    let request = WebhookRequest { templates, ..WebhookRequest::default() };
    request.check(app, webhook.kind)?;
    if let Some(templates) = request.templates {
        webhook.templates = templates;
    }
    let now = app.clock.now();
    Ok(compute_in_turn(|turn| Message::new(turn, &webhook, &delivery, now)).await.body)
}

/// A page of a webhook's deliveries, newest first, and their number.
pub(super) async fn list_deliveries(
    app: &App,
    network: NetworkId,
    id: &str,
    state: Option<DeliveryState>,
    (limit, offset): (i64, i64),
) -> Result<(Vec<Delivery>, i64), WebhooksError> {
    get(app, network, id).await?;
    Ok(deliveries::list(&app.db, network, (id, state), limit, offset).await?)
}
