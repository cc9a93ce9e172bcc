//! A delivery in answers and in events.

use serde::Serialize;
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::deliveries::model::{Delivery, DeliveryState, OnLost};
use crate::http::document::Document;
use crate::values::PlayerId;

/// A delivery.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub struct DeliveryBody {
    /// Counted from 1 in the network, in the order of creation.
    #[schema(example = 42)]
    delivery_id: i64,
    /// Null while nobody was seen with the name.
    player_uuid: Option<PlayerId>,
    #[schema(example = "Steve")]
    player_name: Option<String>,
    /// Tells plugins what to do.
    #[schema(example = "kit")]
    kind: String,
    /// Any JSON value, as sent.
    #[schema(value_type = serde_json::Value, example = json!({"kit": "starter"}))]
    payload: Document,
    /// Type of the servers at which it may happen; null is any.
    #[schema(example = "survival")]
    server_type: Option<String>,
    /// Server at which it may happen; null is any.
    #[schema(example = json!(null))]
    server_id: Option<String>,
    state: DeliveryState,
    /// Number of claims.
    #[schema(example = 0)]
    attempts: i64,
    on_lost: OnLost,
    /// Caller's own name for it.
    #[schema(example = "order-4711")]
    reference: Option<String>,
    /// Reason for its last failure.
    #[schema(example = json!(null))]
    reason: Option<String>,
    /// Server of the last claim, unless it was returned.
    #[schema(example = json!(null))]
    claimed_by: Option<String>,
    /// End of the claim; null if it has none.
    #[schema(example = json!(null))]
    claimed_until: Option<Millis>,
    #[schema(example = 1_804_680_000_000_i64)]
    created_at: Millis,
    /// Time from which it may happen; null is at once.
    #[schema(example = json!(null))]
    not_before: Option<Millis>,
    /// Time until which it may happen; null is forever.
    #[schema(example = json!(null))]
    expires_at: Option<Millis>,
    /// Time of its end; null while it is open.
    #[schema(example = json!(null))]
    settled_at: Option<Millis>,
}

impl From<Delivery> for DeliveryBody {
    fn from(delivery: Delivery) -> Self {
        Self {
            delivery_id: delivery.delivery_id,
            player_uuid: delivery.player_uuid,
            player_name: delivery.player_name,
            kind: delivery.kind,
            payload: delivery.payload,
            server_type: delivery.server_type,
            server_id: delivery.server_id,
            state: delivery.state,
            attempts: delivery.attempts,
            on_lost: delivery.on_lost,
            reference: delivery.reference,
            reason: delivery.reason,
            claimed_by: delivery.claimed_by,
            claimed_until: delivery.claimed_until,
            created_at: delivery.created_at,
            not_before: delivery.not_before,
            expires_at: delivery.expires_at,
            settled_at: delivery.settled_at,
        }
    }
}

/// A delivery can be claimed at the server where its player is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeliveryReady {
    #[schema(example = 42)]
    pub(super) delivery_id: i64,
    pub(super) player_uuid: PlayerId,
    #[schema(example = "kit")]
    pub(super) kind: String,
}

/// A delivery has ended, or is held.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DeliverySettled {
    pub(super) delivery: DeliveryBody,
}
