//! The configuration; the README explains it.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// Against lines in capitals; none: off.
    pub(crate) caps: Option<Caps>,
    /// Against repeated lines; none: off.
    pub(crate) repeat: Option<Repeat>,
    /// Players with this permission node are exempt.
    pub(crate) bypass_permission: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Caps {
    /// Shorter lines are left alone.
    pub(crate) min_letters: usize,
    /// The percentage of letters that may be capitals.
    pub(crate) max_percent: usize,
    /// Words that keep their capitals.
    pub(crate) keep: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Repeat {
    /// Time for which a line may not be repeated.
    pub(crate) within_ms: u64,
    /// Number of a player's lines that are remembered.
    pub(crate) lines: usize,
    /// The percentage from which lines count as the same.
    pub(crate) alike_percent: usize,
    /// Shorter lines may be repeated.
    pub(crate) min_letters: usize,
    /// Message for the sender of a refused line.
    pub(crate) reason: String,
}

impl Default for Config {
    fn default() -> Self {
        Self { caps: Some(Caps::default()), repeat: Some(Repeat::default()), bypass_permission: None }
    }
}

impl Default for Caps {
    fn default() -> Self {
        Self { min_letters: 8, max_percent: 60, keep: Vec::new() }
    }
}

impl Default for Repeat {
    fn default() -> Self {
        Self {
            within_ms: 30_000,
            lines: 3,
            alike_percent: 90,
            min_letters: 5,
            reason: "You have said that already.".into(),
        }
    }
}
