//! Lists, claims and settles deliveries, for game servers.

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::auth::DeliveriesWrite;
use crate::clock::Millis;
use crate::deliveries::body::DeliveryBody;
use crate::deliveries::ready::MAX_OFFERED;
use crate::deliveries::service;
use crate::deliveries::values::ClaimText;
use crate::endpoints::{Endpoints, endpoints};
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::{Json, Path, Query};
use crate::values::{Identifier, PlayerId, Text, not_blank};

pub(super) fn router() -> Endpoints {
    endpoints![
        list_ready_deliveries: large_answer,
        claim_delivery: transactional secret,
        complete_delivery: transactional,
        fail_delivery: transactional,
    ]
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
struct ReadyQuery {
    /// Server that would claim them.
    #[param(value_type = String, example = "survival-1")]
    server_id: Identifier,
    /// Only those of this player.
    #[param(example = "069a79f4-44e9-4726-a5be-fca90e38aaf5")]
    player_uuid: Option<String>,
}

/// Deliveries that can be claimed.
#[derive(Debug, Serialize, ToSchema)]
struct ReadyDeliveries {
    /// In the order of their creation, at most 100.
    items: Vec<DeliveryBody>,
    /// True if there are more.
    #[schema(example = false)]
    more: bool,
}

/// List the deliveries that a server may claim
///
/// Those of the players who are on the server, that are due and may happen there. Of one player and kind, only the one
/// created first: the next is offered when it is settled or held.
#[utoipa::path(get, path = "/api/plugin/deliveries", tag = "Deliveries",
    security(("apiKey" = ["deliveries:write", "plugin"])), params(ReadyQuery),
    responses((status = 200, body = ReadyDeliveries)))]
async fn list_ready_deliveries(
    DeliveriesWrite(caller): DeliveriesWrite,
    State(app): State<App>,
    Query(query): Query<ReadyQuery>,
) -> Result<Json<ReadyDeliveries>, ApiError> {
    let player = not_blank(query.player_uuid.as_deref()).map(str::parse::<PlayerId>).transpose();
    let player = player.map_err(|reason| ApiError::invalid(format!("In the query, `playerUuid`: {reason}.")))?;
    let mut found = service::claimable(&app, caller.network, &query.server_id, player, MAX_OFFERED + 1).await?;
    let more = found.len() as i64 > MAX_OFFERED;
    found.truncate(MAX_OFFERED as usize);
    Ok(Json(ReadyDeliveries { items: found.into_iter().map(DeliveryBody::from).collect(), more }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeliveryClaimRequest)]
struct ClaimDelivery {
    /// Server that carries it out: the one where the player is.
    #[schema(example = "survival-1")]
    server_id: Identifier,
}

/// A claim: only its holder can settle the delivery.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeliveryClaim {
    /// Secret by which the claim is completed or failed.
    #[schema(example = "42.mZ0fQ7…")]
    claim: String,
    delivery: DeliveryBody,
    /// End of the claim, a minute from now.
    #[schema(example = 1_804_680_060_000_i64)]
    claimed_until: Option<Millis>,
}

/// Claim a delivery
///
/// Carry it out and complete or fail the claim within a minute. After that it is lost: the delivery is offered again
/// (`onLost` `RETRY`), or held for a person to decide (`HOLD`). Send an `Idempotency-Key`: a repetition gets the same claim.
#[utoipa::path(post, path = "/api/plugin/deliveries/{deliveryId}/claim", tag = "Deliveries",
    security(("apiKey" = ["deliveries:write", "plugin"])), params(("deliveryId" = i64, Path, description = "Id of the delivery", example = 1)),
    responses((status = 200, body = DeliveryClaim), (status = 404, body = ErrorBody, description = "No such delivery"),
        (status = 409, body = ErrorBody, description = "`claimed`, `settled` or `not_ready`")))]
async fn claim_delivery(
    DeliveriesWrite(caller): DeliveriesWrite,
    State(app): State<App>,
    Path(id): Path<i64>,
    Json(body): Json<ClaimDelivery>,
) -> Result<Json<DeliveryClaim>, ApiError> {
    let claimed = service::claim(&app, caller.network, id, &body.server_id).await?;
    let claimed_until = claimed.delivery.claimed_until;
    Ok(Json(DeliveryClaim { claim: claimed.claim, delivery: claimed.delivery.into(), claimed_until }))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = DeliveryCompletion)]
struct CompleteDelivery {
    claim: ClaimText,
}

/// Complete a claimed delivery
///
/// It is `DELIVERED`. A repetition is answered as the first call. Effects that are saved with a player session name the
/// claim there instead: then both happen together.
#[utoipa::path(post, path = "/api/plugin/deliveries/{deliveryId}/complete", tag = "Deliveries",
    security(("apiKey" = ["deliveries:write", "plugin"])), params(("deliveryId" = i64, Path, description = "Id of the delivery", example = 1)),
    responses((status = 200, body = DeliveryBody), (status = 404, body = ErrorBody, description = "No such delivery"),
        (status = 409, body = ErrorBody, description = "The claim is wrong or has expired")))]
async fn complete_delivery(
    DeliveriesWrite(caller): DeliveriesWrite,
    State(app): State<App>,
    Path(id): Path<i64>,
    Json(body): Json<CompleteDelivery>,
) -> Result<Json<DeliveryBody>, ApiError> {
    Ok(Json(service::complete(&app, &caller, id, &body.claim).await?.into()))
}

#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = DeliveryFailure)]
struct FailDelivery {
    claim: ClaimText,
    /// Human-readable reason.
    #[schema(example = "inventory full")]
    reason: Option<Text<500>>,
    /// True to offer it again, up to 5 attempts. Default: false.
    #[schema(example = true)]
    retry: Option<bool>,
}

/// Fail a claimed delivery
///
/// It is offered again or, without `retry` and after 5 attempts, `FAILED`. A repetition is answered as the first call, until
/// the delivery is claimed again.
#[utoipa::path(post, path = "/api/plugin/deliveries/{deliveryId}/fail", tag = "Deliveries",
    security(("apiKey" = ["deliveries:write", "plugin"])), params(("deliveryId" = i64, Path, description = "Id of the delivery", example = 1)),
    responses((status = 200, body = DeliveryBody), (status = 404, body = ErrorBody, description = "No such delivery"),
        (status = 409, body = ErrorBody, description = "The claim is wrong or has expired")))]
async fn fail_delivery(
    DeliveriesWrite(caller): DeliveriesWrite,
    State(app): State<App>,
    Path(id): Path<i64>,
    Json(body): Json<FailDelivery>,
) -> Result<Json<DeliveryBody>, ApiError> {
    let outcome = (body.reason.map(Text::into_string), body.retry.unwrap_or(false));
    Ok(Json(service::fail(&app, &caller, id, &body.claim, outcome).await?.into()))
}
