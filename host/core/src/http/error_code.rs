//! Error codes in the API document.

use serde_json::json;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Code of an error, for programs. It never changes its meaning.
#[derive(Clone, Copy, Debug)]
pub struct ErrorCode {
    pub code: &'static str,
    /// HTTP statuses that it comes with.
    pub statuses: &'static [u16],
    pub meaning: &'static str,
}

impl ErrorCode {
    pub const fn new(code: &'static str, statuses: &'static [u16], meaning: &'static str) -> Self {
        Self { code, statuses, meaning }
    }
}

/// A placeholder: [`schema`] has the values.
impl PartialSchema for ErrorCode {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).into()
    }
}
impl ToSchema for ErrorCode {}

/// Schema of an error's code, which is one of these.
pub fn schema(codes: &[&ErrorCode]) -> RefOr<Schema> {
    let lines: Vec<_> = codes.iter().map(|code| format!("- `{}`: {}", code.code, code.meaning)).collect();
    let meanings: Vec<_> = codes.iter().map(|code| code.meaning).collect();
    let extensions = ExtensionsBuilder::new().add("x-enum-descriptions", json!(meanings)).build();
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(format!(
            "Error code for programs. Codes never change their meaning; later versions may add codes.\n\n{}",
            lines.join("\n")
        )))
        .enum_values(Some(codes.iter().map(|code| code.code)))
        .extensions(Some(extensions))
        .into()
}
