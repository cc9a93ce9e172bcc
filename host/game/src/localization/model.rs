//! Locales and messages.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::if_match::revision_of;
use crate::text_type::text_type;
use crate::values::{Identifier, Text, is_label};

/// Default locale until the operator chooses another.
pub(super) const INITIAL_LOCALE: &str = "en";

text_type! {
    /// Locale such as `en_us` or `de`: 1 to 16 of `A-Za-z0-9_-`.
    pub(crate) struct LocaleCode;
    check: |text| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_code = (1..=16).contains(&text.len()) && text.bytes().all(fits);
        is_code.then_some(()).ok_or("must be 1 to 16 letters, digits, `_` or `-`, such as `en_us`")
    };
    schema: |text| text.pattern(Some("^[A-Za-z0-9_-]{1,16}$")).examples(["en_us"]);
}

impl LocaleCode {
    /// Form for comparison: lower case, with `_`.
    pub(super) fn key(&self) -> String {
        self.as_str().to_ascii_lowercase().replace('-', "_")
    }

    /// Reads a stored key.
    pub(super) fn check_key(text: &str) -> Result<(), String> {
        let code: Self = text.parse()?;
        (code.key() == text).then_some(()).ok_or_else(|| "must be a locale in lower case and with `_`".to_owned())
    }
}

text_type! {
    /// Namespace of messages, for example a plugin: 1 to 64 of `A-Za-z0-9_.:-`.
    pub(super) struct Namespace;
    check: |text| is_label(text).then_some(()).ok_or("must be 1 to 64 letters, digits, `_`, `.`, `:` or `-`");
    schema: |text| text.pattern(Some("^[A-Za-z0-9_.:-]{1,64}$")).examples(["lobby"]);
}

/// Text of a message.
pub(super) type MessageText = Text<16_384>;
/// Key of a message in its namespace.
pub(super) type MessageKey = Identifier;

/// Language of the catalog.
#[allow(clippy::struct_field_names, reason = "the wire's name")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Locale {
    /// Locale in its first spelling.
    pub(super) locale: LocaleCode,
    /// Display name; initially the locale itself.
    #[schema(example = "English")]
    pub(super) display_name: String,
    /// True for exactly one locale.
    pub(super) is_default: bool,
    /// True if it is offered to players.
    #[schema(example = true)]
    pub(super) enabled: bool,
}

/// Language of the catalog, for who manages it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct ManagedLocale {
    #[serde(flatten)]
    pub(super) locale: Locale,
    /// Changes with the locale, for `If-Match`.
    #[schema(example = 4_503_599_627_370_i64)]
    pub(super) revision: i64,
}

impl From<Locale> for ManagedLocale {
    fn from(locale: Locale) -> Self {
        Self { revision: revision_of(&locale), locale }
    }
}

/// A message in one locale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalizationMessage {
    /// Namespace.
    pub(super) namespace: Namespace,
    /// Locale.
    pub(super) locale: LocaleCode,
    /// Key in the namespace.
    #[schema(example = "welcome")]
    pub(super) key: MessageKey,
    /// Default text, registered by a plugin; null if there is none.
    #[schema(example = "Welcome!")]
    pub(super) default: Option<String>,
    /// Override by the operator; null if there is none.
    #[schema(example = "Hello and welcome!")]
    pub(super) r#override: Option<String>,
    /// Text in the catalog: the override, or else the default.
    #[schema(example = "Hello and welcome!")]
    pub(super) effective: String,
    /// Changes with the texts, for `If-Match`.
    #[schema(example = 4_503_599_627_370_i64)]
    pub(super) revision: i64,
}
