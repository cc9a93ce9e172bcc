//! Values shared by many components, valid by construction.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};
use uuid::Uuid;

use crate::text_type::{deserialize_text, text_type};

/// A network (tenant). Every query carries one; it comes only from the caller's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, sqlx::Type, ToSchema)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct NetworkId(pub Uuid);

/// The operator's keys belong to this network, which has nothing else.
pub const OPERATOR_NETWORK: NetworkId = NetworkId(Uuid::nil());

/// Number of shards of the networks. Fixed forever, and the same at every node.
pub const SHARDS: u16 = 256;

impl NetworkId {
    /// Shard of this network.
    pub fn shard(self) -> u16 {
        // The last bytes of ids are random.
        (self.0.as_u128() % u128::from(SHARDS)) as u16
    }
}

impl fmt::Display for NetworkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Bytes in hexadecimal: two digits each, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A player's UUID: read hyphenated or as 32 hex digits, case-insensitive, written in lower case with hyphens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct PlayerId(pub Uuid);

impl fmt::Display for PlayerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::str::FromStr for PlayerId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // `Uuid` also reads URNs and braces, which the interface excludes.
        if matches!(text.len(), 32 | 36)
            && let Ok(uuid) = Uuid::try_parse(text)
        {
            return Ok(Self(uuid));
        }
        Err("must be a UUID, hyphenated or as 32 hex digits".to_owned())
    }
}

impl<'de> Deserialize<'de> for PlayerId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer)
    }
}

impl PartialSchema for PlayerId {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
            .examples(["069a79f4-44e9-4726-a5be-fca90e38aaf5"])
            .into()
    }
}
impl ToSchema for PlayerId {}

text_type! {
    /// A network's name for an object (a server, a type, a world): 1 to 255 characters, not blank, no control
    /// characters.
    pub struct Identifier;
    check: |text| match text {
        _ if text.trim().is_empty() => Err("must not be blank"),
        _ if text.chars().count() > 255 => Err("must be at most 255 characters"),
        _ if text.chars().any(char::is_control) => Err("must not contain control characters"),
        _ if text.chars().any(is_invisible) => Err("must not contain invisible or bidirectional characters"),
        _ => Ok(()),
    };
    // Not blank, and no control characters.
    schema: |text| text.min_length(Some(1)).max_length(Some(255)).pattern(Some(
        r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$",
    ));
}

/// True for characters without a glyph and those that reorder others: two names with and without them look the same.
pub fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

impl std::borrow::Borrow<str> for Identifier {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

text_type! {
    /// A game mode or a data namespace: 1 to 64 of the characters A-Z, a-z, 0-9, `_`, `.`, `:` and `-`.
    pub struct Label;
    check: |text| is_label(text).then_some(()).ok_or("must be 1 to 64 of the characters A-Z, a-z, 0-9, _, ., : and -");
    schema: |text| text.pattern(Some("^[A-Za-z0-9_.:-]{1,64}$")).examples(["global"]);
}

/// True if a text is 1 to 64 of the characters A-Z, a-z, 0-9, `_`, `.`, `:` and `-`.
pub fn is_label(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-');
    (1..=64).contains(&text.len()) && text.bytes().all(fits)
}

impl Label {
    /// Default game mode.
    pub fn global() -> Self {
        Self("global".to_owned())
    }
}

/// Free text of at most `MAX` characters, such as a reason or a display name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Default)]
#[serde(transparent)]
pub struct Text<const MAX: usize>(String);

impl<const MAX: usize> Text<MAX> {
    /// The text as sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, owned.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl<const MAX: usize> TryFrom<String> for Text<MAX> {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text.chars().count() > MAX {
            return Err(format!("must be at most {MAX} characters"));
        }
        Ok(Self(text))
    }
}

impl<'de, const MAX: usize> Deserialize<'de> for Text<MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

impl<const MAX: usize> PartialSchema for Text<MAX> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).max_length(Some(MAX)).into()
    }
}
impl<const MAX: usize> ToSchema for Text<MAX> {
    fn name() -> std::borrow::Cow<'static, str> {
        format!("Text{MAX}").into()
    }
}

/// An optional text filter of a query: blank means absent.
pub fn not_blank(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.trim().is_empty())
}

/// Pattern for `LIKE … ESCAPE '\'` that finds a text anywhere in another.
pub fn like_pattern(part: &str) -> String {
    let mut pattern = String::from("%");
    for character in part.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern + "%"
}

/// Reads an optional text; blank means none.
pub fn blank_as_absent<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<String, Error = String>,
{
    let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.trim().is_empty());
    text.map(T::try_from).transpose().map_err(de::Error::custom)
}

/// Reads a field that may be null; with `default`, an absent one is none.
pub fn present<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::like_pattern;

    #[test]
    fn like_patterns_match_only_their_text() {
        assert_eq!(like_pattern(r"50%_\ö"), r"%50\%\_\\ö%");
    }
}
