// Generated from the hub's OpenAPI document by connectors/generate.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::LanguageSource;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DefaultMessages {
    /// What each message says, at most 16,384 characters, by a key of at most 255; its bytes as JSON are counted
    /// (`messageBytes`).
    pub entries: HashMap<String, String>,
    pub locale: String,
    pub namespace: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct InsertedMessages {
    /// How many messages had no default before.
    pub inserted: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LanguageChoice {
    /// Null unsets the language, whatever the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// PLAYER where the player chose it, AUTO where it was detected; PLAYER when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<LanguageSource>,
}

/// A language the catalog speaks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Locale {
    /// A name for people; the locale itself until one is given.
    pub display_name: String,
    /// Whether players are to be offered it.
    pub enabled: bool,
    /// Exactly one is.
    pub is_default: bool,
    /// As it was first sent.
    pub locale: String,
}

/// All messages, or those of some namespaces.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LocalizationCatalog {
    pub default_locale: String,
    /// The default first, then by name.
    pub locales: Vec<Locale>,
    /// What each message says, by locale and key.
    pub messages: HashMap<String, HashMap<String, String>>,
    /// Rises by one with every call that changes what the catalog says.
    pub version: i64,
}
