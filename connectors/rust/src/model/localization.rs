//! Messages and languages.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// All messages of a network, or of some namespaces.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Catalog {
    /// Rises when a message changes.
    pub version: i64,
    /// Where a message is looked up that a language lacks.
    pub default_locale: String,
    /// The languages, the default first.
    pub locales: Vec<Locale>,
    /// By language, then by key.
    pub messages: HashMap<String, HashMap<String, String>>,
}

/// A language.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Locale {
    /// Its code.
    pub locale: String,
    /// What players read.
    pub display_name: String,
    /// Whether messages are looked up in it that others lack.
    pub is_default: bool,
    /// Whether players may choose it.
    pub enabled: bool,
}

/// Who chose a player's language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum LanguageSource {
    /// The player: never ask again.
    Player,
    /// It was detected.
    Auto,
}

/// The language of a player; both are none where it was never set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlayerLanguage {
    /// Its code.
    pub locale: Option<String>,
    /// Who chose it.
    pub source: Option<LanguageSource>,
}
