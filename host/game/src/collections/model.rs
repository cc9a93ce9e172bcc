//! Definitions, and names of collections, documents and fields.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::text_type::text_type;
use crate::values::is_label;

text_type! {
    /// Name of a collection: 1 to 64 of `A-Za-z0-9_.:-`.
    pub(super) struct CollectionName;
    check: |text| is_label(text).then_some(()).ok_or("must be 1 to 64 letters, digits, `_`, `.`, `:` or `-`");
    schema: |text| text.min_length(Some(1)).max_length(Some(64)).examples(["guilds"]);
}

text_type! {
    /// Id of a document in its collection: 1 to 128 characters, not blank, no control characters.
    pub(super) struct DocumentId;
    check: check_name;
    schema: |text| text.min_length(Some(1)).max_length(Some(128)).examples(["red-dragons"]);
}

text_type! {
    /// Field of a document: its name, or names separated by dots for nested objects. At most 128 characters.
    pub(super) struct FieldPath;
    check: |text| match check_name(text) {
        Ok(()) if text.split('.').any(str::is_empty) => Err("must be names with single dots between"),
        checked => checked,
    };
    schema: |text| text.min_length(Some(1)).max_length(Some(128)).examples(["level"]);
}

fn check_name(text: &str) -> Result<(), &'static str> {
    match text {
        _ if text.trim().is_empty() => Err("must not be blank"),
        _ if text.chars().count() > 128 => Err("must be at most 128 characters"),
        _ if text.chars().any(char::is_control) => Err("must not contain control characters"),
        _ => Ok(()),
    }
}

/// Type of an index, which contains the documents whose field has this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display, ToSchema)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(super) enum IndexType {
    /// Texts of at most 1,024 bytes, ordered by bytes.
    String,
    /// Numbers, ordered by their values as 64-bit floating point.
    Number,
    /// `false` before `true`.
    Bool,
}

/// Field for finding documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CollectionIndex)]
pub(super) struct IndexDefinition {
    /// Field name; names separated by dots for nested objects, for example `owner.name`.
    pub(super) field: FieldPath,
    /// Type of the index.
    #[schema(example = "number")]
    pub(super) r#type: IndexType,
}

/// Definition of a collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CollectionDefinition {
    /// Name of the collection.
    pub(super) name: CollectionName,
    /// Field that must contain the document's id, if the document has it.
    pub(super) key: Option<FieldPath>,
    /// Fields for finding documents.
    pub(super) indexes: Vec<IndexDefinition>,
}

impl CollectionDefinition {
    /// Index of a field.
    pub(super) fn index(&self, field: &FieldPath) -> Option<&IndexDefinition> {
        self.indexes.iter().find(|index| index.field == *field)
    }
}

/// Order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    /// Lowest first.
    Asc,
    /// Highest first.
    Desc,
}
