// Generated from the hub's OpenAPI document by connectors/generate.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::Amount;

/// Consequence of a lost claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum DeliveryOnLost {
    Retry,
    Hold,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// State of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum DeliveryState {
    Pending,
    Claimed,
    Delivered,
    Held,
    Failed,
    Expired,
    Cancelled,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

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

/// State of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum PlayerSessionState {
    Open,
    Closed,
    TakenOver,
    Lost,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// State of the session before a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum PreviousSessionState {
    Closed,
    TakenOver,
    Lost,
    SameServer,
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

/// A delivery.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Delivery {
    /// Number of claims.
    pub attempts: i64,
    /// Server of the last claim, unless it was returned.
    pub claimed_by: Option<String>,
    /// End of the claim; null if it has none.
    pub claimed_until: Option<i64>,
    pub created_at: i64,
    /// Counted from 1 in the network, in the order of creation.
    pub delivery_id: i64,
    /// Time until which it may happen; null is forever.
    pub expires_at: Option<i64>,
    /// Tells plugins what to do.
    pub kind: String,
    /// Time from which it may happen; null is at once.
    pub not_before: Option<i64>,
    pub on_lost: DeliveryOnLost,
    /// Any JSON value, as sent.
    pub payload: Value,
    pub player_name: Option<String>,
    /// Null while nobody was seen with the name.
    pub player_uuid: Option<Uuid>,
    /// Reason for its last failure.
    pub reason: Option<String>,
    /// Caller's own name for it.
    pub reference: Option<String>,
    /// Server at which it may happen; null is any.
    pub server_id: Option<String>,
    /// Type of the servers at which it may happen; null is any.
    pub server_type: Option<String>,
    /// Time of its end; null while it is open.
    pub settled_at: Option<i64>,
    pub state: DeliveryState,
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
    /// With `include=deliveries`: those that the server where the player is may claim now, at most 100.
    pub deliveries: Option<Vec<Delivery>>,
    /// With `include=language`.
    pub language: Option<PlayerLanguage>,
    /// With `include=login`: answer of the network's modules about the player who joins; without modules they are
    /// allowed.
    pub login: Option<LoginVerdict>,
    /// With `include=permissions`: effective permissions without any context.
    pub permissions: Option<EffectivePermissions>,
    /// With `include=punishments`: those in force for the player and, with `ip`, for the address.
    pub punishments: Option<Vec<Punishment>>,
    /// With `include=session`: the newest session; null if there never was one.
    pub session: Option<PlayerSession>,
    /// With `include=statistics`: those of the game mode.
    pub statistics: Option<PlayerStatistics>,
}

/// Answer of the network's modules about a player who joins.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoginVerdict {
    /// False: the player is not to be let in.
    pub allowed: bool,
    /// For connectors, such as `vpn`; `module_failed` if the modules could not decide; null if the player is allowed.
    pub kind: Option<String>,
    /// For the player; null if they are allowed.
    pub reason: Option<String>,
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

/// An opened session, with the player's profile.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenedPlayerSession {
    /// Number of the session, higher than those of all earlier sessions of the network. Saves name it.
    pub fence: i64,
    /// Server of the session before; null if there was none.
    pub previous_server_id: Option<String>,
    /// End of the session before; null if there was none.
    pub previous_state: Option<PreviousSessionState>,
    /// Answer of a load, read after the session before had ended.
    pub profile: LoadedPlayer,
    /// True if the session before was not closed by its server: what that server had not saved is not in the profile.
    pub taken_over: bool,
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

/// A player's language; both fields are null while it was never set, or was unset.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerLanguage {
    pub locale: Option<String>,
    pub source: Option<LanguageSource>,
}

/// A player's newest session.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerSession {
    /// Null while it is open.
    pub ended_at: Option<i64>,
    /// Number of the session, higher than those of all earlier sessions of the network.
    pub fence: i64,
    pub opened_at: i64,
    /// Server that opened it.
    pub server_id: String,
    pub state: PlayerSessionState,
}

/// Request for a player's session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayerSessionRequest {
    /// Game mode of the profile's namespaces; default `global`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_mode: Option<String>,
    /// The player's engine, one of the hub's; the first reported one stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_type: Option<String>,
    /// Areas to include in the profile, as in `include` of a load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include: Option<Vec<String>>,
    /// The player's address, IPv4 or IPv6: it is located and not stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip: Option<String>,
    /// Server that asks; it must be online.
    pub server_id: String,
    /// The player's current name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Time to wait for another server to save and close its session, in milliseconds; default 3,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<i64>,
}

/// Save of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayerSessionSave {
    /// True to end the session with this save.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close: Option<bool>,
    /// Claims of deliveries that this save carries out, which it settles as DELIVERED. They need the scope
    /// `deliveries:write`, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<Vec<String>>,
    /// Namespaces to write, each once; at most 1 MiB together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Vec<SessionData>>,
    /// Rising number of the save within the session. One that is not above the last is 409 `stale_save`, so that a save
    /// that was sent again does not undo a later one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
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

/// A save that was made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SavedSession {
    /// True if the session was closed.
    pub closed: bool,
    /// Versions of the data, in the order of the request.
    pub versions: Vec<SavedVersion>,
}

/// A namespace that was written.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SavedVersion {
    pub game_mode: String,
    pub namespace: String,
    /// New version of the data.
    pub version: i64,
}

/// Namespace in a save.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionData {
    /// One JSON value as text, at most 256 KiB; it is stored byte for byte.
    pub data: String,
    /// Default `global`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_mode: Option<String>,
    pub namespace: String,
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
