//! The configuration; the README explains it.

use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// For each region, the regions to try after it, nearest first.
    pub(crate) neighbours: BTreeMap<String, Vec<String>>,
    /// True if a candidate with the preferred owner live on it comes before all others.
    pub(crate) affinity_first: bool,
    /// True if all other regions are left out.
    pub(crate) neighbours_only: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { neighbours: BTreeMap::new(), affinity_first: true, neighbours_only: false }
    }
}
