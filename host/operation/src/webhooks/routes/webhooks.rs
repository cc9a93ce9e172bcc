//! Creates, lists and changes webhooks.

use axum::extract::State;
use axum::http::{HeaderName, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::{NetworkManage, Unbound};
use crate::clock::{Millis, millis};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::if_match::{IF_MATCH_DESCRIPTION, IfMatch, entity_tag};
use crate::http::overlap::overlap;
use crate::http::page::{Page, PageQuery};
use crate::secret_text::SecretText;
use crate::values::Identifier;
use crate::webhooks::model::{DisabledReason, Templates, Webhook, WebhookEvent, WebhookKind};
use crate::webhooks::notice::shown_url;
use crate::webhooks::service::{self, WebhookRequest};
use crate::webhooks::template::Template;

/// Default overlap of the old secret's validity.
const OVERLAP: std::time::Duration = std::time::Duration::from_hours(24);

/// A webhook.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub(super) struct WebhookBody {
    #[schema(example = "Zk3vXq0aP1mB7s2T")]
    webhook_id: String,
    kind: WebhookKind,
    #[schema(example = "ban feed")]
    name: Option<String>,
    /// Destination of the events. The token of a URL in Discord is not shown.
    #[schema(example = "https://example.org/hub")]
    url: String,
    /// Events that it receives.
    events: Vec<WebhookEvent>,
    /// Messages in Discord by event name; other events get a default message.
    #[schema(value_type = BTreeMap<String, Template>, example = json!({"CHAT": {"content": "{playerName}: {message}"}}))]
    templates: Templates,
    enabled: bool,
    /// Reason for which it is disabled; null while it is enabled.
    disabled_reason: Option<DisabledReason>,
    #[schema(example = 1_804_680_000_000_i64)]
    created_at: Millis,
    /// Key or person that created it.
    #[schema(example = "4fTq0ZkX91ab")]
    created_by: Option<String>,
    #[schema(example = 1_804_680_000_000_i64)]
    updated_at: Millis,
    /// Number of waiting deliveries.
    #[schema(example = 0)]
    waiting: i64,
    /// Number of deliveries that were dropped because too many waited.
    #[schema(example = 0)]
    dropped: i64,
    /// Number of consecutive failed attempts.
    #[schema(example = 0)]
    failures: i64,
    /// Time since which every attempt has failed; null if the last delivery succeeded.
    failing_since: Option<Millis>,
    last_success_at: Option<Millis>,
    last_failure_at: Option<Millis>,
    /// Time of the next attempt, or slightly later; null if nothing waits.
    next_attempt_at: Option<Millis>,
    /// Time until which messages are also signed with the previous secret.
    previous_secret_until: Option<Millis>,
}

impl WebhookBody {
    fn new(webhook: Webhook, now: Millis) -> Self {
        let is_due = webhook.waiting > 0 && webhook.disabled.is_none();
        Self {
            url: shown_url(&webhook),
            enabled: webhook.disabled.is_none(),
            previous_secret_until: webhook.previous_until.filter(|until| now < *until),
            next_attempt_at: is_due.then_some(webhook.next_attempt_at.max(now)),
            webhook_id: webhook.id,
            kind: webhook.kind,
            name: webhook.name,
            events: webhook.events,
            templates: webhook.templates,
            disabled_reason: webhook.disabled,
            created_at: webhook.created_at,
            created_by: webhook.created_by,
            updated_at: webhook.updated_at,
            waiting: webhook.waiting,
            dropped: webhook.dropped,
            failures: webhook.failures,
            failing_since: webhook.failing_since,
            last_success_at: webhook.last_success_at,
            last_failure_at: webhook.last_failure_at,
        }
    }
}

/// List the network's webhooks
///
/// Oldest first.
#[utoipa::path(get, path = "/api/manage/webhooks", operation_id = "list_webhooks", tag = "Webhooks",
    security(("apiKey" = ["network:manage"])), params(PageQuery), responses((status = 200, body = Page<WebhookBody>)))]
