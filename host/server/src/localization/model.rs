//! Locales and messages.

use serde::Serialize;
use utoipa::ToSchema;

use crate::text_type::text_type;
use crate::values::{Identifier, Text, is_label};

/// The default locale until the operator chooses another.
pub(super) const INITIAL_LOCALE: &str = "en";

text_type! {
    /// A locale, such as `en_us` or `de`: 1 to 16 of `A-Za-z0-9_-`.
    pub(crate) struct LocaleCode;
    check: |text| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_code = (1..=16).contains(&text.len()) && text.bytes().all(fits);
        is_code.then_some(()).ok_or("must be 1 to 16 letters, digits, `_` or `-`, such as `en_us`")
    };
    schema: |text| text.pattern(Some("^[A-Za-z0-9_-]{1,16}$")).examples(["en_us"]);
}

impl LocaleCode {
    /// What it is compared by: in lower case, with `_`.
    pub(super) fn key(&self) -> String {
        self.as_str().to_ascii_lowercase().replace('-', "_")
    }
}

text_type! {
    /// The owner of messages, such as a plugin: 1 to 64 of `A-Za-z0-9_.:-`.
    pub(super) struct Namespace;
    check: |text| is_label(text).then_some(()).ok_or("must be 1 to 64 letters, digits, `_`, `.`, `:` or `-`");
    schema: |text| text.pattern(Some("^[A-Za-z0-9_.:-]{1,64}$")).examples(["lobby"]);
}

/// What a message says.
pub(super) type MessageText = Text<16_384>;
/// A message's key inside its namespace.
pub(super) type MessageKey = Identifier;

/// A language the catalog speaks.
#[allow(clippy::struct_field_names, reason = "the wire's name")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Locale {
    /// As it was first sent.
    pub(super) locale: LocaleCode,
    /// A name for people; the locale itself until one is given.
    #[schema(example = "English")]
    pub(super) display_name: String,
    /// Exactly one is.
    pub(super) is_default: bool,
    /// Whether players are to be offered it.
    #[schema(example = true)]
    pub(super) enabled: bool,
}

/// A message in one locale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct LocalizationMessage {
    /// Whose it is.
    pub(super) namespace: Namespace,
    /// In this language.
    pub(super) locale: LocaleCode,
    /// What it is called inside its namespace.
    #[schema(example = "welcome")]
    pub(super) key: MessageKey,
    /// What a plugin registered; null where none did.
    #[schema(example = "Welcome!")]
    pub(super) default: Option<String>,
    /// What the operator made of it; null where nothing.
    #[schema(example = "Hello and welcome!")]
    pub(super) r#override: Option<String>,
    /// What the catalog says: the override, or else the default.
    #[schema(example = "Hello and welcome!")]
    pub(super) effective: String,
}
