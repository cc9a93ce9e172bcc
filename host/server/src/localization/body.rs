//! The catalog and a player's language on the wire.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::localization::model::{Language, Locale, LocaleCode, Source};

/// All messages, or those of some namespaces.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalizationCatalog {
    /// Rises by one with every call that changes what the catalog says.
    #[schema(example = 12)]
    pub(super) version: i64,
    pub(super) default_locale: LocaleCode,
    /// The default first, then by name.
    pub(super) locales: Vec<Locale>,
    /// What each message says, by locale and key.
    #[schema(example = json!({"en": {"welcome": "Welcome!"}}))]
    pub(super) messages: BTreeMap<String, BTreeMap<String, String>>,
}

/// A player's language; both fields are null while it was never set, or was unset.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlayerLanguage {
    locale: Option<LocaleCode>,
    source: Option<Source>,
}

impl From<Language> for PlayerLanguage {
    fn from(language: Language) -> Self {
        let (locale, source) = language.unzip();
        Self { locale, source }
    }
}
