//! The configuration; the README explains it.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// Currency of the reward.
    pub(crate) currency: String,
    /// For a vote that names the player's UUID; 0: none.
    pub(crate) reward: f64,
    /// Kind of the delivery for each vote; empty: none.
    pub(crate) delivery: String,
    /// Tells the network of each vote.
    pub(crate) announce: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self { currency: "coins".into(), reward: 25.0, delivery: String::new(), announce: false }
    }
}
