//! Requests and answers of the hub. Times are milliseconds since the Unix epoch; `None` is a null or missing field.
//!
//! Generated from the hub's OpenAPI document by connectors/generate.

#![allow(missing_docs, clippy::doc_markdown, clippy::struct_excessive_bools, reason = "as the document has it")]

use std::collections::HashMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::Amount;

/// Writes enums as the document has them.
macro_rules! display_as_serialized {
    ($($name:ident),* $(,)?) => {
        $(impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.serialize(f)
            }
        })*
    };
}

display_as_serialized!(
    CommandStatus,
    DesiredState,
    IndexState,
    IndexType,
    LanguageSource,
    MatchDecider,
    MatchResult,
    OutputStream,
    ProvisioningPhase,
    PunishmentAction,
    PunishmentKind,
    ServerConnectivity,
    ServerRole,
    ServerStatus,
    StatisticPeriod,
    WorldLeaseState,
    WorldOpenStatus,
    WorldPersistence
);

/// How a command went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CommandStatus {
    Ok,
    Error,
}

/// What the provisioner shall bring a machine to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum DesiredState {
    Running,
    Stopped,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// Whether documents can be found by an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum IndexState {
    Building,
    Ready,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// What an index holds: the documents whose field is of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum IndexType {
    String,
    Number,
    Bool,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

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

/// Who put the candidates into their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum MatchDecider {
    BuiltIn,
    Modules,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// How a match went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum MatchResult {
    Success,
    NoServersAvailable,
    AllServersFull,
    NoWorldsAvailable,
    AllWorldsFull,
    ServerNotFound,
    ServerOffline,
    ServerFull,
    ServerNotJoinable,
    WorldNotFound,
    WorldFull,
    WorldNotJoinable,
    AlreadyOnServer,
    PolicyRejected,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// Where a line was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// How far a machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ProvisioningPhase {
    Provisioning,
    AwaitingAuth,
    Registered,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// What happened to a punishment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum PunishmentAction {
    Created,
    Revoked,
    Expired,
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

/// How the hub reaches a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ServerConnectivity {
    Connected,
    HeartbeatOnly,
    Disconnected,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// What a server is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ServerRole {
    Game,
    Proxy,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// Whether a server is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum ServerStatus {
    Online,
    Offline,
    Provisioning,
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

/// Where a lease is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum WorldLeaseState {
    Loading,
    Ready,
    Draining,
    Unloaded,
    Lost,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum WorldOpenStatus {
    Ready,
    Loading,
    /// A value that is newer than this crate.
    #[serde(other)]
    Unknown,
}

/// Whether a world is kept when it is unloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum WorldPersistence {
    Persistent,
    Ephemeral,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddressPunishmentRequest {
    /// Milliseconds; absent or null is permanent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// IPv4 or IPv6; null or blank does nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_name: Option<String>,
    /// Absent where the console punishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_uuid: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// In any case. Required unless there is no address.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<PunishmentKind>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddressUnban {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_name: Option<String>,
    /// Absent where the console acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_uuid: Option<Uuid>,
    pub ip_address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Which node agent this hub hands out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AgentVersion {
    /// The script's SHA-256 in hexadecimal.
    pub sha256: String,
    /// The hub's Ed25519 signature of the script, in hexadecimal: over `hub agent`, a NUL and the 32 bytes of the
    /// SHA-256.
    pub signature: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthCode {
    pub server_id: String,
    /// What they have to enter there.
    pub user_code: String,
    /// Where somebody lets the machine in; an http or https address.
    pub verify_url: String,
}

/// What to add to a balance, or to take from it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceModification {
    /// What to add, or to take if negative: at most 4 digits behind the point, up to 900 trillion in size.
    pub amount: Amount,
    pub currency: String,
    /// Refuse the change, whole, where it would leave the currency's bounds; otherwise it is cut to them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    /// For the ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A change of a balance, as part of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceOperation {
    /// What to add, or to take if negative: at most 4 digits behind the point, up to 900 trillion in size.
    pub amount: Amount,
    pub currency: String,
    pub owner_key: String,
    pub owner_type: String,
}

/// Changes of balances that are made together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceTransaction {
    /// Applied in this order: what a later one brings does not help an earlier one.
    pub operations: Vec<BalanceOperation>,
    /// For the ledger, with each of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What this hub was built from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BuildStamp {
    /// How many commits lie behind this build.
    pub build: u64,
    /// When the commit was made, ISO 8601.
    pub build_time: String,
    /// The commit's short hash.
    pub commit: String,
    pub component: String,
    /// Whether the tree had changes that no commit holds.
    pub dev: bool,
    pub version: String,
}