pub(super) async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Query(query): Query<PageQuery>,
) -> Result<Json<Page<WebhookBody>>, ApiError> {
    let (offset, now) = (query.page.offset(query.limit), app.clock.now());
    let (rows, total) = service::list(&app, caller.network, query.limit.0, offset).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(|webhook| WebhookBody::new(webhook, now))))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookCreation)]
pub(super) struct CreateWebhook {
    /// Format of the messages. Default: `STANDARD`.
    #[serde(default)]
    #[schema(default = "STANDARD")]
    kind: WebhookKind,
    /// Display name.
    #[schema(example = "ban feed")]
    name: Option<Identifier>,
    /// Destination of the events: a URL that begins with `https://` and leads to a public address.
    #[schema(max_length = 2_048, example = "https://example.org/hub")]
    url: String,
    /// Events that it receives; at least one.
    #[schema(min_items = 1)]
    events: Vec<WebhookEvent>,
    /// Messages in Discord by event name; other events get a default message.
    #[schema(value_type = Option<BTreeMap<String, Template>>, example = json!(null))]
    templates: Option<Templates>,
}

/// A webhook with its secret, which is shown only once.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NewWebhook)]
pub(super) struct CreatedWebhook {
    #[serde(flatten)]
    webhook: WebhookBody,
    /// Secret that signs its messages. Receivers of the kind `STANDARD` verify them with it; Discord ignores it.
    #[schema(value_type = String, example = "whsec_…")]
    secret: SecretText,
}

/// Create a webhook
///
/// It receives the events of changes from now on, those about one player or other subject in order, each at least once:
/// as `POST` requests, until an answer is 2xx or a day has passed. The secret is shown only in this answer. The caller needs the scope `events:read` too; a key
/// that expires, or is bound to servers or addresses, is refused (403 `forbidden_origin`).
#[utoipa::path(post, path = "/api/manage/webhooks", operation_id = "create_webhook", tag = "Webhooks",
    security(("apiKey" = ["network:manage"])), responses((status = 201, body = CreatedWebhook)))]
pub(super) async fn create(
    Unbound(caller, ..): Unbound<NetworkManage>,
    State(app): State<App>,
    Json(body): Json<CreateWebhook>,
) -> Result<(StatusCode, Json<CreatedWebhook>), ApiError> {
    let CreateWebhook { kind, name, url, events, templates } = body;
    let request = WebhookRequest { name, url: Some(url), events: Some(events), templates, is_enabled: None };
    let webhook = service::create(&app, &caller, kind, request).await?;
    let secret = webhook.secret.clone();
    let webhook = WebhookBody::new(webhook, app.clock.now());
    Ok((StatusCode::CREATED, Json(CreatedWebhook { webhook, secret })))
}

/// A webhook with the revision of what its owner chose as `ETag`.
type Tagged = ([(HeaderName, String); 1], Json<WebhookBody>);

fn tagged(webhook: Webhook, now: Millis) -> Tagged {
    (entity_tag(service::revision(&webhook)), Json(WebhookBody::new(webhook, now)))
}

/// Get a webhook
///
/// The header `ETag` has its revision, for `If-Match` of a change.
#[utoipa::path(get, path = "/api/manage/webhooks/{webhookId}", operation_id = "get_webhook", tag = "Webhooks",
    security(("apiKey" = ["network:manage"])), params(("webhookId" = String, Path, description = "The webhook's id")),
    responses((status = 200, body = WebhookBody, headers(("ETag" = String, description = "The webhook's revision"))),
        (status = 404, body = ErrorBody, description = "No such webhook")))]
pub(super) async fn get(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<Tagged, ApiError> {
    Ok(tagged(service::get(&app, caller.network, &id).await?, app.clock.now()))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookChange)]
pub(super) struct ChangeWebhook {
    /// Display name. Default: unchanged.
    #[schema(example = "ban feed")]
    name: Option<Identifier>,
    /// Destination of the events. Default: unchanged.
    #[schema(max_length = 2_048, example = "https://example.org/hub")]
    url: Option<String>,
    /// Events that it receives from now on. Default: unchanged.
    #[schema(min_items = 1)]
    events: Option<Vec<WebhookEvent>>,
    /// All its messages in Discord. Default: unchanged.
    #[schema(value_type = Option<BTreeMap<String, Template>>, example = json!(null))]
    templates: Option<Templates>,
    /// Enables or disables the webhook. `true` also retries waiting deliveries at once.
    enabled: Option<bool>,
}

