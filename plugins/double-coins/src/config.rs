//! The configuration; the README explains it.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) currencies: Vec<String>,
    pub(crate) percent: u32,
    /// Only for changes with one of these reasons; empty: all.
    pub(crate) reasons: Vec<String>,
    /// Only on these servers; empty: all.
    pub(crate) servers: Vec<String>,
    pub(crate) from_ms: Option<u64>,
    pub(crate) until_ms: Option<u64>,
}

impl Config {
    /// True within the time for which it is meant.
    pub(crate) fn is_on(&self, now_ms: u64) -> bool {
        self.from_ms.is_none_or(|from| from <= now_ms) && self.until_ms.is_none_or(|until| now_ms < until)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            currencies: vec!["coins".into()],
            percent: 200,
            reasons: vec![],
            servers: vec![],
            from_ms: None,
            until_ms: None,
        }
    }
}
