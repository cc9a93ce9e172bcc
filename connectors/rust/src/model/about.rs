// Generated from the hub's OpenAPI document by connectors/generate.

use serde::Deserialize;

/// Build information of this hub.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BuildStamp {
    /// Number of commits in the history of this build.
    pub build: u64,
    /// Time of the commit, ISO 8601.
    pub build_time: String,
    /// Short hash of the commit.
    pub commit: String,
    pub component: String,
    /// True if the working tree had uncommitted changes.
    pub dev: bool,
    pub version: String,
}
