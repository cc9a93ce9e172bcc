//! The configuration; the README explains it.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// The owner scopes that are groups, and the expected number of players of each.
    pub(crate) groups: BTreeMap<String, u32>,
    /// How long the others are sent where one of a group was sent.
    pub(crate) follow_ms: u64,
    /// How long a group's members are remembered.
    pub(crate) remember_ms: u64,
    /// How many candidates are searched for members of the group.
    pub(crate) candidates: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { groups: BTreeMap::from([("PARTY".into(), 4)]), follow_ms: 60_000, remember_ms: 3_600_000, candidates: 3 }
    }
}
