// Generated from the hub's OpenAPI document by connectors/generate.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{CurrencyBalance, NamespaceData, StatisticPeriod};

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
    /// Fence of the player's open session; any other is 409 `stale_session`. Without it the write needs no session,
    /// unless the network requires one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fence: Option<i64>,
    /// Version this write builds on; any other than the stored one is 409. Absent: the stored data is overwritten.
    /// Ignored if nothing is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
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
