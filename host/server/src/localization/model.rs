//! Locales, messages, languages.

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::values::{Identifier, Text};

/// The locale that is the default until another is chosen.
pub(super) const FIRST_DEFAULT: &str = "en";

/// What a locale is called, such as `en_us` or `de`: 1 to 16 of `A-Za-z0-9_-`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct LocaleCode(String);

impl LocaleCode {
    /// As it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The owned text.
    pub fn into_string(self) -> String {
        self.0
    }

    /// What it is compared by: in lower case, with `_`.
    pub fn key(&self) -> String {
        self.0.to_ascii_lowercase().replace('-', "_")
    }
}

impl TryFrom<String> for LocaleCode {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let sound = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if (1..=16).contains(&text.len()) && text.bytes().all(sound) {
            return Ok(Self(text));
        }
        Err("must be 1 to 16 letters, digits, `_` or `-`, such as `en_us`".to_owned())
    }
}

/// Whose messages these are, such as a plugin's: 1 to 64 of `A-Za-z0-9_.:-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct Namespace(String);

impl Namespace {
    /// As it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Namespace {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        if (1..=64).contains(&text.len()) && text.bytes().all(sound) {
            return Ok(Self(text));
        }
        Err("must be 1 to 64 letters, digits, `_`, `.`, `:` or `-`".to_owned())
    }
}

macro_rules! on_the_wire {
    ($($name:ident: $pattern:literal, $example:literal;)+) => {$(
        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::String).pattern(Some($pattern)).examples([$example]).into()
            }
        }
        impl ToSchema for $name {}
    )+};
}
on_the_wire! {
    LocaleCode: "^[A-Za-z0-9_-]{1,16}$", "en_us";
    Namespace: "^[A-Za-z0-9_.:-]{1,64}$", "lobby";
}

/// What a message says.
pub(super) type MessageText = Text<16_384>;
/// What a message is called inside its namespace.
pub(super) type MessageKey = Identifier;

/// A language the catalog speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Locale {
    /// As it was first sent.
    pub locale: LocaleCode,
    /// A name for people; the locale itself until one is given.
    #[schema(example = "English")]
    pub display_name: String,
    /// Exactly one is.
    pub is_default: bool,
    /// Whether players are to be offered it.
    #[schema(example = true)]
    pub enabled: bool,
}

/// A message in one locale.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LocalizationMessage)]
pub struct Message {
    /// Whose it is.
    pub namespace: Namespace,
    /// In this language.
    pub locale: LocaleCode,
    /// What it is called inside its namespace.
    #[schema(example = "welcome")]
    pub key: MessageKey,
    /// What a plugin registered; null where none did.
    #[schema(example = "Welcome!")]
    pub default: Option<String>,
    /// What the operator made of it; null where nothing.
    #[schema(example = "Hello and welcome!")]
    pub r#override: Option<String>,
    /// What the catalog says: the override, or else the default.
    #[schema(example = "Hello and welcome!")]
    pub effective: String,
}

/// How a player's language is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Source {
    /// The player chose it: never ask again.
    Player,
    /// It was detected and may be detected again.
    Auto,
}

impl Source {
    /// The literal on the wire and in the database.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Player => "PLAYER",
            Self::Auto => "AUTO",
        }
    }
}

impl TryFrom<String> for Source {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        [Self::Player, Self::Auto]
            .into_iter()
            .find(|source| source.as_str().eq_ignore_ascii_case(&text))
            .ok_or("must be PLAYER or AUTO")
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

/// A player's language, and how it is known; none while it was never set.
pub type Language = Option<(LocaleCode, Source)>;
