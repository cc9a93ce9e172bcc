// Generated from the hub's OpenAPI document by connectors/generate.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A document as it is stored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConfigDocument {
    /// Whom it is for, such as a type of server.
    pub group: String,
    /// What it is about, such as a plugin.
    pub namespace: String,
    /// As it was sent.
    pub doc: Value,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigPublication {
    /// Any JSON value, null too, of at most 256 KiB.
    pub doc: Value,
    /// Whom it is for, such as a type of server.
    pub group: String,
    /// What it is about, such as a plugin.
    pub namespace: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigRegistration {
    /// Stored where nothing is yet: any JSON value, null too, of at most 256 KiB.
    pub default_doc: Value,
    /// Whom it is for, such as a type of server.
    pub group: String,
    /// What it is about, such as a plugin.
    pub namespace: String,
}
