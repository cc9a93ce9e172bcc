//! A config document and what it is known by.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::document::Document;
use crate::values::Identifier;

/// What a document is known by.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ConfigKey {
    /// Whom it is for, such as a type of server.
    #[schema(example = "lobby")]
    pub group: Identifier,
    /// What it is about, such as a plugin.
    #[schema(example = "scoreboard")]
    pub namespace: Identifier,
}

/// A document as it is stored.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ConfigDocument {
    /// What it is known by.
    #[serde(flatten)]
    pub key: ConfigKey,
    /// As it was sent.
    #[schema(value_type = serde_json::Value, example = json!({"title": "Welcome", "lines": 3}))]
    pub doc: Document,
}
