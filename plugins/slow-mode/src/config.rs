//! The configuration; the README explains it.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// One line per player in this time; 0: off.
    pub(crate) every_ms: u64,
    /// Another time on servers of some types, each counted separately.
    pub(crate) server_types: BTreeMap<String, u64>,
    /// Players with this permission node are exempt.
    pub(crate) bypass_permission: Option<String>,
    /// Message for the sender of a refused line; `{seconds}` is the time to wait.
    pub(crate) reason: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            every_ms: 3000,
            server_types: BTreeMap::new(),
            bypass_permission: None,
            reason: "Slow mode: you can write again in {seconds} s.".into(),
        }
    }
}
