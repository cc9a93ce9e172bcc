//! `players.wit`.

use super::PunishmentKind;
use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// Period of a statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(enum)]
#[serde(rename_all = "UPPERCASE")]
#[repr(u8)]
pub enum Period {
    /// The day, in UTC.
    #[component(name = "daily")]
    Daily,
    /// The week from Monday.
    #[component(name = "weekly")]
    Weekly,
    /// The month.
    #[component(name = "monthly")]
    Monthly,
    /// All time.
    #[component(name = "lifetime")]
    Lifetime,
}

/// Resolution of a permission node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(enum)]
#[serde(rename_all = "camelCase")]
#[repr(u8)]
pub enum PermissionState {
    /// A node grants it.
    #[component(name = "granted")]
    Granted,
    /// A node denies it.
    #[component(name = "denied")]
    Denied,
    /// No grant or denial exists.
    #[component(name = "undefined")]
    Undefined,
}

/// Location of an online player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Server of the player.
    #[component(name = "server-id")]
    pub server_id: String,
    /// Type of the server.
    #[component(name = "server-type")]
    pub server_type: String,
    /// World of the player.
    #[component(name = "world-id")]
    pub world_id: Option<String>,
}

/// Filter of a list of punishments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct PunishmentFilter {
    /// Only those issued at this time or later.
    #[component(name = "since-ms")]
    pub since_ms: Option<u64>,
    /// Only those of this kind.
    #[component(name = "kind")]
    #[serde(rename = "type")]
    pub kind: Option<PunishmentKind>,
    /// At most this many, 1 to 100 (checked by the sandbox); the newest are kept.
    #[component(name = "limit")]
    pub limit: u32,
}

/// One punishment of a player's record.
#[allow(clippy::struct_excessive_bools)] // The contract has these four.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Punishment {
    /// Its id in the network.
    #[component(name = "id")]
    pub id: u64,
    /// Kind of punishment.
    #[component(name = "kind")]
    #[serde(rename = "type")]
    pub kind: PunishmentKind,
    /// Reason given by its issuer.
    #[component(name = "reason")]
    pub reason: String,
    /// Time of issue, in milliseconds since the Unix epoch.
    #[component(name = "issued-at-ms")]
    pub issued_at_ms: u64,
    /// Duration; `None` is permanent.
    #[component(name = "duration-ms")]
    pub duration_ms: Option<u64>,
    /// True if it covers the player's address too.
    #[component(name = "ip-based")]
    pub ip_based: bool,
    /// Name of its issuer.
    #[component(name = "issuer-name")]
    pub issuer_name: Option<String>,
    /// True while it is in force.
    #[component(name = "active")]
    pub active: bool,
    /// True if it was revoked before its end.
    #[component(name = "revoked")]
    pub revoked: bool,
    /// True if its time ran out.
    #[component(name = "expired")]
    pub expired: bool,
}
