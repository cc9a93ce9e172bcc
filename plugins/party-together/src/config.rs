//! The configuration; the README explains it.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// The owner scopes that are groups, and the expected number of players of each.
    pub(crate) groups: BTreeMap<String, u32>,
    /// Time for which the others follow a member of their group.
    pub(crate) follow_ms: u64,
    /// Time for which a group's members are remembered.
    pub(crate) remember_ms: u64,
    /// Number of candidates that are searched for members of the group.
    pub(crate) candidates: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { groups: BTreeMap::from([("PARTY".into(), 4)]), follow_ms: 60_000, remember_ms: 3_600_000, candidates: 3 }
    }
}
