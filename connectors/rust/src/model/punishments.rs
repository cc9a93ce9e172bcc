// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::PunishmentKind;

/// Decision of the network's modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum PunishmentPreviewDecision {
    Accept,
    Amend,
    Reject,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddressPunishmentRequest {
    /// Milliseconds; absent or null is permanent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// IPv4 or IPv6; null or blank has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_name: Option<String>,
    /// Absent if issued by the console.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_uuid: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Case-insensitive. Required unless `ipAddress` is null or blank.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<PunishmentKind>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddressUnban {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_name: Option<String>,
    /// Absent if revoked by the console.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_uuid: Option<Uuid>,
    pub ip_address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NamePunishmentRequest {
    /// Milliseconds; absent or null is permanent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Also punishes the player's addresses: the last known one and later ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_based: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_name: Option<String>,
    /// Absent if issued by the console.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_uuid: Option<Uuid>,
    pub player_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Case-insensitive.
    #[serde(rename = "type")]
    pub kind: PunishmentKind,
}

impl NamePunishmentRequest {
    /// One with the required fields.
    pub fn new(player_name: &str, kind: PunishmentKind) -> Self {
        Self {
            duration_ms: None,
            ip_based: None,
            issuer_name: None,
            issuer_uuid: None,
            player_name: player_name.to_owned(),
            reason: None,
            kind,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NameUnban {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_name: Option<String>,
    /// Absent if revoked by the console.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_uuid: Option<Uuid>,
    /// Also revokes the bans of the player's last known address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_unban_last_ip: Option<bool>,
    pub player_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayerAddress {
    pub ip_address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
}

/// A module that was asked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PreviewModule {
    /// True if its call failed.
    pub failed: bool,
    pub name: String,
    pub version: i64,
}

/// A punishment that would be made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PreviewedPunishment {
    /// Null is permanent.
    pub duration_ms: Option<i64>,
    pub reason: Option<String>,
    #[serde(rename = "type")]
    pub kind: PunishmentKind,
}

/// Outcome that a punishment would have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PunishmentPreview {
    pub decision: PunishmentPreviewDecision,
    /// Modules that were asked, in order.
    pub modules: Vec<PreviewModule>,
    /// The punishment, and those that the modules add; none if it is rejected.
    pub punishments: Vec<PreviewedPunishment>,
    /// Reason of the modules to reject it.
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PunishmentPreviewRequest {
    /// Milliseconds; absent or null is permanent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_based: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_uuid: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    /// Required without `playerName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_uuid: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Case-insensitive.
    #[serde(rename = "type")]
    pub kind: PunishmentKind,
}

impl PunishmentPreviewRequest {
    /// One with the required fields.
    pub fn new(kind: PunishmentKind) -> Self {
        Self {
            duration_ms: None,
            ip_based: None,
            issuer_name: None,
            issuer_uuid: None,
            player_name: None,
            player_uuid: None,
            reason: None,
            kind,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PunishmentRemoval {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_name: Option<String>,
    /// Absent if revoked by the console.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_uuid: Option<Uuid>,
    pub punishment_id: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PunishmentRequest {
    /// Milliseconds; absent or null is permanent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Also punishes the player's addresses: the last known one and later ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_based: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_name: Option<String>,
    /// Absent if issued by the console.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_uuid: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Case-insensitive.
    #[serde(rename = "type")]
    pub kind: PunishmentKind,
}

impl PunishmentRequest {
    /// One with the required fields.
    pub fn new(player_uuid: Uuid, kind: PunishmentKind) -> Self {
        Self {
            duration_ms: None,
            ip_based: None,
            issuer_name: None,
            issuer_uuid: None,
            player_name: None,
            player_uuid,
            reason: None,
            kind,
        }
    }
}
