//! Creates deliveries.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::DeliveriesWrite;
use crate::clock::Millis;
use crate::deliveries::body::DeliveryBody;
use crate::deliveries::model::OnLost;
use crate::deliveries::service::{self, Created, NewDelivery};
use crate::deliveries::values::{DeliveryKind, Reference};
use crate::endpoints::{Endpoints, endpoints};
use crate::http::document::Document;
use crate::http::error::{ApiError, ErrorBody};
use crate::http::extract::Json;
use crate::values::{Identifier, PlayerId, blank_as_absent};

/// Maximum size of a payload, in bytes of JSON without whitespace between tokens.
const PAYLOAD_LIMIT: usize = 16 * 1024;

pub(super) fn router() -> Endpoints {
    endpoints![create_delivery: transactional]
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeliveryRequest)]
struct CreateDelivery {
    /// Required unless `playerName` is there.
    player_uuid: Option<PlayerId>,
    /// Without `playerUuid` the player seen last with this name, in any case, or who is first seen with it.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(value_type = Option<String>, example = "Steve")]
    player_name: Option<Identifier>,
    kind: DeliveryKind,
    /// Any JSON value, at most 16 KiB. Default: null.
    #[serde(default)]
    #[schema(value_type = Option<serde_json::Value>, example = json!({"kit": "starter"}))]
    payload: Option<Document>,
    /// Type of the servers at which it may happen. Default: any.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(value_type = Option<String>, example = "survival")]
    server_type: Option<Identifier>,
    /// Server at which it may happen. Default: any.
    #[serde(default, deserialize_with = "blank_as_absent")]
    #[schema(value_type = Option<String>, example = json!(null))]
    server_id: Option<Identifier>,
    /// Time from which it may happen. Default: at once.
    #[schema(example = json!(null))]
    not_before: Option<Millis>,
    /// Time until which it may happen, in the future and not before `notBefore`. Default: forever.
    #[schema(example = json!(null))]
    expires_at: Option<Millis>,
    /// Own name for it, such as an order's number: sent again it creates no second delivery.
    reference: Option<Reference>,
    /// Consequence of a lost claim. Default: `HOLD`.
    on_lost: Option<OnLost>,
}

/// Create a delivery
///
/// The same `reference` again is answered with 200 and the delivery that there is, however it ended; with other values it
/// is 409 `reference_used`. If the player is on a server where it may happen now, the server gets a `DELIVERY_READY` event.
#[utoipa::path(post, path = "/api/plugin/deliveries", tag = "Deliveries",
    security(("apiKey" = ["deliveries:write", "plugin"])),
    responses((status = 201, body = DeliveryBody),
        (status = 200, body = DeliveryBody, description = "The delivery of this reference"),
        (status = 409, body = ErrorBody, description = "The reference was used with other values")))]
async fn create_delivery(
    DeliveriesWrite(caller): DeliveriesWrite,
    State(app): State<App>,
    Json(body): Json<CreateDelivery>,
) -> Result<(StatusCode, Json<DeliveryBody>), ApiError> {
    if body.player_uuid.is_none() && body.player_name.is_none() {
        return Err(ApiError::invalid("In the body, `playerUuid` or `playerName` is required."));
    }
    // It may be a command for the server's console: what a bound key makes is bound as it is.
    if !caller.acts_on(body.server_id.as_ref()) {
        return Err(ApiError::new(
            StatusCode::FORBIDDEN,
            "forbidden_origin",
            "This key is bound to servers: name one of them in `serverId`.",
        ));
    }
    let payload = body.payload.unwrap_or_else(Document::null).bounded_by("payload", PAYLOAD_LIMIT)?;
    let payload = payload.readable("In the body, `payload`")?;
    let new = NewDelivery {
        player: body.player_uuid,
        name: body.player_name,
        kind: body.kind,
        payload,
        server_type: body.server_type,
        server_id: body.server_id,
        not_before: body.not_before,
        expires_at: body.expires_at,
        reference: body.reference,
        on_lost: body.on_lost.unwrap_or_default(),
    };
    let Created { delivery, is_new } = service::create(&app, caller.network, new).await?;
    Ok((if is_new { StatusCode::CREATED } else { StatusCode::OK }, Json(delivery.into())))
}
