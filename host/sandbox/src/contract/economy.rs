//! `economy.wit`.

pub use super::effects::Operation;

use super::json_form::decimal;
use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(enum)]
#[serde(rename_all = "UPPERCASE")]
#[repr(u8)]
pub enum ChangeKind {
    /// One change, which may be amended.
    #[component(name = "modify")]
    Modify,
    /// Several that belong together, which may only be accepted or refused.
    #[component(name = "transaction")]
    Transaction,
}

/// A change of balances, before it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// Kind of change.
    #[component(name = "kind")]
    pub kind: ChangeKind,
    /// One for a `modify`, with the amendment of earlier modules.
    #[component(name = "operations")]
    pub operations: Vec<Operation>,
    /// Reason for the ledger.
    #[component(name = "reason")]
    pub reason: Option<String>,
    /// Server for which it is made, if known.
    #[component(name = "server-id")]
    pub server_id: Option<String>,
}

/// Decision about a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift)]
#[component(variant)]
#[serde(rename_all = "camelCase")]
pub enum Decision {
    /// It is made unchanged.
    #[default]
    #[component(name = "accept")]
    Accept,
    /// It is made with this amount instead, in ten-thousandths.
    #[component(name = "amend")]
    Amend(#[serde(with = "decimal")] i64),
    /// It is not made, for this reason.
    #[component(name = "refuse")]
    Refuse(String),
}
