//! `punishment.wit`.

use super::PunishmentKind;
use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// Terms of a punishment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// Kind of punishment.
    #[component(name = "kind")]
    #[serde(rename = "type")]
    pub kind: PunishmentKind,
    /// Duration in milliseconds; `None` is permanent.
    #[component(name = "duration-ms")]
    pub duration_ms: Option<u64>,
    /// Shown to the player and in their record.
    #[component(name = "reason")]
    pub reason: String,
}

/// A proposed punishment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// `None` for a punishment by name alone, or of an address alone.
    #[component(name = "player-uuid")]
    pub player_uuid: Option<String>,
    /// `None` for a punishment of an address alone.
    #[component(name = "player-name")]
    pub player_name: Option<String>,
    /// The proposed terms, with the amendments of earlier modules.
    #[component(name = "terms")]
    pub terms: Terms,
    /// True if it covers the player's address too.
    #[component(name = "ip-based")]
    pub ip_based: bool,
    /// `None` for punishments by the console or the hub itself.
    #[component(name = "issuer-uuid")]
    pub issuer_uuid: Option<String>,
    /// The issuer's name.
    #[component(name = "issuer-name")]
    pub issuer_name: Option<String>,
}

/// Decision about a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(variant)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// It is made unchanged.
    #[default]
    #[component(name = "accept")]
    Accept,
    /// It is made on these terms instead.
    #[component(name = "amend")]
    Amend(Terms),
    /// It is not made, for this reason.
    #[component(name = "refuse")]
    Refuse(String),
}

/// Answer of a module, or of a chain of them, to a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Verdict {
    /// Decision about the proposal.
    #[component(name = "decision")]
    pub decision: Decision,
    /// Further punishments for the same player, made after it and not reviewed again.
    #[component(name = "follow-ups")]
    #[serde(default)]
    pub follow_ups: Vec<Terms>,
}
