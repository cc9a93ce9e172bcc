//! Deliveries of webhooks.

use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::{NetworkManage, Scope};
use crate::clock::Millis;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::values::not_blank;
use crate::webhooks::model::{Delivery, DeliveryState, Templates};
use crate::webhooks::service;
use crate::webhooks::template::Template;

/// A delivery of an event to a webhook.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookDelivery)]
pub(super) struct DeliveryBody {
    /// Number of the delivery, rising per webhook in the order of the events.
    #[schema(example = 42)]
    delivery_id: i64,
    /// The receiver's `webhook-id`; a resent delivery has that of the first.
    #[schema(example = "msg_1Ab2Cd3Ef4Gh5Ij6Kl7Mn8Op")]
    message_id: String,
    /// The event's name, or `TEST`.
    #[schema(example = "PUNISHMENT")]
    event: String,
    state: DeliveryState,
    /// Number of attempts.
    #[schema(example = 1)]
    attempts: i64,
    /// Time of the event.
    #[schema(example = 1_804_680_000_000_i64)]
    event_at: Millis,
    /// Time of queueing; it is tried for a day from then.
    #[schema(example = 1_804_680_000_000_i64)]
    queued_at: Millis,
    /// End of the last attempt.
    attempted_at: Option<Millis>,
    /// Status of the last answer; null if there was none.
    status: Option<i64>,
    /// Reason for the failure.
    error: Option<String>,
    /// Duration of the last attempt, in milliseconds.
    duration_ms: Option<i64>,
    /// Time at which it was delivered or given up.
    finished_at: Option<Millis>,
}

impl From<Delivery> for DeliveryBody {
    fn from(delivery: Delivery) -> Self {
        Self {
            delivery_id: delivery.seq,
            message_id: delivery.message_id,
            event: delivery.event,
            state: delivery.state,
            attempts: delivery.attempts,
            event_at: delivery.event_at,
            queued_at: delivery.queued_at,
            attempted_at: delivery.attempted_at,
            status: delivery.status,
            error: delivery.error,
            duration_ms: delivery.duration_ms,
            finished_at: delivery.finished_at,
        }
    }
}

/// A delivery with its event.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookDeliveryWithEvent)]
pub(super) struct DeliveryWithEvent {
    #[serde(flatten)]
    delivery: DeliveryBody,
    /// The event in its form on streams.
    #[schema(value_type = Object, example = json!({"type": "CONFIG_UPDATED", "at": 1_804_680_000_000_i64,
        "group": "lobby", "namespace": "board"}))]
    data: Box<RawValue>,
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub(super) struct DeliveriesQuery {
    /// Number of rows: 50 by default, 200 at most.
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// Page number, counted from 0.
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only deliveries in the state `WAITING`, `DELIVERED` or `FAILED`.
    #[param(example = "FAILED")]
    state: Option<String>,
}

/// List a webhook's deliveries
///
/// Newest first: waiting ones, and the retained ones that ended in the last seven days.
#[utoipa::path(get, path = "/api/manage/webhooks/{webhookId}/deliveries", operation_id = "list_webhook_deliveries",
    tag = "Webhooks", security(("apiKey" = ["network:manage"])),
    params(("webhookId" = String, Path, description = "The webhook's id"), DeliveriesQuery),
    responses((status = 200, body = Page<DeliveryBody>),
        (status = 404, body = ErrorBody, description = "No such webhook")))]
pub(super) async fn list(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<String>,
    Query(query): Query<DeliveriesQuery>,
) -> Result<Json<Page<DeliveryBody>>, ApiError> {
    let wrong = |_| ApiError::invalid("In the query, `state`: must be WAITING, DELIVERED or FAILED.");
    let state = not_blank(query.state.as_deref()).map(|state| state.parse::<DeliveryState>().map_err(wrong));
    let part = (query.limit.0, query.page.offset(query.limit));
    let (rows, total) = service::list_deliveries(&app, caller.network, &id, state.transpose()?, part).await?;
    Ok(Json(Page::new(rows, query.page, query.limit, total).map(DeliveryBody::from)))
}

/// Get a delivery with its event
#[utoipa::path(get, path = "/api/manage/webhooks/{webhookId}/deliveries/{deliveryId}",
    operation_id = "get_webhook_delivery", tag = "Webhooks", security(("apiKey" = ["network:manage"])),
    params(("webhookId" = String, Path, description = "The webhook's id"),
        ("deliveryId" = i64, Path, description = "The delivery's number")),
    responses((status = 200, body = DeliveryWithEvent),
        (status = 404, body = ErrorBody, description = "No such webhook or delivery")))]
