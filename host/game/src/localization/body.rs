//! The catalog on the wire.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

use crate::localization::model::{Locale, LocaleCode};

/// All messages, or those of some namespaces.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalizationCatalog {
    /// Version; increases by one with every call that changes the catalog.
    #[schema(example = 12)]
    pub(super) version: i64,
    pub(super) default_locale: LocaleCode,
    /// Locales: the default first, then by name.
    pub(super) locales: Vec<Locale>,
    /// Message texts by locale and key.
    #[schema(example = json!({"en": {"welcome": "Welcome!"}}))]
    pub(super) messages: BTreeMap<String, BTreeMap<String, String>>,
}
