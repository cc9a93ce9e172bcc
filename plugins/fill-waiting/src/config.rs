//! The configuration; the README explains it.

use serde::Deserialize;

#[allow(clippy::struct_excessive_bools)] // Independent choices.
#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// True if a candidate with the preferred owner live on it comes before all others.
    pub(crate) affinity_first: bool,
    /// True if candidates in the player's own region come before others.
    pub(crate) own_region_first: bool,
    /// True if a game in its countdown can still be joined in time.
    pub(crate) join_starting: bool,
    /// True if a running game may be joined when there is no other.
    pub(crate) join_playing: bool,
    /// Message for a player who cannot be matched.
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
