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
    /// The server it was sent on.
    #[component(name = "server-id")]
    pub server_id: String,
    /// That server's type.
    #[component(name = "server-type")]
    pub server_type: String,
    /// The world it was sent in.
    #[component(name = "world")]
    pub world: Option<String>,
    /// The rank shown before the sender's name.
    #[component(name = "rank")]
    pub rank: Option<String>,
}

/// What becomes of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(variant)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// It goes out as it is.
    #[default]
    #[component(name = "allow")]
    Allow,
    /// It goes out as this text.
    #[component(name = "rewrite")]
    Rewrite(String),
    /// It reaches nobody, for this reason.
    #[component(name = "refuse")]
    Refuse(String),
}

/// A mute for the sender of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Mute {
    /// How long, in milliseconds.
    #[component(name = "duration-ms")]
    pub duration_ms: u64,
    /// Shown to the player and in their record.
    #[component(name = "reason")]
    pub reason: String,
}

/// What a module, or a chain of them, decides about a line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// What becomes of the line.
    #[component(name = "decision")]
    pub decision: Decision,
    /// Mutes the sender from now on, whatever becomes of the line.
    #[component(name = "mute")]
    pub mute: Option<Mute>,
}
