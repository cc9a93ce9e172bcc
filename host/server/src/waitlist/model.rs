//! Addresses and entries.

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::clock::Millis;
use crate::ids::Ids;

/// How long a link works.
pub(super) const LINK_TTL: Millis = 48 * 60 * 60 * 1000;
const TOKEN_LENGTH: usize = 32;

/// Who is on the list.
#[derive(Debug, Serialize, sqlx::FromRow, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WaitlistEntry {
    #[schema(example = "alex@example.org")]
    email: String,
    /// Where they heard of it.
    source: Option<String>,
    #[schema(example = 1804680000000_i64)]
    joined_at: Millis,
    /// When they opened the link; null: not yet.
    confirmed_at: Option<Millis>,
}

/// The secret in a link, and the hash that is stored of it.
pub(super) struct LinkToken {
    pub(super) text: String,
    pub(super) sha256: Vec<u8>,
}

impl LinkToken {
    pub(super) fn generate(ids: &Ids) -> Self {
        let text = ids.token(TOKEN_LENGTH);
        Self { sha256: hash_token(&text), text }
    }
}

pub(super) fn hash_token(token: &str) -> Vec<u8> {
    Sha256::digest(token.as_bytes()).to_vec()
}
