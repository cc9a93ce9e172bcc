// Generated from the hub's OpenAPI document by connectors/generate.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Amount;

/// Source of a player's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum LanguageSource {
    Player,
    Auto,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// The four kinds. Case-insensitive in requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum PunishmentKind {
    Ban,
    Mute,
    Warn,
    Kick,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// Period of a statistic. Case-insensitive in requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum StatisticPeriod {
    Daily,
    Weekly,
    Monthly,
    Lifetime,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// An owner's balance of a currency.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrencyBalance {
    /// Exact amount, with at most 4 decimal places.
    pub balance: Amount,
    /// Name of the currency.
    pub currency_name: String,
}

/// A namespace's data.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DataEntry {
    /// JSON text as written.
    pub data: String,
    pub game_mode: String,
    pub namespace: String,
    /// Number of the write, from 1. Send it in a write that must not overwrite another one's.
    pub version: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DataUpdate {
    /// One JSON value as text, at most 256 KiB; it is stored byte for byte.
    pub data: String,
    /// Version this write builds on; any other than the stored one is 409. Absent: the stored data is overwritten.
    /// Ignored if nothing is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}

/// Effective permissions of a player.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EffectivePermissions {
    /// Only with `explain=true`: the deciding nodes, in the order of the request.
    pub explanation: Option<Vec<PermissionExplanation>>,
    /// Groups of the player, in order of precedence.
    pub groups: Vec<String>,
    /// Decision per requested node, spelled as requested; null if undecided. Without `node`, all decided nodes, in
    /// lower case, wildcards included.
    pub permissions: HashMap<String, Option<bool>>,
    pub player_uuid: Uuid,
    /// Rises with every change of the network's groups and of the player's own nodes. A `PERMISSIONS_UPDATED` of this
    /// revision or an earlier one is already included.
    pub revision: i64,
    /// Time at which this answer changes without a `PERMISSIONS_UPDATED`, because a node expires; null: never.
    pub valid_until: Option<i64>,
}

/// New values of a statistic.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IncrementedStatistic {
    pub game_mode: String,
    /// By period.
    pub new_values: HashMap<StatisticPeriod, f64>,
    pub statistic_name: String,
}

/// An address a player was seen with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IpRecord {
    /// ISO country code of two upper-case letters.
    pub country: Option<String>,
    pub first_seen: i64,
    /// Time of the look-up: addresses are located when they are read. Null if it failed.
    pub geo_resolved_at: Option<i64>,
    pub ip_address: String,
    pub last_seen: i64,
    /// Null if it could not be located.
    pub region: Option<String>,
}

/// A player with their stored data and their location.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LivePlayerProfile {
    /// ISO country code of two upper-case letters.
    pub country: Option<String>,
    pub currencies: Vec<CurrencyBalance>,
    pub first_seen: i64,
    /// First reported engine; null until one was reported.
    pub game_type: Option<String>,
    /// Time at which the player was last loaded, joined a server or left one.
    pub last_seen: i64,
    /// Namespaces of the requested game mode.
    pub namespaces: Vec<NamespaceData>,
    /// Region the player is routed from; `UNKNOWN` until an address is located.
    pub region: String,
    /// Last reported name; null until one was reported.
    pub username: Option<String>,
    pub uuid: Uuid,
    /// Null if the player is offline.
    pub connection: Option<PlayerConnection>,
    pub online: bool,
}

/// A loaded player, with the included areas.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoadedPlayer {
    /// ISO country code of two upper-case letters.
    pub country: Option<String>,
    pub currencies: Vec<CurrencyBalance>,
    pub first_seen: i64,
    /// First reported engine; null until one was reported.
    pub game_type: Option<String>,
    /// Time at which the player was last loaded, joined a server or left one.
    pub last_seen: i64,
    /// Namespaces of the requested game mode.
    pub namespaces: Vec<NamespaceData>,
    /// Region the player is routed from; `UNKNOWN` until an address is located.
    pub region: String,
    /// Last reported name; null until one was reported.
    pub username: Option<String>,
    pub uuid: Uuid,
    /// With `include=balances`.
    pub balances: Option<Vec<CurrencyBalance>>,
    /// With `include=data:NAMESPACE`: data by namespace, in the game mode; null if nothing is stored.
    pub data: Option<HashMap<String, Option<VersionedData>>>,
    /// With `include=language`.
    pub language: Option<PlayerLanguage>,
    /// With `include=permissions`: effective permissions without any context.
    pub permissions: Option<EffectivePermissions>,
    /// With `include=punishments`: those in force for the player and, with `ip`, for the address.
    pub punishments: Option<Vec<Punishment>>,
    /// With `include=statistics`: those of the game mode.
    pub statistics: Option<PlayerStatistics>,
}