/// The catalog's version after a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CatalogVersion {
    pub version: i64,
}

/// A balance after a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChangedBalance {
    /// What was added.
    pub applied: Amount,
    /// After the change.
    pub balance: Amount,
    pub currency_name: String,
    /// The id of the change's ledger entry.
    pub ledger_id: i64,
    pub owner_key: String,
    pub owner_type: String,
}

/// A line of chat, as it is sent to the hub and as the `CHAT` event carries it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ChatMessage {
    /// Whether the name has the rank's color, too.
    pub color_name_also: Option<bool>,
    pub message: String,
    pub player_name: String,
    pub player_uuid: Uuid,
    /// What is shown before the name.
    pub rank: Option<String>,
    pub rank_bold: Option<bool>,
    pub rank_color: Option<String>,
    /// The server it was said on.
    pub server_id: String,
    pub server_type: Option<String>,
    /// The world it was said in.
    pub world: Option<String>,
}

/// A line of chat, as it is sent to the hub and as the `CHAT` event carries it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatMessageInput {
    /// Whether the name has the rank's color, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_name_also: Option<bool>,
    pub message: String,
    pub player_name: String,
    pub player_uuid: Uuid,
    /// What is shown before the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_bold: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank_color: Option<String>,
    /// The server it was said on.
    pub server_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// The world it was said in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionDefinition {
    /// The fields to find documents by, at most 16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indexes: Option<Vec<CollectionIndex>>,
    /// The field of a document that, where it is there, must hold the document's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub name: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionDefinitions {
    /// At most 100.
    pub collections: Vec<CollectionDefinition>,
}

/// The documents asked for, each once.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionDocuments {
    pub items: Vec<CollectionItem>,
    /// The ids of those that did not fit into this answer, to be asked for again; absent where all did.
    pub rest: Option<Vec<String>>,
}

/// A field by which documents are found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CollectionIndex {
    /// Names with dots between for a field in nested objects, such as `owner.name`.
    pub field: String,
    /// What the index holds.
    #[serde(rename = "type")]
    pub kind: IndexType,
}

/// A document in a list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionItem {
    /// As it was put.
    pub doc: Value,
    pub id: String,
}

/// Documents, in the order asked.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionItems {
    pub items: Vec<CollectionItem>,
    /// Where there are more: to be sent as `cursor` for the next ones. Absent at the end.
    pub next_cursor: Option<String>,
}

/// A page of documents.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CollectionPage {
    pub items: Vec<CollectionItem>,
    /// To be sent as `cursor` for the page after this one; null at the end.
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandResult {
    /// Why it was not done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whatever the command asked for: `{"content"}` for LOGS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
    pub status: CommandStatus,
}

impl CommandResult {
    /// One with the required fields.
    pub fn new(status: CommandStatus) -> Self {
        Self { error: None, result: None, status }
    }
}

/// A document as it is stored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConfigDocument {
    /// Whom it is for, such as a type of server.
    pub group: String,
    /// What it is about, such as a plugin.
    pub namespace: String,
    /// As it was sent.
    pub doc: Value,
}