pub(super) async fn get(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path((id, delivery)): Path<(String, i64)>,
) -> Result<Json<DeliveryWithEvent>, ApiError> {
    // It shows the event.
    caller.require(&[Scope::EventsRead])?;
    let mut delivery = service::delivery(&app, caller.network, &id, delivery).await?;
    let data = RawValue::from_string(std::mem::take(&mut delivery.data)).map_err(ApiError::internal)?;
    Ok(Json(DeliveryWithEvent { delivery: delivery.into(), data }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WebhookPreviewRequest)]
pub(super) struct PreviewRequest {
    /// Messages in Discord by event name, in place of the webhook's. Default: the webhook's.
    #[schema(value_type = Option<BTreeMap<String, Template>>, example = json!(null))]
    templates: Option<Templates>,
}

/// A message as the webhook's address gets it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WebhookPreview)]
pub(super) struct Preview {
    /// Body of the request: the signed event, or the message for Discord.
    #[schema(value_type = Object, example = json!({"content": "**Alex** joined lobby-1"}))]
    body: Box<RawValue>,
}

/// Preview a delivery
///
/// Its body as it would be sent now, with the webhook's templates or with others. Nothing is sent.
#[utoipa::path(post, path = "/api/manage/webhooks/{webhookId}/deliveries/{deliveryId}/preview",
    operation_id = "preview_webhook_delivery", tag = "Webhooks", security(("apiKey" = ["network:manage"])),
    params(("webhookId" = String, Path, description = "The webhook's id"),
        ("deliveryId" = i64, Path, description = "The delivery's number")),
    responses((status = 200, body = Preview),
        (status = 404, body = ErrorBody, description = "No such webhook or delivery")))]
pub(super) async fn preview(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path((id, delivery)): Path<(String, i64)>,
    Json(body): Json<PreviewRequest>,
) -> Result<Json<Preview>, ApiError> {
    // It shows the event.
    caller.require(&[Scope::EventsRead])?;
    let body = service::preview(&app, caller.network, &id, delivery, body.templates).await?;
    Ok(Json(Preview { body: RawValue::from_string(body).map_err(ApiError::internal)? }))
}

/// Send a test to a webhook
///
/// Queues an event `TEST`; all pauses after failures end at once. Read the delivery for the outcome.
#[utoipa::path(post, path = "/api/manage/webhooks/{webhookId}/test", operation_id = "test_webhook", tag = "Webhooks",
    security(("apiKey" = ["network:manage"])), params(("webhookId" = String, Path, description = "The webhook's id")),
    responses((status = 201, body = DeliveryBody), (status = 404, body = ErrorBody, description = "No such webhook"),
        (status = 409, body = ErrorBody, description = "The webhook is disabled")))]
pub(super) async fn test(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<(StatusCode, Json<DeliveryBody>), ApiError> {
    Ok((StatusCode::CREATED, Json(service::test(&app, &caller, &id).await?.into())))
}

/// Resend a delivery
///
/// Queues a delivered or failed one again, behind the waiting deliveries of its subject, with the same `webhook-id`; all
/// pauses after failures end at once. It is a new delivery.
#[utoipa::path(post, path = "/api/manage/webhooks/{webhookId}/deliveries/{deliveryId}/resend",
    operation_id = "resend_webhook_delivery", tag = "Webhooks", security(("apiKey" = ["network:manage"])),
    params(("webhookId" = String, Path, description = "The webhook's id"),
        ("deliveryId" = i64, Path, description = "The delivery's number")),
    responses((status = 201, body = DeliveryBody),
        (status = 404, body = ErrorBody, description = "No such webhook or delivery"),
        (status = 409, body = ErrorBody, description = "The webhook is disabled, or the delivery is still waiting")))]
pub(super) async fn resend(
    NetworkManage(caller): NetworkManage,
    State(app): State<App>,
    Path((id, delivery)): Path<(String, i64)>,
) -> Result<(StatusCode, Json<DeliveryBody>), ApiError> {
    Ok((StatusCode::CREATED, Json(service::resend(&app, &caller, &id, delivery).await?.into())))
}
