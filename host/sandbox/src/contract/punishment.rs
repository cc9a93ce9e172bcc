//! `punishment.wit`.

use super::PunishmentKind;
use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// What a punishment says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// Which of the four it is.
    #[component(name = "kind")]
    #[serde(rename = "type")]
    pub kind: PunishmentKind,
    /// How long, in milliseconds; none is permanent.
    #[component(name = "duration-ms")]
    pub duration_ms: Option<u64>,
    /// Shown to the player and in their record.
    #[component(name = "reason")]
    pub reason: String,
}

/// A punishment somebody is about to make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// None for a punishment by name alone, or of an address alone.
    #[component(name = "player-uuid")]
    pub player_uuid: Option<String>,
    /// None for a punishment of an address alone.
    #[component(name = "player-name")]
    pub player_name: Option<String>,
    /// As proposed, or as an earlier module amended it.
    #[component(name = "terms")]
    pub terms: Terms,
    /// Whether it covers the player's address too.
    #[component(name = "ip-based")]
    pub ip_based: bool,
    /// None where the console or the hub itself punishes.
    #[component(name = "issuer-uuid")]
    pub issuer_uuid: Option<String>,
    /// The issuer's name.
    #[component(name = "issuer-name")]
    pub issuer_name: Option<String>,
}

/// What becomes of a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(variant)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// It is made as it is.
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

/// What a module, or a chain of them, decides about a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Verdict {
    /// What becomes of the proposal.
    #[component(name = "decision")]
    pub decision: Decision,
    /// Further punishments for the same player, made after it and not reviewed again.
    #[component(name = "follow-ups")]
    #[serde(default)]
    pub follow_ups: Vec<Terms>,
}
