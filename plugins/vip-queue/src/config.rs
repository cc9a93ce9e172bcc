//! The configuration; the README explains it.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) ranks: Vec<Rank>,
    /// True if the best rank of a party counts for all.
    pub(crate) party_counts: bool,
    /// Only in lines for servers of these types; empty: all.
    pub(crate) server_types: Vec<String>,
}

/// Players with a permission, and their priority.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Rank {
    pub(crate) permission: String,
    pub(crate) priority: i32,
}

impl Default for Config {
    fn default() -> Self {
        let rank = |permission: &str, priority| Rank { permission: permission.into(), priority };
        Self {
            ranks: vec![rank("queue.staff", 1000), rank("queue.vip", 300)],
            party_counts: false,
            server_types: vec![],
        }
    }
}
