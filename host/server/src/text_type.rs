//! What every checked text has in common.

/// Declares a text that is valid by construction: read from JSON, paths and queries through its check, written as it is.
///
/// `check` answers what is wrong with a text, to be read after its name; `schema` completes its schema in the document.
macro_rules! text_type {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident;
        check: $check:expr;
        schema: $schema:expr;
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize, sqlx::Type)]
        #[serde(try_from = "String")]
        #[sqlx(transparent)]
        $visibility struct $name(String);

        #[allow(dead_code, reason = "not every text needs all of them")]
        impl $name {
            /// The text as it was sent.
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
pub(crate) use text_type;
