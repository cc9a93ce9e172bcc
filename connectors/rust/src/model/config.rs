// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Document as stored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConfigDocument {
    /// Target group, for example a type of server.
    pub group: String,
    /// Subject, for example a plugin.
    pub namespace: String,
    /// Document as sent.
    pub doc: Value,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigPublication {
    /// Any JSON value including null, at most 256 KiB.
    pub doc: Value,
    /// Target group, for example a type of server.
    pub group: String,
    /// Subject, for example a plugin.
    pub namespace: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigRegistration {
    /// Stored if there is no document yet: any JSON value including null, at most 256 KiB.
    pub default_doc: Value,
    /// Target group, for example a type of server.
    pub group: String,
    /// Subject, for example a plugin.
    pub namespace: String,
}
