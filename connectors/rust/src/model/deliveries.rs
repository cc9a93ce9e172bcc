// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::{Delivery, DeliveryOnLost};

/// A claim: only its holder can settle the delivery.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DeliveryClaim {
    /// Secret by which the claim is completed or failed.
    pub claim: String,
    /// End of the claim, a minute from now.
    pub claimed_until: Option<i64>,
    pub delivery: Delivery,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryClaimRequest {
    /// Server that carries it out: the one where the player is.
    pub server_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryCompletion {
    pub claim: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryFailure {
    pub claim: String,
    /// Human-readable reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// True to offer it again, up to 5 attempts. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeliveryRequest {
    /// Time until which it may happen, in the future and not before `notBefore`. Default: forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    pub kind: String,
    /// Time from which it may happen. Default: at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<i64>,
    /// Consequence of a lost claim. Default: `HOLD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_lost: Option<DeliveryOnLost>,
    /// Any JSON value, at most 16 KiB. Default: null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Value>,
    /// Without `playerUuid` the player seen last with this name, in any case, or who is first seen with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    /// Required unless `playerName` is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_uuid: Option<Uuid>,
    /// Own name for it, such as an order's number: sent again it creates no second delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Server at which it may happen. Default: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
    /// Type of the servers at which it may happen. Default: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
}

/// Deliveries that can be claimed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadyDeliveries {
    /// In the order of their creation, at most 100.
    pub items: Vec<Delivery>,
    /// True if there are more.
    pub more: bool,
}
