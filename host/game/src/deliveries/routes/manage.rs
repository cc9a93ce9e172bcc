//! Lists deliveries and decides about them, for people.

use axum::extract::State;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::app::App;
use crate::auth::{Caller, DeliveriesManage, DeliveriesRead};
use crate::deliveries::body::DeliveryBody;
use crate::deliveries::model::DeliveryState;
use crate::deliveries::service::{self, Decision};
use crate::deliveries::store::list::DeliveryFilter;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::answer::{ANSWER_LIMIT, json_size};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::http::page::{Limit, Page, PageNumber};
use crate::values::{PlayerId, not_blank};

pub(super) fn router() -> Endpoints {
    endpoints![
        list_deliveries: large_answer,
        retry_delivery: transactional,
        cancel_delivery: transactional,
        confirm_delivery: transactional,
    ]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct DeliveriesQuery {
    /// Number of rows: 50 by default, 200 at most.
    #[serde(default)]
    #[param(inline, required = false)]
    limit: Limit,
    /// Page number, counted from 0.
    #[serde(default)]
    #[param(inline, required = false)]
    page: PageNumber,
    /// Only those in this state.
    #[param(example = "HELD")]
    state: Option<String>,
    /// Only those of this player.
    #[param(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    player_uuid: Option<String>,
    /// Only those of this kind.
    #[param(example = "kit")]
    kind: Option<String>,
}

/// List deliveries
///
/// Newest first. Settled ones are listed for 400 days. A page over 4 MiB is 400 `answer_too_large`: ask for a smaller
/// `limit`. Moderators may read.
#[utoipa::path(get, path = "/api/manage/deliveries", tag = "Deliveries",
    security(("apiKey" = ["deliveries:manage", "network:manage"])), params(DeliveriesQuery),
    responses((status = 200, body = Page<DeliveryBody>)))]
async fn list_deliveries(
    DeliveriesRead(caller): DeliveriesRead,
    State(app): State<App>,
    Query(query): Query<DeliveriesQuery>,
) -> Result<Json<Page<DeliveryBody>>, ApiError> {
    let wrong = |name: &str, reason: String| ApiError::invalid(format!("In the query, `{name}`: {reason}."));
    let state = not_blank(query.state.as_deref()).map(str::parse::<DeliveryState>).transpose();
    let player = not_blank(query.player_uuid.as_deref()).map(str::parse::<PlayerId>).transpose();
    let filter = DeliveryFilter {
        state: state.map_err(|_| wrong("state", "must be a state of deliveries".to_owned()))?,
        player: player.map_err(|reason| wrong("playerUuid", reason))?,
        kind: not_blank(query.kind.as_deref()).map(str::to_owned),
    };
    let offset = query.page.offset(query.limit);
    let (rows, total) = service::list(&app, caller.network, &filter, query.limit.0, offset).await?;
    let page = Page::new(rows, query.page, query.limit, total).map(DeliveryBody::from);
    if json_size(&page) > ANSWER_LIMIT {
        return Err(ApiError::bad_request(
            "answer_too_large",
            "The answer would be too large; ask for a smaller `limit`.",
        ));
    }
    Ok(Json(page))
}

async fn decide(app: &App, caller: &Caller, id: i64, decision: Decision) -> Result<Json<DeliveryBody>, ApiError> {
    Ok(Json(service::decide(app, caller, id, decision).await?.into()))
}

/// Offer a held or failed delivery again
///
/// Its attempts begin anew. If it was held, it may happen twice.
#[utoipa::path(post, path = "/api/manage/deliveries/{deliveryId}/retry", tag = "Deliveries",
    security(("apiKey" = ["deliveries:manage", "network:manage"])), params(("deliveryId" = i64, Path, description = "Id of the delivery", example = 1)),
    responses((status = 200, body = DeliveryBody), (status = 404, body = ErrorBody, description = "No such delivery"),
        (status = 409, body = ErrorBody, description = "It is neither held nor failed, or its time is over")))]
async fn retry_delivery(
    DeliveriesManage(caller): DeliveriesManage,
    State(app): State<App>,
    Path(id): Path<i64>,
) -> Result<Json<DeliveryBody>, ApiError> {
    decide(&app, &caller, id, Decision::Retry).await
}

/// Take a pending or held delivery back
#[utoipa::path(post, path = "/api/manage/deliveries/{deliveryId}/cancel", tag = "Deliveries",
    security(("apiKey" = ["deliveries:manage", "network:manage"])), params(("deliveryId" = i64, Path, description = "Id of the delivery", example = 1)),
    responses((status = 200, body = DeliveryBody), (status = 404, body = ErrorBody, description = "No such delivery"),
        (status = 409, body = ErrorBody, description = "It is neither pending nor held")))]
async fn cancel_delivery(
    DeliveriesManage(caller): DeliveriesManage,
    State(app): State<App>,
    Path(id): Path<i64>,
) -> Result<Json<DeliveryBody>, ApiError> {
    decide(&app, &caller, id, Decision::Cancel).await
}

/// Confirm that a held delivery happened
///
/// It is `DELIVERED`.
#[utoipa::path(post, path = "/api/manage/deliveries/{deliveryId}/confirm", tag = "Deliveries",
    security(("apiKey" = ["deliveries:manage", "network:manage"])), params(("deliveryId" = i64, Path, description = "Id of the delivery", example = 1)),
    responses((status = 200, body = DeliveryBody), (status = 404, body = ErrorBody, description = "No such delivery"),
        (status = 409, body = ErrorBody, description = "It is not held")))]
async fn confirm_delivery(
    DeliveriesManage(caller): DeliveriesManage,
    State(app): State<App>,
    Path(id): Path<i64>,
) -> Result<Json<DeliveryBody>, ApiError> {
    decide(&app, &caller, id, Decision::Confirm).await
}
