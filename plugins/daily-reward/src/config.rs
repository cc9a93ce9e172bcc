//! The configuration; the README explains it.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// Currency of all rewards.
    pub(crate) currency: String,
    /// For the first join of a day, in UTC; 0: none.
    pub(crate) daily: f64,
    /// More for each further day in a row.
    pub(crate) streak_bonus: f64,
    /// Days in a row beyond which the reward grows no more.
    pub(crate) max_streak: u64,
    /// For the first join of all; 0: none.
    pub(crate) first_join: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { currency: "coins".into(), daily: 50.0, streak_bonus: 10.0, max_streak: 7, first_join: 200.0 }
    }
}
