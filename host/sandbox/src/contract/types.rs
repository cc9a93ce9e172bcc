//! `types.wit` and the level of `log.wit`.

use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

/// Context of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct CallContext {
    /// Id of this call in the hub's records and logs.
    #[component(name = "call-id")]
    pub call_id: String,
    /// Network of this call.
    #[component(name = "network-id")]
    pub network_id: String,
    /// The time of the call in milliseconds since the Unix epoch.
    #[component(name = "now-ms")]
    pub now_ms: u64,
    /// A random number chosen by the hub for this call.
    #[component(name = "seed")]
    pub seed: u64,
    /// The module's configuration: the text of one JSON object.
    #[component(name = "config")]
    pub config: String,
    /// Version of the module under its name; 0 if it has none.
    #[component(name = "version")]
    #[serde(default)]
    pub version: u32,
    /// Number of this attempt, from 1.
    #[component(name = "attempt")]
    #[serde(default = "first")]
    pub attempt: u32,
    /// The call of a module that led to this one.
    #[component(name = "cause")]
    #[serde(default)]
    pub cause: Option<Cause>,
    /// Number of calls of modules that led to this one.
    #[component(name = "depth")]
    #[serde(default)]
    pub depth: u32,
    /// Id of the event, tick or request with which the chain of causes began.
    #[component(name = "root-id")]
    #[serde(default)]
    pub root_id: String,
}

const fn first() -> u32 {
    1
}

impl Default for CallContext {
    /// The first attempt of a call that no other module caused.
    fn default() -> Self {
        Self {
            call_id: String::new(),
            network_id: String::new(),
            now_ms: 0,
            seed: 0,
            config: "{}".to_owned(),
            version: 0,
            attempt: 1,
            cause: None,
            depth: 0,
            root_id: String::new(),
        }
    }
}

/// The call of a module that caused an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// Id of that call.
    #[component(name = "call-id")]
    pub call_id: String,
    /// Id of the event it handled; `None` if it handled none.
    #[component(name = "event-id")]
    #[serde(default)]
    pub event_id: Option<String>,
    /// Name of its module.
    #[component(name = "module")]
    pub module: String,
    /// Version of its module.
    #[component(name = "version")]
    pub version: u32,
}

/// A player by identity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
pub struct PlayerRef {
    /// Lower case, with hyphens.
    #[component(name = "uuid")]
    pub uuid: String,
    /// The name at the time of the call.
    #[component(name = "name")]
    pub name: String,
}

/// The four kinds of punishment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(enum)]
#[serde(rename_all = "UPPERCASE")]
#[repr(u8)]
pub enum PunishmentKind {
    /// May not join.
    #[component(name = "ban")]
    Ban,
    /// May not chat.
    #[component(name = "mute")]
    Mute,
    /// Is warned.
    #[component(name = "warn")]
    Warn,
    /// Is thrown out once. Recorded, and never active.
    #[component(name = "kick")]
    Kick,
}

/// Error of a host function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(variant)]
#[serde(rename_all = "camelCase")]
pub enum HostError {
    /// An invalid argument, with the reason.
    #[component(name = "invalid")]
    Invalid(String),
    /// The module's key-value store is full.
    #[component(name = "quota-exceeded")]
    QuotaExceeded,
    /// The hub could not reach its data in time, or does not offer this to calls of this kind.
    #[component(name = "unavailable")]
    Unavailable,
    /// The owner did not grant the scope that this needs.
    #[component(name = "forbidden")]
    Forbidden,
}

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(enum)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum LogLevel {
    /// For the author while developing.
    #[component(name = "debug")]
    Debug,
    /// Normal events.
    #[component(name = "info")]
    Info,
    /// Possible problems.
    #[component(name = "warn")]
    Warn,
    /// Failures.
    #[component(name = "error")]
    Error,
}
