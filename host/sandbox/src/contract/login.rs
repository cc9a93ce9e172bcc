//! `login.wit`.

use super::PlayerRef;
use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// A player who wants to join.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// The player.
    #[component(name = "player")]
    pub player: PlayerRef,
    /// Tells addresses apart, within a day.
    #[component(name = "ip-hash")]
    pub ip_hash: Option<String>,
    /// The player's region, such as `EUROPE`.
    #[component(name = "region")]
    pub region: String,
    /// Server that asks.
    #[component(name = "server-id")]
    pub server_id: String,
    /// True if the network has never seen the player before.
    #[component(name = "first-join")]
    #[serde(default)]
    pub first_join: bool,
}

/// A refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(record)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// For the player.
    #[component(name = "reason")]
    pub reason: String,
    /// For connectors.
    #[component(name = "kind")]
    pub kind: String,
}

/// Decision about an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(variant)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// The player may join.
    #[default]
    #[component(name = "allow")]
    Allow,
    /// The player may not join.
    #[component(name = "refuse")]
    Refuse(Refusal),
}
