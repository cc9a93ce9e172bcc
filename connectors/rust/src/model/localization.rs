// Generated from the hub's OpenAPI document by connectors/generate.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::LanguageSource;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DefaultMessages {
    /// Message texts, at most 16,384 characters, by keys of at most 255; their size as JSON is limited
    /// (`messageBytes`).
    pub entries: HashMap<String, String>,
    pub locale: String,
    pub namespace: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InsertedMessages {
    /// Number of messages without an earlier default.
    pub inserted: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LanguageChoice {
    /// Locale; null unsets the language, regardless of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// PLAYER (default) if chosen by the player, AUTO if detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<LanguageSource>,
}

/// Language of the catalog.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Locale {
    /// Display name; initially the locale itself.
    pub display_name: String,
    /// True if it is offered to players.
    pub enabled: bool,
    /// True for exactly one locale.
    pub is_default: bool,
    /// Locale in its first spelling.
    pub locale: String,
}

/// All messages, or those of some namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LocalizationCatalog {
    pub default_locale: String,
    /// Locales: the default first, then by name.
    pub locales: Vec<Locale>,
    /// Message texts by locale and key.
    pub messages: HashMap<String, HashMap<String, String>>,
    /// Version; increases by one with every call that changes the catalog.
    pub version: i64,
}
