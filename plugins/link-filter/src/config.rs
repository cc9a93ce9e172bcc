//! The configuration; the README explains it.

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Config {
    /// Allowed links: a domain with its subdomains, an address, or either with the beginning of a path.
    pub(crate) allow: Vec<String>,
    pub(crate) action: Action,
    /// Message for the sender of a refused line.
    pub(crate) reason: String,
    /// True if addresses such as `203.0.113.7` count as links.
    pub(crate) addresses: bool,
    /// The endings that make `name.ending` a link without anything else; none: the usual ones.
    pub(crate) endings: Option<Vec<String>>,
    /// Players with this permission node may link to anything.
    pub(crate) bypass_permission: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Action {
    Mask,
    Refuse,
}

/// Common endings, without those that begin sentences: `it`, `is`, `me`, `so` … ("hello.is that you").
const ENDINGS: &str = "com net org gg io dev app xyz info biz online site store shop club website tech eu de uk fr nl pl ru su cz \
    br ca au tv cc co tk ml ga cf gq ly";

impl Default for Config {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            action: Action::Refuse,
            reason: "Links are not allowed here.".into(),
            addresses: true,
            endings: None,
            bypass_permission: None,
        }
    }
}

impl Config {
    /// True if `name.label` is a link without anything else.
    pub(crate) fn is_ending(&self, label: &str) -> bool {
        match &self.endings {
            Some(endings) => endings.iter().any(|ending| ending == label),
            None => ENDINGS.split_whitespace().any(|ending| ending == label),
        }
    }
}
