//! Config document and its key.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::document::Document;
use crate::values::Identifier;

/// Key of a document.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ConfigKey {
    /// Target group, for example a type of server.
    #[schema(example = "lobby")]
    pub(super) group: Identifier,
    /// Subject, for example a plugin.
    #[schema(example = "scoreboard")]
    pub(super) namespace: Identifier,
}

/// Document as stored.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ConfigDocument {
    /// Key of the document.
    #[serde(flatten)]
    pub(super) key: ConfigKey,
    /// Document as sent.
    #[schema(value_type = serde_json::Value, example = json!({"title": "Welcome", "lines": 3}))]
    pub(super) doc: Document,
}
