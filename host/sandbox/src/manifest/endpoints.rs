//! Endpoints in a manifest.

use super::Schema;
use serde::{Deserialize, Serialize};

/// A route that a module answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Its name in the module.
    pub name: String,
    /// Its method.
    pub method: Method,
    /// Its path: 1 to 8 segments, `{name}` for a parameter.
    pub path: String,
    /// True if it is open to callers without a key.
    #[serde(default)]
    pub public: bool,
    /// Headers that the module sees, in lower case.
    #[serde(default)]
    pub headers: Vec<String>,
    /// Requests a minute from one address, if it is public.
    #[serde(default)]
    pub rate_per_minute: Option<u32>,
    /// Signature that the hub checks.
    #[serde(default)]
    pub signature: Option<Signature>,
    /// Key of repeats.
    #[serde(default)]
    pub dedupe: Option<Dedupe>,
    /// Schema of the body.
    #[serde(default)]
    pub request: Option<Schema>,
    /// Schema of the answer's body.
    #[serde(default)]
    pub response: Option<Schema>,
}

/// Method of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reads.
    Get,
    /// Creates, or anything else.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
    /// Deletes.
    Delete,
}

impl Method {
    /// Its name in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Signature of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Signature {
    /// HMAC-SHA256 of the raw body, or of its digest.
    HmacSha256 {
        /// Name of the secret.
        secret: String,
        /// Header with the signature, in lower case.
        header: String,
        /// Its encoding.
        encoding: Encoding,
        /// Text before the signature, such as `sha256=`.
        #[serde(default)]
        prefix: String,
        /// The text that is signed.
        #[serde(default, skip_serializing_if = "is_default")]
        of: Signed,
    },
    /// Standard Webhooks.
    StandardWebhooks {
        /// Name of the secret.
        secret: String,
    },
    /// Ed25519, as Discord signs.
    Discord {
        /// Name of the secret, which holds the public key in hex.
        secret: String,
    },
}

impl Signature {
    /// Name of its secret.
    pub fn secret(&self) -> &str {
        match self {
            Self::HmacSha256 { secret, .. } | Self::StandardWebhooks { secret } | Self::Discord { secret } => secret,
        }
    }
}

/// Text under an HMAC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Signed {
    /// The raw body.
    #[default]
    Body,
    /// The SHA-256 of the raw body, in lower-case hex, as Tebex signs.
    BodySha256,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Encoding of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Encoding {
    /// Hexadecimal.
    Hex,
    /// Base64.
    Base64,
}

/// Place of the key by which a repeat is recognised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Dedupe {
    /// A header, in lower case.
    Header(String),
    /// A JSON pointer into the body.
    Json(String),
}