/// What a document is known by.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConfigKey {
    /// Whom it is for, such as a type of server.
    pub group: String,
    /// What it is about, such as a plugin.
    pub namespace: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigPublication {
    /// Any JSON value, null too, of at most 256 KiB.
    pub doc: Value,
    /// Whom it is for, such as a type of server.
    pub group: String,
    /// What it is about, such as a plugin.
    pub namespace: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigRegistration {
    /// Stored where nothing is yet: any JSON value, null too, of at most 256 KiB.
    pub default_doc: Value,
    /// Whom it is for, such as a type of server.
    pub group: String,
    /// What it is about, such as a plugin.
    pub namespace: String,
}

/// A server is to run a console command.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConsoleCommandOrder {
    pub command: String,
    /// To be sent back with the outcome.
    pub request_id: String,
    /// How long the caller waits for the outcome.
    pub timeout_ms: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleCommandReport {
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the command printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// That of the `EXECUTE_COMMAND` event.
    pub request_id: String,
    pub success: bool,
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

/// Who has most of a currency.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrencyLeaderboard {
    pub currency_name: String,
    pub entries: Vec<CurrencyRank>,
    pub owner_type: String,
}

/// A place on a currency's leaderboard.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrencyRank {
    pub owner_key: String,
    /// 1, 2, 3 …: nobody shares one.
    pub rank: i64,
    pub value: Amount,
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DefaultMessages {
    /// What each message says, at most 16,384 characters, by a key of at most 255; its bytes as JSON are counted
    /// (`messageBytes`).
    pub entries: HashMap<String, String>,
    pub locale: String,
    pub namespace: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DocumentDeletion {
    /// Whether there was one.
    pub deleted: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentsRequest {
    /// At most 200, as they are sent.
    pub ids: Vec<String>,
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeartbeatPlayer {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub uuid: Uuid,
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

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InsertedMessages {
    /// How many messages had no default before.
    pub inserted: u64,
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LanguageChoice {
    /// Null unsets the language, whatever the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// PLAYER where the player chose it, AUTO where it was detected; PLAYER when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<LanguageSource>,
}

/// A server of the network.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedServer {
    /// What its connector said of itself.
    pub build_info: Option<ServerBuild>,
    pub connectivity: Option<ServerConnectivity>,
    /// Its container; null unless a node agent has polled for it in the last 30 s.
    pub control: Option<ServerControl>,
    pub display_name: Option<String>,
    pub first_seen: i64,
    pub game_type: Option<String>,
    /// Two upper-case letters.
    pub geo_country: Option<String>,
    /// UNKNOWN where it could not be located.
    pub geo_region: Option<String>,
    /// Where players last reached it.
    pub last_host: Option<String>,
    /// See `lastHost`.
    pub last_port: Option<u32>,
    /// Its last heartbeat, while it is online.
    pub last_seen: i64,
    /// What it is doing; null while it is offline.
    pub live: Option<LiveServer>,
    /// How many players fit; 0: no limit.
    pub max_players: Option<u32>,
    pub online: bool,
    /// What it runs on.
    pub platform: Option<ServerPlatform>,
    /// The ports it is known to serve on.
    pub ports: Option<Vec<ServerPort>>,
    /// The hub had its machine made.
    pub provisioned: Option<bool>,
    pub role: Option<ServerRole>,
    pub server_id: String,
    pub server_type: String,
    pub status: ServerStatus,
    pub provisioning: Option<ProvisioningInfo>,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListedServerPage {
    /// The rows of this page.
    pub items: Vec<ListedServer>,
    /// The most rows a page has.
    pub limit: i64,
    /// Which page this is; the first is 0.
    pub page: i64,
    /// How many rows there are on all pages.
    pub total: i64,
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

/// A server that is online.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LiveServer {
    /// Players on it.
    pub current_players: u32,
    /// What players call it.
    pub display_name: Option<String>,
    /// There is a limit and it is reached.
    pub full: bool,
    /// What is going on on it.
    pub game_state: Option<String>,
    /// The engine it runs on.
    pub game_type: Option<String>,
    /// Where players reach it.
    pub host: String,
    /// Not full and, if it is a minigame, IDLE, WAITING or STARTING.
    pub joinable: bool,
    /// When it last said that it is there.
    pub last_heartbeat: i64,
    /// How many fit; 0: no limit.
    pub max_players: u32,
    /// Its game needs players to start.
    pub minigame_server: bool,
    /// For people.
    pub player_count_display: String,
    /// How many of those are missing.
    pub players_needed_to_start: u32,
    /// Players its game needs to start; 0: it is no minigame.
    pub players_to_start: u32,
    /// See `host`.
    pub port: u32,
    /// Where it is; UNKNOWN where that is not known.
    pub region: String,
    /// Its id.
    pub server_id: String,
    /// What kind of server it is; players are matched by it.
    pub server_type: String,
    /// When it came online.
    pub started_at: i64,
    /// The larger of `currentPlayers` and the sum over its worlds.
    pub total_players: u64,
    /// Its worlds.
    pub worlds: Vec<LiveWorld>,
}

/// A world of a server that is online.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LiveWorld {
    /// Players in it, as its server last said.
    pub current_players: u32,
    /// What players call it.
    pub display_name: Option<String>,
    /// There is a limit and it is reached.
    pub full: bool,
    /// What is going on in it.
    pub game_state: Option<String>,
    /// Not full and, if it is a minigame, IDLE, WAITING or STARTING.
    pub joinable: bool,
    /// How many fit; 0: no limit.
    pub max_players: u32,
    /// Its game needs players to start.
    pub minigame_world: bool,
    /// For people.
    pub player_count_display: String,
    /// How many of those are missing.
    pub players_needed_to_start: u32,
    /// Players its game needs to start; 0: it is no minigame.
    pub players_to_start: u32,
    /// Its id, unique on its server.
    pub world_id: String,
    /// What kind of world it is; players are matched by it.
    pub world_type: Option<String>,
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

/// A language the catalog speaks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Locale {
    /// A name for people; the locale itself until one is given.
    pub display_name: String,
    /// Whether players are to be offered it.
    pub enabled: bool,
    /// Exactly one is.
    pub is_default: bool,
    /// As it was first sent.
    pub locale: String,
}

/// All messages, or those of some namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LocalizationCatalog {
    pub default_locale: String,
    /// The default first, then by name.
    pub locales: Vec<Locale>,
    /// What each message says, by locale and key.
    pub messages: HashMap<String, HashMap<String, String>>,
    /// Rises by one with every call that changes what the catalog says.
    pub version: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogBatch {
    /// In their order.
    pub lines: Vec<LogBatchLine>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LogBatchLine {
    /// When it was read.
    pub at: i64,
    pub stream: OutputStream,
    /// Without its end; cut to 8 KiB.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LogBatchReceipt {
    /// How many lines.
    pub accepted: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Match {
    /// The reason, for a person; null for a success.
    pub error_message: Option<String>,
    /// With `explain=true` only.
    pub explanation: Option<MatchExplanation>,
    /// Where to send the player.
    pub matched_server: Option<LiveServer>,
    /// Where on it, when a world was asked for.
    pub matched_world: Option<LiveWorld>,
    pub result: MatchResult,
    pub success: bool,
    /// Names the slot, which is kept for 15 seconds.
    pub transfer_id: Option<String>,
    /// The world of the owner asked for was live.
    pub warm: bool,
}

/// One candidate and what spoke for and against it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MatchCandidate {
    /// What counted against it.
    pub against: Vec<String>,
    pub current_players: u32,
    /// What counted for it.
    pub r#for: Vec<String>,
    pub game_state: Option<String>,
    /// 0: no limit.
    pub max_players: u32,
    /// 0: it is no minigame.
    pub players_to_start: u32,
    /// 1 is the one that is chosen; null: it cannot be joined, or the modules do not want it.
    pub rank: Option<u32>,
    pub region: String,
    /// Players on their way there.
    pub reserved: u32,
    pub server_id: String,
    /// Null where servers were matched.
    pub world_id: Option<String>,
}

/// Why a match went as it did.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MatchExplanation {
    /// All that were looked at, the best first.
    pub candidates: Vec<MatchCandidate>,
    pub decided_by: MatchDecider,
    /// How many more there were than fit into the answer.
    pub left_out: u64,
    /// The player's region, where it is known and counts.
    pub player_region: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchRequest {
    /// With the other two: whose live world comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_game_id: Option<String>,
    /// See `affinityGameId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_owner_id: Option<String>,
    /// See `affinityGameId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_owner_scope: Option<String>,
    /// Says that `serverId` must be set; a `serverId` alone says as much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direct_join: Option<bool>,
    /// The player's party: all of them get slots on the same server or world, or none does. At most 16 with the player,
    /// who counts, named in it or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub party: Option<Vec<Uuid>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    /// Who is to be sent. Without it nobody's current server is left out, and the slot is kept for whoever comes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_uuid: Option<Uuid>,
    /// The player's region; absent: the one of the address they were last loaded with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// A direct join of this server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_id: Option<String>,
    /// The best server of this type, unless more is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// With `serverId`: of this world on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_id: Option<String>,
    /// Says that a world is wanted; without `worldType`, one of any type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_matchmaking: Option<bool>,
    /// With `serverType`: the best world of this type on those servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_type: Option<String>,
}

/// A balance after a change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModifiedBalance {
    /// What was added: less, where it was cut to the currency's bounds.
    pub applied: Amount,
    /// What was to be added.
    pub asked: Amount,
    /// After the change.
    pub balance: Amount,
    pub currency_name: String,
    /// The id of the change's ledger entry.
    pub ledger_id: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NamePunishmentRequest {
    /// Milliseconds; absent or null is permanent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// Whether it covers the player's addresses too: the last one known and those seen later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_based: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_name: Option<String>,
    /// Absent where the console punishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_uuid: Option<Uuid>,
    pub player_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// In any case.
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
    /// Absent where the console acts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_uuid: Option<Uuid>,
    /// Whether the bans that cover the player's last known address end too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_unban_last_ip: Option<bool>,
    pub player_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeRelease {
    /// The node that started anew.
    pub node_server_id: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NodeReleaseCount {
    /// How many leases that ended.
    pub released: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenedWorld {
    /// The reason, for a person; null for a success.
    pub error_message: Option<String>,
    /// Where it is up.
    pub matched_server: Option<LiveServer>,
    /// Null where it cannot be had now.
    pub status: Option<WorldOpenStatus>,
    pub success: bool,
    /// Names the slot that is kept for the owner for 15 seconds; null where none is needed or free.
    pub transfer_id: Option<String>,
    /// The lease's number, as `WORLD_READY` repeats it; as a `worldId`, the world's name on its server.
    pub world_instance_id: Option<String>,
}

/// An owner's statistics.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OwnerStatistics {
    pub game_mode: String,
    pub owner_key: String,
    pub owner_type: String,
    /// One per name and period.
    pub statistics: Vec<StatisticValue>,
}

/// What an agent is to do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PendingCommands {
    /// Each a JSON object in a text.
    pub commands: Vec<String>,
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

/// A group with its nodes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionGroup {
    pub chat_name_color: Option<String>,
    pub chat_prefix: Option<String>,
    pub chat_prefix_color: Option<String>,
    pub display_name: Option<String>,
    pub group_id: String,
    /// Without those that have expired; by node, context and world.
    pub permissions: Vec<PermissionNode>,
    /// Of several groups the one with the higher priority comes first.
    pub priority: i64,
}

/// A group as it shall be from now on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionGroupUpdate {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_name_color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_prefix_color: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Not looked at: the id in the path counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_id: Option<String>,
    /// All of its nodes, at most 2,000: those it had before and that are not named here are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<Vec<PermissionNodeInput>>,
    /// 0 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i64>,
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

/// What is allowed or denied, where and until when. Known by `node`, `context` and `world` together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionNodeInput {
    /// `key=value` pairs with commas between; a word alone is a server; absent, null, blank or `global` is everywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// When it ends; absent or null is never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<i64>,
    /// Such as `essentials.fly`, `essentials.*`, `*`, or `group.vip` for membership of a group.
    pub node: String,
    /// `false` denies; `true` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<bool>,
    /// The world it applies in; absent, null, blank or `global` is every world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
}

/// What of a network's permissions changed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionsChange {
    /// The group that was put or deleted: what all players may do may have changed.
    pub group_id: Option<String>,
    /// The player whose own nodes changed.
    pub player_uuid: Option<Uuid>,
    /// Rises with every change; effective permissions of this revision or a later one have it.
    pub revision: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayerAddress {
    pub ip_address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayerJoin {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
    /// The server the player has come to; it must be online.
    pub server_id: String,
    /// Not looked at: the type is that of the register call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
}

/// A player's language; both fields are null while it was never set, or was unset.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerLanguage {
    pub locale: Option<String>,
    pub source: Option<LanguageSource>,
}

/// A player came online, went offline or went to another server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PlayerPresence {
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
    /// The server the player came from; null unless they switched.
    pub previous_server_id: Option<String>,
    /// The server the player is on now, or has left.
    pub server_id: String,
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlayerWorldChange {
    /// The world they are in now.
    pub new_world_id: String,
    pub player_uuid: Uuid,
    /// The world they were in; absent: the one last noted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_world_id: Option<String>,
    /// The server the player is on.
    pub server_id: String,
}

/// A plugin that runs on a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PluginReport {
    /// Whether it is switched on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A player who is online.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PresenceRecord {
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
    pub server_id: String,
    pub server_type: String,
}

/// What is known of a machine that is being made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProvisioningInfo {
    pub desired_state: DesiredState,
    pub ipv4: Option<String>,
    pub phase: ProvisioningPhase,
    /// Who makes it.
    pub provider: Option<String>,
    pub region: Option<String>,
    /// What kind of machine it is.
    pub server_vm_type: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProvisioningState {
    /// `AWAITING_AUTH`, or REGISTERED where nothing was noted because the server is in.
    pub phase: ProvisioningPhase,
    pub server_id: String,
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

/// A punishment was created, revoked, or has expired.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PunishmentChange {
    pub action: PunishmentAction,
    pub punishment: Punishment,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PunishmentRemoval {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_name: Option<String>,
    /// Absent where the console acts.
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
    /// Whether it covers the player's addresses too: the last one known and those seen later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ip_based: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_name: Option<String>,
    /// Absent where the console punishes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issuer_uuid: Option<Uuid>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_name: Option<String>,
    pub player_uuid: Uuid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// In any case.
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

/// A world that was opened is up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadyWorld {
    /// Its node; null where it went offline meanwhile.
    pub server: Option<LiveServer>,
    /// The lease's number, as `open` answered it.
    pub world_instance_id: String,
}

/// A region with game servers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegionPopulation {
    pub players: u32,
    pub region: String,
    pub servers: u32,
}

/// What a collection is now.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredCollection {
    pub indexes: Vec<RegisteredIndex>,
    /// The field of a document that, where it is there, must hold the document's id.
    pub key: Option<String>,
    pub name: String,
}

/// What the collections are now.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredCollections {
    pub collections: Vec<RegisteredCollection>,
}

/// An index of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegisteredIndex {
    /// Names with dots between for a field in nested objects, such as `owner.name`.
    pub field: String,
    /// What the index holds.
    #[serde(rename = "type")]
    pub kind: IndexType,
    pub state: IndexState,
}

/// The signing secret was replaced.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReplacedSigningSecret {
    /// The new one.
    pub signing_secret: String,
    /// Until when the old one is good, too.
    pub valid_until: i64,
}

/// The build of a server's connector.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerBuild {
    pub build: Option<i64>,
    pub commit: Option<String>,
    pub version: Option<String>,
}

