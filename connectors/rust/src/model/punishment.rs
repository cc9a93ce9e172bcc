//! Punishments.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The kinds of punishments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PunishmentType {
    /// Keeps the player out.
    Ban,
    /// Keeps the player from chatting.
    Mute,
    /// Recorded, and active.
    Warn,
    /// Recorded, and never active.
    Kick,
}

/// A punishment, active or not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Punishment {
    /// Its number.
    pub id: i64,
    /// Whom it concerns; none for one of a name or an address.
    pub player_uuid: Option<Uuid>,
    /// The name.
    pub player_name: Option<String>,
    /// Its kind.
    #[serde(rename = "type")]
    pub kind: PunishmentType,
    /// Why.
    pub reason: Option<String>,
    /// How long, in milliseconds; none is permanent.
    pub duration_ms: Option<i64>,
    /// None is never.
    pub expires_at: Option<i64>,
    /// Whether it also covers the player's addresses.
    pub ip_based: bool,
    /// Whether it was in force when the hub answered.
    pub active: bool,
    /// The address it covers.
    pub ip_address: Option<String>,
    /// Who punished.
    pub issuer_uuid: Option<Uuid>,
    /// Who punished.
    pub issuer_name: Option<String>,
    /// When.
    pub issued_at: i64,
}
