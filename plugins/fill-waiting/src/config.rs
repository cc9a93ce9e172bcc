//! The configuration; the README explains it.

use serde::Deserialize;

#[allow(clippy::struct_excessive_bools)] // Independent choices.
#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// Whether a candidate where the preferred owner is live comes before everything.
    pub(crate) affinity_first: bool,
    /// Whether candidates in the player's own region come before others.
    pub(crate) own_region_first: bool,
    /// Whether a game in its countdown can still be joined in time.
    pub(crate) join_starting: bool,
    /// Whether a running game may be joined where there is nothing else.
    pub(crate) join_playing: bool,
    /// What a player is told who cannot be matched.
    pub(crate) reason: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            affinity_first: true,
            own_region_first: false,
            join_starting: true,
            join_playing: true,
            reason: "Every game has started; try again in a moment.".into(),
        }
    }
}