/// A namespace's data in a profile.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NamespaceData {
    /// JSON text as written.
    pub data: String,
    pub namespace: String,
    pub version: i64,
}

/// Reason for which a node is allowed or denied.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionExplanation {
    /// The stored node that decided.
    pub decided_by: Option<PermissionNode>,
    /// Group that holds the deciding node; null if the player does.
    pub group: Option<String>,
    pub node: String,
    /// Groups from the player to that group.
    pub through: Vec<String>,
    /// Null if undecided.
    pub value: Option<bool>,
}

/// A permission that is allowed or denied, in a context and until a time. Identified by `node`, `context` and `world`
/// together.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionNode {
    /// `key=value` pairs separated by commas; a single word is a server; absent, null, blank or `global` is everywhere.
    pub context: Option<String>,
    /// Expiry; absent or null is never.
    pub expires_at: Option<i64>,
    /// Name, such as `essentials.fly`, `essentials.*`, `*`, or `group.vip` for membership of a group.
    pub node: String,
    /// `false` denies. Default: `true`.
    pub value: bool,
    /// World it applies in; absent, null, blank or `global` is every world.
    pub world: Option<String>,
}

/// Location of a player.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerConnection {
    pub server_id: String,
    pub server_type: String,
    /// Null until a world is reported.
    pub world_id: Option<String>,
}

/// A player's language; both fields are null while it was never set, or was unset.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerLanguage {
    pub locale: Option<String>,
    pub source: Option<LanguageSource>,
}

/// A player's statistics.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerStatistics {
    pub game_mode: String,
    pub player_uuid: Uuid,
    /// One per name and period.
    pub statistics: Vec<StatisticValue>,
}

/// A player in a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerSummary {
    /// Null if the player is offline.
    pub connection: Option<PlayerConnection>,
    /// ISO country code of two upper-case letters.
    pub country: Option<String>,
    pub first_seen: i64,
    /// First reported engine; null until one was reported.
    pub game_type: Option<String>,
    /// Time at which the player was last loaded, joined a server or left one.
    pub last_seen: i64,
    pub online: bool,
    /// Region the player is routed from; `UNKNOWN` until an address is located.
    pub region: String,
    /// Last reported name; null until one was reported.
    pub username: Option<String>,
    pub uuid: Uuid,
}

/// Page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerSummaryPage {
    /// Rows of this page.
    pub items: Vec<PlayerSummary>,
    /// Maximum number of rows per page.
    pub limit: i64,
    /// Number of this page, from 0.
    pub page: i64,
    /// Number of rows on all pages.
    pub total: i64,
}

/// A punishment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Punishment {
    /// True if in force now. A kick never is.
    pub active: bool,
    /// Code to appeal with; null unless it is a ban or mute in force.
    pub appeal_code: Option<String>,
    /// Milliseconds; null is permanent.
    pub duration_ms: Option<i64>,
    /// Expiry; null is never.
    pub expires_at: Option<i64>,
    /// Counted from 1 in the network.
    pub id: i64,
    /// The punished address, or the player's address at its creation.
    pub ip_address: Option<String>,
    /// True if it also matches addresses: the one below, and those the player is seen with later.
    pub ip_based: bool,
    pub issued_at: i64,
    pub issuer_name: Option<String>,
    pub issuer_uuid: Option<Uuid>,
    /// The player's name at its creation.
    pub player_name: Option<String>,
    /// Null for one by name or address only.
    pub player_uuid: Option<Uuid>,
    pub reason: Option<String>,
    #[serde(rename = "type")]
    pub kind: PunishmentKind,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatisticIncrement {
    /// Amount to add; may be negative.
    pub amount: f64,
    /// Default: `global`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_mode: Option<String>,
    pub name: String,
}

/// Value of a statistic in a period.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatisticValue {
    pub game_mode: String,
    /// First day of the period, in UTC; `1970-01-01` for the lifetime.
    pub period_start: String,
    pub period_type: StatisticPeriod,
    pub statistic_name: String,
    pub updated_at: i64,
    pub value: f64,
}

/// A namespace's data and its version.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct VersionedData {
    /// JSON text as written.
    pub data: String,
    /// Version to send in the next write.
    pub version: i64,
}
