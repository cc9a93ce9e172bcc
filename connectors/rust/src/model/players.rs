// Generated from the hub's OpenAPI document by connectors/generate.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Amount;

/// How a player's language is known.
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

/// The four kinds. Read in any case.
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

/// What a statistic is counted over. Read in any case.
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

/// What an owner has of a currency.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrencyBalance {
    /// Exact, with at most 4 digits behind the point.
    pub balance: Amount,
    /// The currency.
    pub currency_name: String,
}

/// A namespace's data.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DataEntry {
    /// The JSON text as it was written.
    pub data: String,
    pub game_mode: String,
    pub namespace: String,
    /// Counts the writes, from 1. Name it in a write that must not undo another's.
    pub version: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DataUpdate {
    /// The text of one JSON value, at most 256 KiB; it is kept byte for byte.
    pub data: String,
    /// The version this write builds on; any other than the stored one is 409. Absent: whatever is stored is
    /// overwritten. Where nothing is stored it counts for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}

/// What a player may do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EffectivePermissions {
    /// With `explain=true`: why, in the order asked.
    pub explanation: Option<Vec<PermissionExplanation>>,
    /// The groups that count, in the order they do.
    pub groups: Vec<String>,
    /// What is decided of each node asked for, as it was asked for; null where nothing is. Without `node` all that
    /// something is said of, in lower case, wildcards as such.
    pub permissions: HashMap<String, Option<bool>>,
    pub player_uuid: Uuid,
    /// Rises with every change of the network's groups and of the player's own nodes. A `PERMISSIONS_UPDATED` of this
    /// revision or an earlier one is in here already.
    pub revision: i64,
    /// When this answer changes without a `PERMISSIONS_UPDATED`, because a node expires; null: never.
    pub valid_until: Option<i64>,
}

/// What a statistic came to.
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
    /// Two upper-case letters.
    pub country: Option<String>,
    pub first_seen: i64,
    /// When it was located: addresses are looked up as they are read. Null where it could not be.
    pub geo_resolved_at: Option<i64>,
    pub ip_address: String,
    pub last_seen: i64,
    /// Null where it could not be located.
    pub region: Option<String>,
}

/// A player with what is kept for them, and where they are.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LivePlayerProfile {
    /// Two upper-case letters.
    pub country: Option<String>,
    pub currencies: Vec<CurrencyBalance>,
    pub first_seen: i64,
    /// The engine first said; null until one was.
    pub game_type: Option<String>,
    /// When the player was last loaded, joined a server or left one.
    pub last_seen: i64,
    /// Those of the game mode asked for.
    pub namespaces: Vec<NamespaceData>,
    /// Where the player is routed from; `UNKNOWN` until an address could be located.
    pub region: String,
    /// The name last said; null until one was.
    pub username: Option<String>,
    pub uuid: Uuid,
    /// Null for one who is offline.
    pub connection: Option<PlayerConnection>,
    pub online: bool,
}

/// A player who was loaded, with what was to be included.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoadedPlayer {
    /// Two upper-case letters.
    pub country: Option<String>,
    pub currencies: Vec<CurrencyBalance>,
    pub first_seen: i64,
    /// The engine first said; null until one was.
    pub game_type: Option<String>,
    /// When the player was last loaded, joined a server or left one.
    pub last_seen: i64,
    /// Those of the game mode asked for.
    pub namespaces: Vec<NamespaceData>,
    /// Where the player is routed from; `UNKNOWN` until an address could be located.
    pub region: String,
    /// The name last said; null until one was.
    pub username: Option<String>,
    pub uuid: Uuid,
    /// With `include=balances`.
    pub balances: Option<Vec<CurrencyBalance>>,
    /// With `include=data:NAMESPACE`: by namespace, in the game mode; null where nothing is stored.
    pub data: Option<HashMap<String, Option<VersionedData>>>,
    /// With `include=language`.
    pub language: Option<PlayerLanguage>,
    /// With `include=permissions`: what the player may do, without any context.
    pub permissions: Option<EffectivePermissions>,
    /// With `include=punishments`: those in force for the player and, where `ip` is sent, for the address.
    pub punishments: Option<Vec<Punishment>>,
    /// With `include=statistics`: those of the game mode.
    pub statistics: Option<PlayerStatistics>,
}

/// A namespace's data in a profile.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NamespaceData {
    /// The JSON text as it was written.
    pub data: String,
    pub namespace: String,
    pub version: i64,
}

/// Why a node is allowed or denied.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionExplanation {
    /// The stored node that decided.
    pub decided_by: Option<PermissionNode>,
    /// The group that holds the deciding node; null where the player does.
    pub group: Option<String>,
    pub node: String,
    /// The groups from the player to that one.
    pub through: Vec<String>,
    /// Null where nothing is said of it.
    pub value: Option<bool>,
}

/// What is allowed or denied, where and until when. Known by `node`, `context` and `world` together.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionNode {
    /// `key=value` pairs with commas between; a word alone is a server; absent, null, blank or `global` is everywhere.
    pub context: Option<String>,
    /// When it ends; absent or null is never.
    pub expires_at: Option<i64>,
    /// Such as `essentials.fly`, `essentials.*`, `*`, or `group.vip` for membership of a group.
    pub node: String,
    /// `false` denies; `true` when absent.
    pub value: bool,
    /// The world it applies in; absent, null, blank or `global` is every world.
    pub world: Option<String>,
}

/// Where a player is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerConnection {
    pub server_id: String,
    pub server_type: String,
    /// Null until a world was said.
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
    /// Null for one who is offline.
    pub connection: Option<PlayerConnection>,
    /// Two upper-case letters.
    pub country: Option<String>,
    pub first_seen: i64,
    /// The engine first said; null until one was.
    pub game_type: Option<String>,
    /// When the player was last loaded, joined a server or left one.
    pub last_seen: i64,
    pub online: bool,
    /// Where the player is routed from; `UNKNOWN` until an address could be located.
    pub region: String,
    /// The name last said; null until one was.
    pub username: Option<String>,
    pub uuid: Uuid,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerSummaryPage {
    /// The rows of this page.
    pub items: Vec<PlayerSummary>,
    /// The most rows a page has.
    pub limit: i64,
    /// Which page this is; the first is 0.
    pub page: i64,
    /// How many rows there are on all pages.
    pub total: i64,
}

/// A punishment.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Punishment {
    /// In force now. A kick never is.
    pub active: bool,
    /// Milliseconds; null is permanent.
    pub duration_ms: Option<i64>,
    /// When its time runs out; null is never.
    pub expires_at: Option<i64>,
    /// Counted from 1 in the network.
    pub id: i64,
    /// The address it was made for, or the player's when it was made.
    pub ip_address: Option<String>,
    /// Whether it covers addresses: the one below, and those the player is seen with later.
    pub ip_based: bool,
    pub issued_at: i64,
    pub issuer_name: Option<String>,
    pub issuer_uuid: Option<Uuid>,
    /// The name when it was made.
    pub player_name: Option<String>,
    /// Null for one by name alone, or of an address alone.
    pub player_uuid: Option<Uuid>,
    pub reason: Option<String>,
    #[serde(rename = "type")]
    pub kind: PunishmentKind,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatisticIncrement {
    /// What to add; may be negative.
    pub amount: f64,
    /// Absent: `global`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_mode: Option<String>,
    pub name: String,
}

/// The value of a statistic in a period.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatisticValue {
    pub game_mode: String,
    /// The first day of the period, in UTC; `1970-01-01` for the lifetime.
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
    /// The JSON text as it was written.
    pub data: String,
    /// To be named by the next write.
    pub version: i64,
}
