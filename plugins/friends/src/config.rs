//! The configuration; the README explains it.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// Friends that a player may have.
    pub(crate) max_friends: usize,
    /// Open requests that a player may have sent, and as many received.
    pub(crate) max_requests: usize,
    /// Days after which a request is forgotten.
    pub(crate) request_days: u64,
    /// Collection in which friends are kept, too; empty: none.
    pub(crate) collection: String,
}

impl Default for Config {
    fn default() -> Self {
        Self { max_friends: 100, max_requests: 20, request_days: 30, collection: String::new() }
    }
}
