//! Reading JSON.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads a value; an error includes the path of the invalid part.
pub(crate) fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner();
        if path == "." { reason.to_string() } else { format!("`{path}`: {reason}") }
    })
}