/// A server's container, as its node agent reports it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerControl {
    /// What the agent can do.
    pub capabilities: Vec<String>,
    /// Such as CREATED, RUNNING or EXITED.
    pub container_state: Option<String>,
    /// For people.
    pub container_status: Option<String>,
    /// How it ended last; null while it never has.
    pub exit_code: Option<i64>,
    /// The node it runs on.
    pub node_id: String,
    /// It ended for want of memory.
    pub out_of_memory: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerHeartbeat {
    /// What is going on on it; absent: as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_version: Option<String>,
    /// Everybody who is on it: who is not listed has left. Absent: as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players: Option<Vec<HeartbeatPlayer>>,
    /// Players its game needs to start; absent: as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players_to_start: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_build: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<PluginReport>>,
    pub server_id: String,
    /// Not looked at: the type is that of the register call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_type: Option<String>,
    /// All its worlds; absent: as they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worlds: Option<Vec<WorldReport>>,
}

/// The software a server runs on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerPlatform {
    pub name: Option<String>,
    pub version: Option<String>,
}

/// A port of a server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerPort {
    /// It was found in use rather than given by the hub.
    pub adopted: bool,
    pub port: u32,
    pub protocol: String,
}

/// A server came online or went offline.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerPresence {
    /// The server as it is now, or as it was last.
    pub server: LiveServer,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerRegistration {
    /// What players call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What is going on on it. A minigame takes players in IDLE, WAITING and STARTING.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_state: Option<String>,
    /// The engine it runs on, one of those the hub is set up for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_type: Option<String>,
    /// Where players reach it; blank or absent: the address this request comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// How many players fit; absent or 0: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_players: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform_version: Option<String>,
    /// Players its game needs to start; absent or 0: it is no minigame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players_to_start: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_build: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugins: Option<Vec<PluginReport>>,
    /// Where players reach it, 1 to 65535.
    pub port: u16,
    /// Its address as seen from outside, to find out where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_ip: Option<String>,
    /// Where it is; absent: found by GeoIP from `publicIp`, `host` or the address this request comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// GAME when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<ServerRole>,
    /// Unique in the network.
    pub server_id: String,
    /// What kind of server it is; players are matched by it.
    pub server_type: String,
    /// Its worlds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worlds: Option<Vec<WorldReport>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerSession {
    /// How often to send a heartbeat, in milliseconds.
    pub heartbeat_interval_ms: i64,
    /// Time after its last heartbeat at which the server is offline, in milliseconds.
    pub offline_after_ms: i64,
    pub server_id: String,
    /// Signed commands are verified with this; it is the same for all servers of the network.
    pub signing_secret: String,
}

