//! Players and what is kept for them.

use std::collections::HashMap;

use serde::Deserialize;
use uuid::Uuid;

use crate::model::{Balance, EffectivePermissions, PlayerLanguage, Punishment, StatisticValue};

/// A player. What an answer does not have is none.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerProfile {
    /// The player.
    pub uuid: Uuid,
    /// The name last seen.
    pub username: Option<String>,
    /// The engine of the first sight.
    pub game_type: Option<String>,
    /// When they were seen first.
    pub first_seen: i64,
    /// When they were seen last.
    pub last_seen: i64,
    /// All balances.
    #[serde(default)]
    pub currencies: Vec<Balance>,
    /// The data of the game mode that was asked for.
    #[serde(default)]
    pub namespaces: Vec<NamespaceData>,
    /// The region last located, or `UNKNOWN`.
    pub region: Option<String>,
    /// The country last located.
    pub country: Option<String>,
    /// Whether they are on a server; none in the answer of a load.
    pub online: Option<bool>,
    /// Where, while online.
    pub connection: Option<PlayerConnection>,
    /// With `include=permissions`.
    pub permissions: Option<EffectivePermissions>,
    /// The active ones, with `include=punishments`.
    pub punishments: Option<Vec<Punishment>>,
    /// With `include=language`.
    pub language: Option<PlayerLanguage>,
    /// With `include=balances`.
    pub balances: Option<Vec<Balance>>,
    /// With `include=statistics`.
    pub statistics: Option<PlayerStatistics>,
    /// By namespace, with `include=data:NAMESPACE`; none for what was never written.
    #[serde(default)]
    pub data: HashMap<String, Option<StoredData>>,
}

/// Where a player is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerConnection {
    /// The server.
    pub server_id: String,
    /// Its type.
    pub server_type: String,
    /// The world on it.
    pub world_id: Option<String>,
}

/// A player's data in a namespace.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct NamespaceData {
    /// The namespace.
    pub namespace: String,
    /// JSON as text.
    pub data: String,
    /// Counts the writes.
    pub version: u64,
}

/// Data that a load included.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct StoredData {
    /// JSON as text.
    pub data: String,
    /// Counts the writes.
    pub version: u64,
}

/// A player's data, with where it belongs.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DataEntry {
    /// The game mode.
    pub game_mode: String,
    /// The namespace.
    pub namespace: String,
    /// JSON as text, byte for byte as it was written.
    pub data: String,
    /// Counts the writes; send it back to write only over what was read.
    pub version: u64,
}

/// A player's statistics in a game mode.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerStatistics {
    /// The player.
    pub player_uuid: Uuid,
    /// The game mode.
    pub game_mode: String,
    /// One for each name and period.
    pub statistics: Vec<StatisticValue>,
}
