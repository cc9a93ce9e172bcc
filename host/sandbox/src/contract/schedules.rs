//! `schedules.wit`: ticks of schedules, and timers.

use super::json_form::json_text;
use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lower};

/// A tick of a schedule as a module gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Tick {
    /// The schedule's name in the manifest.
    #[component(name = "schedule")]
    pub schedule: String,
    /// Time at which it was due, in milliseconds since the Unix epoch.
    #[component(name = "due-at-ms")]
    #[serde(rename = "dueAt")]
    pub due_at_ms: u64,
    /// Number of ticks that were missed before this one and are not made up for.
    #[component(name = "missed")]
    #[serde(default)]
    pub missed: u32,
    /// True if a person asked for it.
    #[component(name = "manual")]
    #[serde(default)]
    pub manual: bool,
}

/// A timer as a module gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Timer {
    /// Its key: timers of one key run one after the other.
    #[component(name = "key")]
    pub key: String,
    /// Time for which it was set, in milliseconds since the Unix epoch.
    #[component(name = "at-ms")]
    #[serde(rename = "at")]
    pub at_ms: u64,
    /// The text of JSON that `set-timer` gave it.
    #[component(name = "payload")]
    #[serde(with = "json_text")]
    pub payload: String,
}
