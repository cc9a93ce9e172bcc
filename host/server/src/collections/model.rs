//! Definitions, and the names of collections, documents and fields.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::text_type::text_type;
use crate::values::is_label;

text_type! {
    /// A collection's name: 1 to 64 of `A-Za-z0-9_.:-`.
    pub(super) struct CollectionName;
    check: |text| is_label(text).then_some(()).ok_or("must be 1 to 64 letters, digits, `_`, `.`, `:` or `-`");
    schema: |text| text.min_length(Some(1)).max_length(Some(64)).examples(["guilds"]);
}

text_type! {
    /// A document's id in its collection: 1 to 128 characters, not blank, no control characters.
    pub(super) struct DocumentId;
    check: check_name;
    schema: |text| text.min_length(Some(1)).max_length(Some(128)).examples(["red-dragons"]);
}

text_type! {
    /// A field of a document: its name, or names with dots between for one in nested objects. At most 128 characters.
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

/// What an index holds: the documents whose field is of this type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display, ToSchema)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(super) enum IndexType {
    /// Texts of at most 1,024 bytes, in the order of their bytes.
    String,
    /// Numbers, in the order of their values as 64-bit floating point.
    Number,
    /// `false` before `true`.
    Bool,
}

/// A field by which documents are found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CollectionIndex)]
pub(super) struct IndexDefinition {
    /// Names with dots between for a field in nested objects, such as `owner.name`.
    pub(super) field: FieldPath,
    /// What the index holds.
    #[schema(example = "number")]
    pub(super) r#type: IndexType,
}

/// What a collection is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CollectionDefinition {
    /// What it is called.
    pub(super) name: CollectionName,
    /// The field of a document that, where it is there, must hold the document's id.
    pub(super) key: Option<FieldPath>,
    /// The fields by which documents are found.
    pub(super) indexes: Vec<IndexDefinition>,
}

impl CollectionDefinition {
    /// The index of a field.
    pub(super) fn index(&self, field: &FieldPath) -> Option<&IndexDefinition> {
        self.indexes.iter().find(|index| index.field == *field)
    }
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Order {
    /// The least first.
    Asc,
    /// The greatest first.
    Desc,
}