/// A player is to be sent to another server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SignedTransferCommand {
    pub expires_at: i64,
    /// Where players reach the target.
    pub host: String,
    pub issued_at: i64,
    pub player_uuid: Uuid,
    pub port: u32,
    pub target_server_id: String,
    pub target_world_id: Option<String>,
    pub transfer_id: Uuid,
    /// For each signing secret that is good, `v1,` and the base64 of an HMAC; spaces between.
    pub signature: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotRequest {
    /// Handed to the node; `REQUESTED` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SnapshotUpload {
    /// The snapshot's name for `unloaded` and `heartbeat`.
    pub blob_key: String,
    /// Until when the upload may begin.
    pub expires_at: i64,
    /// Headers to send with them.
    pub headers: HashMap<String, String>,
    pub method: String,
    /// Where the bytes go.
    pub url: String,
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

/// Who has most of a statistic.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatisticLeaderboard {
    pub entries: Vec<StatisticRank>,
    pub game_mode: String,
    pub owner_type: String,
    pub period: StatisticPeriod,
    pub statistic_name: String,
}

/// A place on a statistic's leaderboard.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct StatisticRank {
    pub owner_key: String,
    /// 1, 2, 3 …: nobody shares one.
    pub rank: i64,
    pub value: f64,
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

/// A transaction that was made.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TransactionReceipt {
    /// The balances after each operation, in the order of the request.
    pub balances: Vec<ChangedBalance>,
    /// The ledger's entries name it.
    pub transaction_id: Uuid,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TransferOutcome {
    /// The reason, for a person; null for a success.
    pub error_message: Option<String>,
    pub player_uuid: Uuid,
    /// `SUCCESS`: the command was handed to the server the player is on. Else one of `PLAYER_OFFLINE`,
    /// `SERVER_NOT_FOUND`, `SERVER_OFFLINE`, `SERVER_FULL`, `WORLD_NOT_FOUND`, `ALREADY_ON_SERVER`, `NOT_CONNECTED` and
    /// `FAILED`.
    pub result: String,
    pub success: bool,
    /// Under this it is reported and read.
    pub transfer_id: Uuid,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferReport {
    /// The reason, for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// The player who was to be sent.
    pub player_uuid: Uuid,
    /// `SUCCESS`, or an upper-case word for what went wrong, such as `FAILED`.
    pub result: String,
    pub transfer_id: Uuid,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TransferRequest {
    /// Who is to be sent; they must be online.
    pub player_uuid: Uuid,
    /// Where to.
    pub target_server_id: String,
    /// Into which of its worlds; absent: the server decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_world_id: Option<String>,
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

/// A node is to boot a world.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldBootOrder {
    /// The newest snapshot; null: the world begins anew.
    pub blob_key: Option<String>,
    /// To be sent back in the callbacks.
    pub fence: i64,
    pub game_id: String,
    /// How long the lease lasts unless a heartbeat renews it.
    pub lease_ms: i64,
    pub owner: WorldOwner,
    /// PERSISTENT or EPHEMERAL.
    pub persistence: String,
    pub seed: Option<WorldSeed>,
    /// Where to get it; null where there is none, or where a node keeps it in a store of its own.
    pub snapshot_url: Option<String>,
    pub world_gen: Option<String>,
    /// The lease, which the node names in its callbacks.
    pub world_id: i64,
    pub world_key: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldHeartbeat {
    /// A snapshot that was uploaded since, by its `blobKey`. Needed only where snapshots go to another store than the
    /// hub itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob_key: Option<String>,
    /// The lease's, as `WORLD_OPEN` told it.
    pub fence: i64,
    pub node_server_id: String,
    /// Players in the world; absent: as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub player_count: Option<u32>,
    /// Its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}

/// A lease as it stands.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldLease {
    /// When it runs out; meaningless for one that has ended.
    pub expires_at: i64,
    /// Sent along by the node with each callback.
    pub fence: i64,
    /// How long it lasts from each heartbeat.
    pub lease_ms: i64,
    /// The node that holds it; null while it waits for the lease before it to end.
    pub node_server_id: Option<String>,
    /// Players in it, as its node last said.
    pub player_count: i64,
    pub state: WorldLeaseState,
    /// The lease's number, as text.
    pub world_instance_id: String,
}

/// Whose world it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldOwner {
    pub id: String,
    pub scope: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldReadyReport {
    /// The lease's, as `WORLD_OPEN` told it.
    pub fence: i64,
    pub node_server_id: String,
}

/// A world as its server reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldReport {
    /// Players in it; absent: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_players: Option<u32>,
    /// What players call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What is going on in it. A minigame takes players in IDLE, WAITING and STARTING.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_state: Option<String>,
    /// How many fit; absent or 0: no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_players: Option<u32>,
    /// Players its game needs to start; absent or 0: it is no minigame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players_to_start: Option<u32>,
    /// Unique on its server; of two with one id the later counts.
    pub world_id: String,
    /// What kind of world it is; players are matched by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_type: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldRequest {
    /// The game, which is the type of the servers that can boot it.
    pub game_id: String,
    /// Whose world it is.
    pub owner_id: String,
    /// What kind of owner; with `player`, and their UUID as `ownerId`, a slot is kept for them where the world is up.
    pub owner_scope: String,
    /// PERSISTENT when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistence: Option<WorldPersistence>,
    /// The server that shall boot it, if it is online with room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefer_node: Option<String>,
    /// What a new world is made from; handed to the node as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<WorldSeedInput>,
    /// Handed to the node as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_gen: Option<String>,
    /// Which of the owner's worlds; `default` when absent or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub world_key: Option<String>,
}

/// A node is to save a world, or to unload it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldSaveOrder {
    /// To be sent back in the callbacks.
    pub fence: i64,
    /// `IDLE`, `RELEASED`, or what the caller of `snapshot` said.
    pub reason: String,
    /// The lease.
    pub world_id: i64,
}

/// What a new world is made from; handed to the node as it was sent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldSeed {
    /// What `ref` is written in.
    pub format: Option<String>,
    /// What to begin with, such as a template's name or a URL.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// Where in the world it goes.
    pub x: Option<f64>,
    pub y: Option<f64>,
    pub z: Option<f64>,
}

/// What a new world is made from; handed to the node as it was sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldSeedInput {
    /// What `ref` is written in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What to begin with, such as a template's name or a URL.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// Where in the world it goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
}

/// The state that a world's lease has come to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorldStateChange {
    pub state: WorldLeaseState,
    /// The lease's number, as text.
    pub world_instance_id: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldUnloadReport {
    /// The snapshot it was unloaded with, by the `blobKey` of its upload; absent: there is none newer than those known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob_key: Option<String>,
    /// The lease's, as `WORLD_OPEN` told it.
    pub fence: i64,
    pub node_server_id: String,
    /// Its size; what came to the hub's own disk the hub has measured itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
}
