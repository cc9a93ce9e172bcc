//! Common parts of all validated texts.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};

/// Reads a text through its check while its position is known, so that the error names the field or the path's
/// parameter.
pub fn deserialize_text<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    deserializer.deserialize_str(TextVisitor(PhantomData))
}

struct TextVisitor<T>(PhantomData<T>);

impl<T: FromStr<Err: Display>> Visitor<'_> for TextVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

/// Declares a text that is valid by construction: read from JSON, paths and queries through its check, written
/// unchanged.
///
/// `check` returns the error of a text, to be read after its name; `schema` completes its schema in the document.
#[macro_export]
macro_rules! text_type {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident;
        check: $check:expr;
        schema: $schema:expr;
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, sqlx::Type)]
        #[sqlx(transparent)]
        $visibility struct $name(String);

        #[allow(dead_code, reason = "not every text needs all of them")]
        impl $name {
            /// The text as sent.
            $visibility fn as_str(&self) -> &str {
                &self.0
            }

            /// The text, owned.
            $visibility fn into_string(self) -> String {
                self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                let check: fn(&str) -> Result<(), &'static str> = $check;
                check(&text)?;
                Ok(Self(text))
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                text.to_owned().try_into()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::text_type::deserialize_text(deserializer)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl utoipa::PartialSchema for $name {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                use utoipa::openapi::schema::{ObjectBuilder, Type};
                let complete: fn(ObjectBuilder) -> ObjectBuilder = $schema;
                complete(ObjectBuilder::new().schema_type(Type::String)).into()
            }
        }
        impl utoipa::ToSchema for $name {}
    };
}
pub use text_type;
