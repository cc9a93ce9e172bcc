//! Definitions, and what documents and fields are called.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// What a network calls a collection: 1 to 64 of `A-Za-z0-9_.:-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct CollectionName(String);

/// What a document is called in its collection: 1 to 128 characters, not blank, no control characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct DocumentId(String);

/// A field of a document: its name, or names with dots between for one that lies in nested objects. At most 128
/// characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct FieldPath(String);

fn named(text: &str, most: usize) -> Result<(), String> {
    if text.trim().is_empty() {
        return Err("must not be blank".to_owned());
    }
    if text.chars().count() > most {
        return Err(format!("must be at most {most} characters"));
    }
    if text.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(())
}

impl TryFrom<String> for CollectionName {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let sound = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        if (1..=64).contains(&text.len()) && text.bytes().all(sound) {
            return Ok(Self(text));
        }
        Err("must be 1 to 64 letters, digits, `_`, `.`, `:` or `-`".to_owned())
    }
}

impl TryFrom<String> for DocumentId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        named(&text, 128).map(|()| Self(text))
    }
}

impl TryFrom<String> for FieldPath {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        named(&text, 128)?;
        if text.split('.').any(str::is_empty) {
            return Err("must be names with single dots between".to_owned());
        }
        Ok(Self(text))
    }
}

macro_rules! texts {
    ($($name:ident: $most:literal, $example:literal;)+) => {$(
        impl $name {
            /// As it was sent.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
            }
        }

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let text = ObjectBuilder::new().schema_type(Type::String);
                text.min_length(Some(1)).max_length(Some($most)).examples([$example]).into()
            }
        }
        impl ToSchema for $name {}
    )+};
}
texts! {
    CollectionName: 64, "guilds";
    DocumentId: 128, "red-dragons";
    FieldPath: 128, "level";
}

/// What an index holds: the documents whose field is of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum IndexType {
    /// Texts of at most 1,024 bytes, in the order of their bytes.
    String,
    /// Numbers, in the order of their values as 64-bit floating point.
    Number,
    /// `false` before `true`.
    Bool,
}

impl fmt::Display for IndexType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Bool => "bool",
        })
    }
}

/// A field by which documents are found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CollectionIndex)]
pub struct IndexDefinition {
    /// Names with dots between for a field in nested objects, such as `owner.name`.
    pub field: FieldPath,
    /// What the index holds.
    #[schema(example = "number")]
    pub r#type: IndexType,
}

/// What a collection is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = CollectionDefinition)]
pub struct Definition {
    /// What it is called.
    pub name: CollectionName,
    /// The field of a document that, where it is there, must hold the document's id.
    #[schema(example = "id")]
    pub key: Option<FieldPath>,
    /// The fields by which documents are found.
    pub indexes: Vec<IndexDefinition>,
}

impl Definition {
    /// The index of a field.
    pub fn index(&self, field: &FieldPath) -> Option<&IndexDefinition> {
        self.indexes.iter().find(|index| index.field == *field)
    }
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The least first.
    Asc,
    /// The greatest first.
    Desc,
}
