//! `events.wit`, and the failure that all handlers share.

use super::json_form::json_text;
use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// An event as a module gets it. Its depth, root and cause are in the [`CallContext`](super::CallContext).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Opaque; unique in the network, and equal for all modules and attempts.
    #[component(name = "id")]
    pub id: String,
    /// Type of the event, such as `BALANCE_CHANGED`.
    #[component(name = "kind")]
    #[serde(rename = "type")]
    pub kind: String,
    /// Its time, in milliseconds since the Unix epoch.
    #[component(name = "at-ms")]
    #[serde(rename = "at")]
    pub at_ms: u64,
    /// Key of its order: events of one key come one after the other.
    #[component(name = "key")]
    pub key: String,
    /// The player it is about.
    #[component(name = "player-uuid")]
    #[serde(default)]
    pub player_uuid: Option<String>,
    /// Name of that player, if it is known.
    #[component(name = "player-name")]
    #[serde(default)]
    pub player_name: Option<String>,
    /// The server it is about.
    #[component(name = "server-id")]
    #[serde(default)]
    pub server_id: Option<String>,
    /// Text of one JSON object: the event's fields as on streams.
    #[component(name = "data")]
    #[serde(with = "json_text")]
    pub data: String,
}

/// A handler's own failure: nothing of its call is committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(variant)]
#[serde(rename_all = "camelCase")]
pub enum Failure {
    /// The call is to be tried again later, for this reason.
    #[component(name = "retry")]
    Retry(String),
    /// The call can't succeed, for this reason.
    #[component(name = "reject")]
    Reject(String),
}

impl Failure {
    /// A stable code: `retry` or `reject`.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Retry(_) => "retry",
            Self::Reject(_) => "reject",
        }
    }

    /// The module's reason.
    pub fn reason(&self) -> &str {
        match self {
            Self::Retry(reason) | Self::Reject(reason) => reason,
        }
    }
}