/// Change a webhook
///
/// Absent fields keep their values. Disabling fails the waiting deliveries; they can be resent. With `If-Match` only at that
/// revision, the `ETag` of reading it: else it is 409 `revision_changed` with what is there now.
#[utoipa::path(patch, path = "/api/manage/webhooks/{webhookId}", operation_id = "change_webhook", tag = "Webhooks",
    security(("apiKey" = ["network:manage"])), params(("webhookId" = String, Path, description = "The webhook's id"),
        ("If-Match" = Option<String>, Header, description = IF_MATCH_DESCRIPTION)),
    responses((status = 200, body = WebhookBody, headers(("ETag" = String, description = "The new revision"))),
        (status = 404, body = ErrorBody, description = "No such webhook"),
        (status = 409, body = ErrorBody, description = "Somebody changed it since the revision of `If-Match`")))]
pub(super) async fn change(
    Unbound(caller, ..): Unbound<NetworkManage>,
    State(app): State<App>,
    Path(id): Path<String>,
    expected: IfMatch,
    Json(body): Json<ChangeWebhook>,
) -> Result<Tagged, ApiError> {
    let ChangeWebhook { name, url, events, templates, enabled: is_enabled } = body;
    let request = WebhookRequest { name, url, events, templates, is_enabled };
    Ok(tagged(service::change(&app, &caller, &id, request, expected).await?, app.clock.now()))
}

/// Delete a webhook
///
/// Stops its deliveries and deletes them.
#[utoipa::path(delete, path = "/api/manage/webhooks/{webhookId}", operation_id = "delete_webhook", tag = "Webhooks",
    security(("apiKey" = ["network:manage"])), params(("webhookId" = String, Path, description = "The webhook's id")),
    responses((status = 204, description = "Deleted"), (status = 404, body = ErrorBody, description = "No such webhook")))]
pub(super) async fn delete(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    service::delete(&app, &caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookSecretRotation)]
pub(super) struct RotateSecret {
    /// Milliseconds for which messages are also signed with the old secret. Default: a day.
    #[schema(minimum = 0, maximum = 2_592_000_000_i64, example = 86_400_000)]
    overlap_ms: Option<Millis>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = NewWebhookSecret)]
pub(super) struct RotatedSecret {
    /// New secret that signs messages.
    #[schema(value_type = String, example = "whsec_…")]
    secret: SecretText,
    /// Time until which messages are also signed with the old secret.
    #[schema(example = 1_804_766_400_000_i64)]
    previous_secret_until: Millis,
}

/// Replace a webhook's secret
///
/// Until the overlap ends, `webhook-signature` contains a signature of each secret, separated by a space. Only one
/// previous secret is kept: another rotation ends the overlap of the older one.
#[utoipa::path(post, path = "/api/manage/webhooks/{webhookId}/rotate-secret", operation_id = "rotate_webhook_secret",
    tag = "Webhooks", security(("apiKey" = ["network:manage"])),
    params(("webhookId" = String, Path, description = "The webhook's id")),
    responses((status = 201, body = RotatedSecret), (status = 404, body = ErrorBody, description = "No such webhook")))]
pub(super) async fn rotate_secret(
    Unbound(caller, ..): Unbound<NetworkManage>,
    State(app): State<App>,
    Path(id): Path<String>,
    Json(body): Json<RotateSecret>,
) -> Result<(StatusCode, Json<RotatedSecret>), ApiError> {
    let overlap = overlap(body.overlap_ms, millis(OVERLAP))?;
    let (secret, previous_secret_until) = service::rotate_secret(&app, &caller, &id, overlap).await?;
    Ok((StatusCode::CREATED, Json(RotatedSecret { secret, previous_secret_until })))
}
