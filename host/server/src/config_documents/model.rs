//! A config document and its key.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::document::Document;
use crate::values::Identifier;

/// What a document is known by.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ConfigKey {
    /// Whom it is for, such as a type of server.
    #[schema(example = "lobby")]
    pub(super) group: Identifier,
    /// What it is about, such as a plugin.
    #[schema(example = "scoreboard")]
    pub(super) namespace: Identifier,
}

/// A document as it is stored.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ConfigDocument {
    /// What it is known by.
    #[serde(flatten)]
    pub(super) key: ConfigKey,
    /// As it was sent.
    #[schema(value_type = serde_json::Value, example = json!({"title": "Welcome", "lines": 3}))]
    pub(super) doc: Document,
}
