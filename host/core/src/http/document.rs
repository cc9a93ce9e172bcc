//! JSON values stored as sent, such as config documents.

use std::fmt;

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::compute::{LARGE_JSON, compute_if};
use crate::http::error::ApiError;
use crate::http::extract::{read_body, reject_nul};

/// Maximum size of a document, in bytes of JSON without whitespace between tokens.
const DOCUMENT_LIMIT: usize = 256 * 1024;
/// Maximum nesting depth, supported by any JSON parser.
const MAX_DEPTH: usize = 100;

/// Any JSON value, byte for byte, so that numbers keep every digit and objects their order; only whitespace between
/// tokens is removed. Half of a surrogate pair is refused: it is in no text, and most readers of JSON refuse it.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Document(Box<RawValue>);

impl Document {
    /// The value `null`.
    pub fn null() -> Self {
        Self(RawValue::NULL.to_owned())
    }

    /// JSON text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Refuses a document larger than [`DOCUMENT_LIMIT`].
    pub fn bounded(self) -> Result<Self, ApiError> {
        self.bounded_by("document", DOCUMENT_LIMIT)
    }

    /// Refuses a value larger than `limit` bytes.
    pub fn bounded_by(self, what: &str, limit: usize) -> Result<Self, ApiError> {
        if self.as_str().len() <= limit {
            return Ok(self);
        }
        let message = format!("The {what} is larger than the {limit} bytes allowed.");
        Err(ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", message))
    }

    /// Refuses a number that most programs can't read.
    pub fn readable(self, what: &str) -> Result<Self, ApiError> {
        match serde_json::from_str::<Value>(self.as_str()) {
            Ok(_) => Ok(self),
            Err(_) => Err(ApiError::invalid(format!("{what}: its numbers must be between -1.797e308 and 1.797e308."))),
        }
    }

    /// The value, in which the order of fields and the form of numbers do not count; the text where a number has more
    /// digits than a value keeps.
    pub fn to_value(&self) -> Value {
        let text = || Value::String(self.as_str().to_owned());
        if has_long_number(self.as_str()) {
            return text();
        }
        serde_json::from_str(self.as_str()).unwrap_or_else(|_| text())
    }

    fn compact(raw: &RawValue) -> Result<Self, String> {
        let json = raw.get();
        if has_half_a_pair(json) {
            return Err("a text has half of a surrogate pair, such as `\\ud800`".to_owned());
        }
        let mut compact = Vec::with_capacity(json.len());
        let (mut quoted, mut escaped, mut depth) = (false, false, 0_usize);
        for byte in json.bytes() {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = !quoted,
                b'[' | b'{' if !quoted => depth += 1,
                b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
                b' ' | b'\t' | b'\n' | b'\r' if !quoted => continue,
                _ => {}
            }
            if depth > MAX_DEPTH {
                return Err(format!("arrays and objects must not be nested more than {MAX_DEPTH} levels deep"));
            }
            compact.push(byte);
        }
        // Only ASCII was removed, so this is still UTF-8.
        String::from_utf8(compact)
            .map_err(|error| error.to_string())?
            .try_into()
            .map_err(|error: InvalidJson| error.to_string())
    }
}

/// True if an escape of a text is half of a surrogate pair.
fn has_half_a_pair(json: &str) -> bool {
    let bytes = json.as_bytes();
    let unit = |at: usize| {
        let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while let Some(next) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| *byte == b'\\')) {
        at += next;
        at += match unit(at) {
            Some(0xD800..=0xDBFF) if matches!(unit(at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => return true,
            _ => 2,
        };
    }
    false
}

/// True if a number has more digits than a double keeps.
fn has_long_number(json: &str) -> bool {
    let (mut quoted, mut escaped, mut digits) = (false, false, 0_u32);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b'0'..=b'9' if !quoted => digits += 1,
            b'.' if !quoted => {}
            _ => digits = 0,
        }
        if digits > f64::DIGITS {
            return true;
        }
    }
    false
}

/// Error: a text is not JSON.
#[derive(Debug, thiserror::Error)]
#[error("not one JSON value: {0}")]
pub struct InvalidJson(#[from] serde_json::Error);

/// Parses a stored document.
impl TryFrom<String> for Document {
    type Error = InvalidJson;

    fn try_from(json: String) -> Result<Self, InvalidJson> {
        Ok(Self(RawValue::from_string(json)?))
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::compact(&raw).map_err(de::Error::custom)
    }
}

/// Reads the whole body as a document.
impl<S: Send + Sync> FromRequest<S> for Document {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &S) -> Result<Self, ApiError> {
        let bytes = read_body(request, DOCUMENT_LIMIT).await?;
        if bytes.is_empty() {
            return Err(ApiError::invalid("A JSON body is required."));
        }
        let compacted = compute_if(bytes.len() > LARGE_JSON, || {
            reject_nul(&bytes)?;
            let raw: &RawValue = serde_json::from_slice(&bytes)
                .map_err(|error| ApiError::invalid(format!("The body is not one JSON value: {error}.")))?;
            Self::compact(raw).map_err(|reason| ApiError::invalid(format!("In the body, {reason}.")))
        });
        compacted.await
    }
}

impl PartialSchema for Document {
    fn schema() -> RefOr<Schema> {
        serde_json::Value::schema()
    }
}
impl ToSchema for Document {}

#[cfg(test)]
mod tests {
    use super::*;

    fn compact(json: &str) -> Result<String, String> {
        let document: Document = serde_json::from_str(json).map_err(|error| error.to_string())?;
        Ok(document.to_string())
    }

    #[test]
    fn only_whitespace_between_parts_is_dropped() {
        let sent = " { \"b\" : [ 1.00 , 12345678901234567890.1e5 , \" a \\\" \\\\ \" , null ] ,\n\"a\":\ttrue } ";
        assert_eq!(compact(sent).unwrap(), r#"{"b":[1.00,12345678901234567890.1e5," a \" \\ ",null],"a":true}"#);
        assert_eq!(compact(" null ").unwrap(), "null");
    }

    #[test]
    fn half_of_a_surrogate_pair_is_refused() {
        for whole in [r#""\ud83d\ude00""#, r#""\\ud800""#, r#""\u00e9\n""#, r#"["\uD83D\uDE00x", "\\"]"#] {
            assert!(compact(whole).is_ok(), "{whole}");
        }
        for half in [r#""\ud800""#, r#"{"a": "\udfff"}"#, r#""\ud83d\ud83d""#, r#""\ud83dx""#, r#"{"\ud800": 1}"#] {
            assert!(compact(half).unwrap_err().contains("half of a surrogate pair"), "{half}");
        }
    }

    #[test]
    fn values_are_compared_without_the_loss_of_a_digit() {
        let value = |json: &str| serde_json::from_str::<Document>(json).unwrap().to_value();
        assert_eq!(value(r#"{"a": 1, "b": 2.5}"#), value(r#"{"b":2.50,"a":1}"#));
        assert_ne!(value("12345678901234567890123"), value("12345678901234567890999"));
        assert_ne!(value("0.12345678901234567"), value("0.12345678901234568"));
    }

    #[test]
    fn too_deep_nesting_is_refused() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(compact(&nested(MAX_DEPTH)).is_ok());
        assert!(compact(&nested(MAX_DEPTH + 1)).unwrap_err().contains("deep"));
        assert!(compact(&nested(100_000)).is_err());
    }
}
