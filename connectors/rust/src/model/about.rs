// Generated from the hub's OpenAPI document by connectors/generate.

use serde::Deserialize;

/// What this hub was built from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BuildStamp {
    /// How many commits lie behind this build.
    pub build: u64,
    /// When the commit was made, ISO 8601.
    pub build_time: String,
    /// The commit's short hash.
    pub commit: String,
    pub component: String,
    /// Whether the tree had changes that no commit holds.
    pub dev: bool,
    pub version: String,
}
