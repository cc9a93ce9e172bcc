//! The configuration; the README explains it.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// Forbidden words.
    pub(crate) words: Vec<String>,
    pub(crate) action: Action,
    /// Message for the sender of a line refused for a word.
    pub(crate) reason: String,
    /// True if a word counts only as a whole word.
    pub(crate) whole_words: bool,
    /// True to find `l33t`, `s p a c i n g` and `reeepetition`.
    pub(crate) fold: bool,
    /// Flood control; none: off.
    pub(crate) flood: Option<Flood>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Action {
    Mask,
    Refuse,
}

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Flood {
    /// Lines a player may send …
    pub(crate) messages: i64,
    /// … in this time.
    pub(crate) per_ms: u64,
    /// Message for the sender of a line over the limit.
    pub(crate) reason: String,
    /// Mutes players who keep flooding; none: off.
    pub(crate) mute: Option<FloodMute>,
}

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct FloodMute {
    /// Floods that lead to a mute …
    pub(crate) after_floods: i64,
    /// … within this time.
    pub(crate) within_ms: u64,
    pub(crate) duration_ms: u64,
    pub(crate) reason: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            action: Action::Mask,
            reason: "That word is not allowed here.".into(),
            whole_words: true,
            fold: true,
            flood: None,
        }
    }
}

impl Default for Flood {
    fn default() -> Self {
        Self { messages: 5, per_ms: 5_000, reason: "You are sending messages too quickly.".into(), mute: None }
    }
}

impl Default for FloodMute {
    fn default() -> Self {
        Self { after_floods: 3, within_ms: 600_000, duration_ms: 300_000, reason: "Flooding the chat".into() }
    }
}
