//! `chat.wit`.

use super::PlayerRef;
use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// A chat line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// Its sender.
    #[component(name = "player")]
    pub player: PlayerRef,
    /// 1 to 1,024 characters without control characters.
    #[component(name = "message")]
    pub message: String,
    /// Server on which it was sent.
    #[component(name = "server-id")]
    pub server_id: String,
    /// Type of the server.
    #[component(name = "server-type")]
    pub server_type: String,
    /// World in which it was sent.
    #[component(name = "world")]
    pub world: Option<String>,
    /// Rank shown before the sender's name.
    #[component(name = "rank")]
    pub rank: Option<String>,
}

/// Decision about a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(variant)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// The line is sent unchanged.
    #[default]
    #[component(name = "allow")]
    Allow,
    /// The line is sent with this text.
    #[component(name = "rewrite")]
    Rewrite(String),
    /// The line is not sent, for this reason.
    #[component(name = "refuse")]
    Refuse(String),
}

/// A mute for the sender of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Mute {
    /// Duration in milliseconds.
    #[component(name = "duration-ms")]
    pub duration_ms: u64,
    /// Shown to the player and in their record.
    #[component(name = "reason")]
    pub reason: String,
}

/// Answer of a module, or of a chain of them, to a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// Decision about the line.
    #[component(name = "decision")]
    pub decision: Decision,
    /// Mutes the sender from now on, regardless of the decision.
    #[component(name = "mute")]
    pub mute: Option<Mute>,
}
